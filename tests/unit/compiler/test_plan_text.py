"""The text of typical plans against golden files, and what it may never hold.

``TOOLFLOW_GOLDEN=write`` writes the golden files anew; look at them before you keep them.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from plan_makers import call, plan

from toolflow.compiler import Plan, dump_plan, load_plan
from toolflow.model import Limits, Notice, Terms

GOLDEN = Path(__file__).parents[2] / "golden" / "plans"
ROOT = "file:/repo/"
SOON, SEARCH = Terms(timeout=120.0), Terms({"subprocess": 1}, 120.0)


def read(name: str, path: str) -> dict:
    return {"name": name, "tool": "read_file", "args": {"path": path}, "reads": [ROOT + path]}


def edit(name: str, path: str) -> dict:
    args = {"path": path, "old": "def login(\n    user)", "new": "x" * 100}
    return {"name": name, "tool": "edit_file", "args": args, "writes": [ROOT + path]}


def grep(name: str, pattern: str) -> dict:
    label = f"grep {pattern}"
    return {
        "name": name, "tool": "grep", "args": {"pattern": pattern, "path": "src"}, "label": label,
        "reads": [ROOT + "src/**"], "terms": SEARCH,
    }  # fmt: skip


def six() -> Plan:
    """A turn of everyday work."""
    return plan(
        call(**read("auth", "src/auth.py"), terms=SOON),
        call(**grep("uses", "login")),
        call(**edit("fix", "src/auth.py"), terms=SOON),
        call(
            "typo", "unknown_tool", tool="reed_file", args={"path": "README.md"},
            reason="There is no tool 'reed_file'. Did you mean 'read_file'?",
        ),
        call(
            "commit", "exclusive", tool="git", args={"command": "commit", "all": True},
            writes=["git:/repo"], terms=Terms(timeout=120.0, hold="turn"), rule=3, line=24,
            reason="rule 4 (line 24) does not say safe, and neither does the tool",
        ),
        call(
            "ship", "exclusive", tool="deploy_web", args={"service": "web"}, ask="Deploy web?",
            terms=Terms(timeout=600.0, on_error="stop", stop="after"), rule=5, line=31,
            reason="rule 6 (line 31) does not say safe, and neither does the tool",
        ),
        limits=Limits(10, {"subprocess": 2}),
        policy_digest="3fa9c1d2" * 8,
        notices=(Notice("stripped_name", "The blanks around ' grep' were left out.", call="uses"),),
    )  # fmt: skip


def sixty() -> Plan:
    """Many edits, then many searches, then many reads: gates at work."""
    return plan(
        *[call(**edit(f"toolu_{i:02}", f"src/m{i:02}.py"), terms=SOON) for i in range(20)],
        *[call(**grep(f"toolu_{i}", f"TODO-{i}")) for i in range(20, 40)],
        *[call(**read(f"toolu_{i}", f"src/m{i - 40:02}.py"), terms=SOON) for i in range(40, 60)],
        limits=Limits(10, {"subprocess": 2}),
    )


def hostile() -> Plan:
    """Names, keys and arguments that would like to draw on the terminal."""
    return plan(
        call(
            "\x1b[2J\x1b[31m", tool="t\u202eool", args={"a\nb": "c\r\x00d"}, reads=["k\x07\x9b1m"]
        ),
        call("日本語の名前", tool="ツール", args={"パス": "値", "list": [1, 2], "more": {"k": 1}}),
        call("x" * 200, label="y" * 200, writes=["file:/" + "z/" * 200 + "end.py"]),
        call("\ud83d", "denied", reason="No\u2028way\x1b]0;title\x07."),
        call("e", "exclusive", tool="\x1bc", reason="be\x08cause"),
        turn="turn\n1",
        notices=(Notice("odd", "no\x1btice"),),
    )


def empty() -> Plan:
    return plan()


def alone() -> Plan:
    return plan(call("a", tool="now"), limits=Limits(1), approvals="first")


PLANS = {each.__name__: each for each in (six, sixty, hostile, empty, alone)}


def golden(name: str, text: str) -> str:
    path = GOLDEN / name
    if os.environ.get("TOOLFLOW_GOLDEN") == "write":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PLANS)
def test_the_text_of_a_plan_is_the_golden_one(name: str) -> None:
    text = f"{PLANS[name]()}\n"
    assert text == golden(f"{name}.txt", text)


@pytest.mark.parametrize("name", ["six", "alone"])
def test_the_yaml_of_a_plan_is_the_golden_one(name: str) -> None:
    text = dump_plan(PLANS[name]())
    assert text == golden(f"{name}.yaml", text)


@pytest.mark.parametrize("name", PLANS)
def test_no_line_holds_anything_that_does_not_print(name: str) -> None:
    assert all(line.isprintable() for line in str(PLANS[name]()).split("\n"))


@pytest.mark.parametrize("name", PLANS)
def test_the_text_is_the_same_after_saving_and_loading(name: str) -> None:
    found = PLANS[name]()
    assert str(load_plan(dump_plan(found))) == str(found)


def test_lines_stay_short_whatever_the_arguments() -> None:
    found = plan(call("a", args={f"k{i}" * 50: "v" * 10_000 for i in range(100)}, tool="t" * 500))
    assert max(map(len, str(found).splitlines())) < 140


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.5, "500ms"),
        (1, "1s"),
        (90, "90s"),
        (120, "2m"),
        (3600, "1h"),
        (2.5, "2.5s"),
        (5400, "90m"),
    ],
)
def test_timeouts_are_shown_as_policies_write_them(seconds: float, shown: str) -> None:
    found = plan(call("a", terms=Terms(timeout=seconds)))
    assert f"{shown} a call" in str(found)


def test_a_timeout_of_few_calls_stands_with_them() -> None:
    text = str(plan(call("a"), call("b"), call("c", terms=Terms(timeout=60))))
    assert "at most 1m" in text.splitlines()[-2]


def test_the_text_in_the_reference_is_the_text_of_its_example() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "plan.md").read_text("utf-8")
    example = page.split("```python\n")[1].split("```")[0]
    shown = page.split("```text\n")[1].split("```")[0]
    names: dict = {}
    exec(example, names)
    assert f"{names['plan']}\n" == shown
