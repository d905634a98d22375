"""Whatever a line is, it is judged; and nothing that writes passes for reading."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shell_lines import READING, WRITING
from shell_soup import PIECES, Folder, sensible, soup, with_options

from toolflow.policy.shell import ShellEffects, shell_effects
from toolflow.policy.shell.grammar import line_of
from toolflow.policy.shell.lexer import NotFollowedError


def _whole(line: str) -> bool:
    """Whether a line can be put beside others: it is understood as far as its shape goes."""
    try:
        line_of(line)
    except NotFollowedError:
        return False
    return "#" not in line and not line.endswith(("\n", "&"))


reading = st.sampled_from([line for line, _ in READING if _whole(line)])
writing = st.sampled_from([line for line, _ in WRITING if _whole(line)])
joints = st.sampled_from([" && ", " || ", "; ", "\n", " | ", "|", "&&", " |& ", ";", " && ! "])


def _wrapped(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, joints, reading).map("".join),
        st.tuples(reading, joints, inner).map("".join),
        inner.map("({})".format),
        inner.map("{{ {}; }}".format),
        inner.map("{} 2>/dev/null".format),
        inner.map("! {}".format),
        inner.map("{} # a remark".format),
        inner.map("\n{}\n".format),
    )


def plausible(effects: ShellEffects) -> bool:
    return (
        isinstance(effects.reads_only, bool)
        and all(isinstance(path, str) for path in (*effects.reads, *effects.writes))
        and effects.reason.endswith(".")
        and effects.reason.isprintable()
        and (not effects.reads_only or not effects.writes)
    )


@given(st.recursive(writing, _wrapped, max_leaves=6))
def test_a_line_with_a_part_that_writes_never_only_reads(line: str) -> None:
    effects = shell_effects(line)
    assert effects.reads_only is False, line
    assert plausible(effects)


@given(st.lists(reading, min_size=1, max_size=4), st.sampled_from(["; ", "\n", " && ", " || "]))
def test_a_line_of_parts_that_read_only_reads(lines: list[str], joint: str) -> None:
    line = joint.join(lines)
    effects = shell_effects(line)
    assert effects.reads_only is True, (line, effects.reason)


@given(st.text(max_size=80) | st.text(alphabet="ls cat|&;<>()$`\"'\\{}#\n*?[]!=~-", max_size=60))
def test_any_text_is_judged(text: str) -> None:
    assert plausible(shell_effects(text))


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_any_pieces_of_lines_are_judged_the_same_each_time(text: str) -> None:
    effects = shell_effects(text)
    assert plausible(effects)
    assert effects == shell_effects(f" {text}"[1:])


@given(reading, st.text(max_size=8))
def test_what_follows_a_reading_line_in_quotes_is_data(line: str, text: str) -> None:
    quoted = text.replace("'", "")
    printable = all(sign.isprintable() or sign in "\t\n" for sign in quoted)
    assert shell_effects(f"{line}\necho '{quoted}'").reads_only is printable


@settings(max_examples=25)
@given(st.integers(min_value=0))
def test_random_lines_that_are_judged_reading_change_nothing_when_they_run(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    choice = random.Random(seed)
    folder = Folder(Path(tmp_path_factory.mktemp("soup")))
    for make, lines in ((soup, 15), (sensible, 15), (with_options, 5)):
        for _ in range(lines):
            line = make(choice)
            if shell_effects(line).reads_only:
                assert not folder.changed_by(line), line
