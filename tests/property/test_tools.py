"""What must hold for any value, any limit and any path."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolflow.model import Outcome
from toolflow.runtime.cut import share_out
from toolflow.runtime.results import ToolFailure, limit_outcomes, outcome_of
from toolflow.tools import workspace
from toolflow.tools.files import TEMPORARY
from toolflow.tools.globs import compile_glob

ANY_TEXT = st.text(st.characters(exclude_categories=()))  # lone surrogates too
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    ANY_TEXT,
    st.binary(),
    st.decimals(),
    st.dates(),
    st.timedeltas(),
    st.builds(object),
    st.builds(lambda: (n for n in range(3))),
    st.builds(ValueError, ANY_TEXT),
    st.builds(lambda: 10**5000),
    st.just(Path),
)
KEYS = st.one_of(ANY_TEXT, st.integers(), st.booleans(), st.none(), st.tuples(st.integers()))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(KEYS, inner, max_size=4),
        st.sets(st.one_of(st.integers(), ANY_TEXT, st.none()), max_size=4),
    ),
    max_leaves=20,
)


@given(VALUES)
def test_any_value_becomes_valid_json_in_utf8(value):
    outcome = outcome_of(value)
    text = json.dumps(outcome.value, allow_nan=False, ensure_ascii=False)
    assert json.loads(text.encode()) == outcome.value
    (outcome.note or "").encode()


@given(VALUES)
def test_an_outcome_made_twice_stays_what_it_was(value):
    outcome = outcome_of(value)
    again = outcome_of(outcome)
    assert again.value == outcome.value
    assert outcome_of(outcome.value) == Outcome("ok", outcome.value)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(JSON)
def test_json_comes_through_unchanged_and_without_a_note(value):
    assert outcome_of(value) == Outcome("ok", value)


OUTCOMES = st.builds(
    Outcome,
    st.sampled_from(["ok", "failed"]),
    st.one_of(st.none(), st.text(max_size=300), JSON),
    st.one_of(st.none(), st.text(max_size=100)),
)
LIMITS = st.one_of(st.none(), st.integers(0, 400))


@given(st.lists(OUTCOMES, max_size=6), LIMITS, LIMITS)
def test_limits_are_kept_and_what_fits_is_untouched(outcomes, per_call, per_turn):
    cut = limit_outcomes(outcomes, per_call=per_call, per_turn=per_turn)
    sizes = [len(outcome.text) for outcome in cut]
    assert len(cut) == len(outcomes)
    assert per_call is None or all(size <= per_call for size in sizes)
    assert per_turn is None or sum(sizes) <= per_turn
    for before, after in zip(outcomes, cut, strict=True):
        assert before.status == after.status
        assert after == before or "Cut to" in after.note
    assert cut == limit_outcomes(cut, per_call=per_call, per_turn=per_turn)
    total = sum(len(outcome.text) for outcome in outcomes)
    if (per_call is None or all(len(o.text) <= per_call for o in outcomes)) and (
        per_turn is None or total <= per_turn
    ):
        assert cut == tuple(outcomes)


@given(st.lists(st.integers(0, 100)), st.integers(0, 1000))
def test_shares_are_fair(wanted, total):
    shares = share_out(wanted, total)
    assert sum(shares) == min(total, sum(wanted))
    assert all(share <= want for share, want in zip(shares, wanted, strict=True))
    for share, want in zip(shares, wanted, strict=True):
        if share < want:  # who got less than asked for got as much as anybody, but for one
            assert share >= max(shares) - 1


@given(st.text("ab*?/[]{},.", max_size=30), st.text("ab/.", max_size=30))
def test_patterns_of_paths_never_raise_anything_else(pattern, path):
    try:
        matches = compile_glob(pattern)
    except ToolFailure:
        return
    assert matches(path) in (True, False)


# ---- confinement ----

PARTS = st.sampled_from(
    ["..", ".", "", "in", "a.txt", "out", "file", "up", "loop", "deep", "dangling", "new", "ü", "~"]
)
STARTS = st.sampled_from(["", "/", "ROOT/", "OUTSIDE/", "ROOT/../", "ROOT-twin/"])


@pytest.fixture(scope="module")
def base():
    folder = Path(tempfile.mkdtemp()).resolve()
    yield folder
    shutil.rmtree(folder)


def lay_out(base):
    """A root with every kind of link out of it, and what must not be touched beside it."""
    for entry in base.iterdir():
        shutil.rmtree(entry)
    root = base / "root"
    (root / "in" / "deep").mkdir(parents=True)
    (root / "in" / "a.txt").write_text("inner")
    (base / "outside" / "in").mkdir(parents=True)
    (base / "outside" / "a.txt").write_text("SECRET")
    (base / "root-twin").mkdir()
    (base / "root-twin" / "a.txt").write_text("SECRET")
    links = {
        "out": "../outside",
        "file": "../outside/a.txt",
        "up": "..",
        "loop": "loop",
        "dangling": "../outside/new",
        "in/out": "../../outside",
        "in/up": "../..",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    return root


def snapshot(base):
    return sorted(
        (str(path), path.read_text() if path.is_file() else None)
        for part in ("outside", "root-twin")
        for path in (base / part).rglob("*")
    )


@pytest.fixture(scope="module")
def views(base):
    tools = workspace(lay_out(base))
    return {False: tools, True: tools.restrict(root="in")}


@pytest.mark.skipif(os.name != "posix", reason="links need POSIX")
@settings(max_examples=150, deadline=None)
@given(
    start=STARTS,
    parts=st.lists(PARTS, max_size=6),
    tool=st.sampled_from(
        ["read_file", "write_file", "edit_file", "delete_file", "list_files", "glob", "grep"]
    ),
    planned=st.booleans(),
    narrowed=st.booleans(),
)
def test_no_path_reads_or_writes_outside_the_root(
    base, views, start, parts, tool, planned, narrowed
):
    root = lay_out(base)
    path = start.replace("ROOT", str(root)).replace("OUTSIDE", str(base / "outside"))
    path += "/".join(parts)
    tools = views[narrowed]
    if narrowed:
        (root / "a.txt").write_text("SECRET")
    before = snapshot(base)
    more = {
        "write_file": {"text": "x"},
        "edit_file": {"old": "SECRET", "new": "x"},
        "glob": {"pattern": "**"},
        "grep": {"pattern": "S.CRET"},
    }
    args = {"path": path, **more.get(tool, {})}
    found = tools.get(tool)
    if not planned:  # the body must keep to the root by itself, too
        found = replace(found, spec=replace(found.spec, parse=dict))
    try:
        outcome = outcome_of(found.call(found.spec.parse(args), None))
    except (ValueError, ToolFailure):
        outcome = Outcome("failed")
    assert "SECRET" not in outcome.text
    assert snapshot(base) == before
    if narrowed:
        assert (root / "a.txt").read_text() == "SECRET"
    assert not list(base.rglob(f"{TEMPORARY}*"))
