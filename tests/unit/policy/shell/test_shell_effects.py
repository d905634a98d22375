"""The value, its bounds, and what is not in the corpus."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import pytest

from toolflow.errors import UsageError
from toolflow.policy.shell import ShellEffects, _effects, lexer, require_grammar, shell_effects
from toolflow.policy.shell.grammar import MAX_LENGTH, MAX_OPERATORS, MAX_WORDS, line_of
from toolflow.policy.shell.lexer import NotFollowedError, Word
from toolflow.policy.shell.options import allowed, sort_words
from toolflow.policy.shell.readers import READERS


def test_the_value_is_frozen_and_shared_by_equal_lines() -> None:
    effects = shell_effects("ls src")
    assert effects is shell_effects("ls " + "src")
    assert effects == ShellEffects(True, ("src",))
    with pytest.raises(dataclasses.FrozenInstanceError):
        effects.reads_only = False  # type: ignore[misc]


def test_what_is_read_and_written_is_told_as_written() -> None:
    effects = shell_effects("cd a && cat ./x ../y > z && cp one /two")
    assert effects == ShellEffects(
        False,
        ("a/./x", "a/../y", "a/one"),
        ("a/z", "/two"),
        (),
        "The redirection '> z' writes 'z'.",
    )


def test_whatever_is_not_understood_may_read_and_write_everything() -> None:
    effects = shell_effects("cat x; make y")
    assert effects.reads == ("x", "/")
    assert effects.writes == ("/",)
    assert effects.unknown == ("The command 'make' is not known to only read.",)
    assert effects.reason == effects.unknown[0]


def test_every_fault_is_told_and_the_first_is_the_reason() -> None:
    effects = shell_effects("make; echo x > y; frob")
    assert effects.reason == "The command 'make' is not known to only read."
    assert effects.unknown == (effects.reason, "The command 'frob' is not known to only read.")
    assert effects.writes == ("/", "y")


def test_two_folders_that_are_possible_give_two_paths() -> None:
    assert shell_effects("cd a; cd b; cat x").reads == ("a/b/x", "a/x", "b/x", "x")
    many = "; ".join(f"cd f{number}" for number in range(9))
    assert shell_effects(f"{many}; cat x").reads == ("/",)


def test_a_failed_cd_leaves_the_folder() -> None:
    assert shell_effects("cd a || cat x; cat y").reads == ("x", "a/y", "y")
    assert shell_effects("! cd a && cat x").reads == ("x",)
    assert shell_effects("cd a && cat x || cat y").reads == ("a/x", "a/y", "y")
    assert shell_effects("cd a | cat x; cat y").reads == ("x", "y")
    assert shell_effects("(cd a; cat x); cat y").reads == ("a/x", "x", "y")


def test_many_paths_become_everything() -> None:
    effects = shell_effects("cat " + " ".join(f"f{number}" for number in range(1500)))
    assert effects.reads == ("/",)
    assert effects.reads_only is True


@pytest.mark.parametrize("value", [None, 1, True, b"ls", ["ls"], {"a": 1}])
def test_what_is_no_text_is_an_error(value: object) -> None:
    with pytest.raises(UsageError, match="The command is a value of type"):
        shell_effects(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "# nothing", "\t"])
def test_a_line_without_commands_reads_nothing(text: str) -> None:
    assert shell_effects(text) == ShellEffects(True)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("ls\0", "\\x00"),
        ("ls \ud800", "\\ud800"),
        ("ls \x1b[0m", "\\x1b"),
        ("ls\u2028rm x", "\\u2028"),
        ("ls \u202e", "\\u202e"),
        ("echo " + "x" * 1_000_000, "longer than"),
        ("a" * MAX_LENGTH + "b", "longer than"),
        ("ls;" * (MAX_OPERATORS + 1), "operators"),
        ("x " * (MAX_WORDS + 1), "words"),
        ("(" * 9_000, "(("),
        ("( " * 100 + "ls" + " )" * 100, "nested"),
        ("{ " * 60 + "ls; " + "}; " * 60, "nested"),
        ("! " * 3_000 + "ls", "words"),
        ("$(" * 4_000, "substitution"),
        ("`" * 9_999, "substitution"),
        ("'" * 9_999, "quote"),
        ("\\" * 9_999, "backslash"),
        ("<<x " * 2_000, "here-document"),
        ("a|" * 4_999, "operators"),
        ("ls" + " 2>/dev/null | cat" * 60, "nested"),
    ],
)
def test_garbage_and_bulk_are_not_reading(text: str, word: str) -> None:
    effects = shell_effects(text)
    assert effects.reads_only is False
    assert word in effects.reason
    assert len(effects.reason) < 300
    assert effects.reason.isprintable()


def test_what_is_refused_by_its_size_never_reaches_the_grammar(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from toolflow.policy.shell import grammar

    asked: list[str] = []
    monkeypatch.setattr(grammar, "tokens_of", lambda text: asked.append(text) or [])
    with pytest.raises(NotFollowedError, match="longer"):
        line_of("x" * (MAX_LENGTH + 1))
    assert asked == []


@pytest.mark.parametrize(
    "piece", ["a ", "a|b ", "'x' ", '"$y" ', "*x ", "a=b;", "\\a", "#\n", "~ "]
)
def test_the_scan_of_a_line_takes_steps_in_proportion_to_its_length(
    piece: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = 0
    plain = lexer._Scan._piece

    def counted(scan: lexer._Scan, sign: str) -> None:
        nonlocal steps
        steps += 1
        plain(scan, sign)

    monkeypatch.setattr(lexer._Scan, "_piece", counted)
    found = []
    for times in (100, 200, 400):
        steps = 0
        tokens = lexer.tokens_of(piece * times)
        found.append(steps + len(tokens))
    assert found[2] - found[1] <= 2 * (found[1] - found[0]) + 4


def test_the_grammar_is_asked_once_for_a_line() -> None:
    _effects.cache_clear()
    for _ in range(3):
        shell_effects("ls -l here")
    assert _effects.cache_info().misses == 1


def test_long_lines_are_remembered_cut() -> None:
    _effects.cache_clear()
    shell_effects("y" * 2_000_000)
    shell_effects("y" * 3_000_000)
    assert _effects.cache_info().currsize == 1


@pytest.fixture
def no_grammar(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    from toolflow.policy.shell import grammar

    def forget() -> None:
        grammar._parser.cache_clear()
        _effects.cache_clear()

    monkeypatch.setitem(__import__("sys").modules, "tree_sitter_bash", None)
    forget()
    yield
    monkeypatch.undo()
    forget()


@pytest.mark.usefixtures("no_grammar")
def test_without_the_grammar_every_use_says_what_to_install() -> None:
    for ask in (require_grammar, lambda: shell_effects("ls"), lambda: shell_effects("")):
        with pytest.raises(UsageError, match=r"pip install 'toolflow\[shell\]'"):
            ask()


# Words and options


def words(line: str) -> list[Word]:
    return [token.word for token in lexer.tokens_of(line) if token.word is not None]


@pytest.mark.parametrize(
    ("raw", "text", "option"),
    [
        ("a", "a", False),
        ("-", "-", False),
        ("-a", "-a", True),
        ("'-a'", "-a", True),
        (r"\-a", "-a", True),
        ('a"b c"d', "ab cd", False),
        (r'"\$x \" \\ \n"', '$x " \\ \\n', False),
        ("'a'\\''b'", "a'b", False),
        ("HEAD@{1}", "HEAD@{1}", False),
        ("{}", "{}", False),
        ("a~b", "a~b", False),
        ("a#b", "a#b", False),
        ("$", "$", False),
        ('"$"', "$", False),
        ("''", "", False),
        ("$x", None, True),
        ('"$x"', None, True),
        ("a$x", None, True),
        ('a"$x"', None, False),
        ('-"$x"', None, True),
        ("*.py", None, True),
        ("./*", None, False),
        ("-*", None, True),
        ("~/x", None, False),
        ("x=~/y", None, False),
        ("a{b,c}", None, True),
        ("$'a'", None, True),
        ('"$@"', None, True),
        ('a"$@"', None, True),
    ],
)
def test_words_are_what_bash_makes_of_them(raw: str, text: str | None, option: bool) -> None:
    (word,) = words(raw)
    assert (word.raw, word.text, word.option) == (raw, text, option)


def test_options_are_told_from_values_and_operands() -> None:
    options = allowed("-ab -n= -U? -f< -L~ --all --lines= --color? -#")
    given = sort_words(
        words("-ab -n5 -n 6 -U3 -U x -f p -L 2 --all --lines=7 --color=y -20 z"), options
    )
    assert given.odd is None
    assert [word.text for word in given.operands] == ["x", "z"]
    assert [(name, word.text) for name, word in given.values] == [
        ("-n", "5"), ("-n", "6"), ("-U", "3"), ("-f", "p"), ("-L", "2"), ("--lines", "7"),
        ("--color", "y"),
    ]  # fmt: skip
    assert [word.text for word in given.paths] == ["p"]


@pytest.mark.parametrize(
    ("line", "odd"),
    [
        ("-c", "-c"),
        ("-ac", "-ac"),
        ("-n", "-n"),
        ("-n -x", "-x"),
        ("-n $x", "$x"),
        ("-Lx", "-Lx"),
        ("--all=x", "--all=x"),
        ("--al", "--al"),
        ("x -- -x", "-x"),
        ("-- --", "--"),
        ("$x", "$x"),
        ('"$x"', '"$x"'),
        ("*", "*"),
        ("-n{1,2}", "-n{1,2}"),
    ],
)
def test_what_is_not_listed_is_odd(line: str, odd: str) -> None:
    options = allowed("-ab -n= -L~ --all")
    assert sort_words(words(line), options).odd == words(odd)[0]


def test_letters_that_stand_alone_are_not_put_together() -> None:
    assert sort_words(words("-ab"), allowed("^ -ab")).odd is not None
    assert sort_words(words("-a -b"), allowed("^ -ab")).odd is None


def test_no_reader_allows_an_option_that_is_known_to_write() -> None:
    writing = {
        "sort": ["-o", "--output", "-T", "--compress-program"],
        "tree": ["-o", "-R"],
        "file": ["-C", "-m"],
        "date": ["-s"],
        "rg": ["--pre", "-z", "--hostname-bin"],
        "fd": ["-x", "-X"],
        "xxd": ["-r"],
        "diff": ["-l", "--output"],
        "hostname": ["-F", "-b"],
    }
    for name, options in writing.items():
        kinds = allowed(READERS[name].options).kinds if name in READERS else {}
        assert not set(options) & set(kinds), name
