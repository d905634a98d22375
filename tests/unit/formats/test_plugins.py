"""Formats of other packages, from packages that are really installed: a dist-info on the path."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from toolflow.errors import TurnError, UsageError
from toolflow.formats import FORMATS, detect, examine, plugins, read_turn, repair, write_turn
from toolflow.formats.session import read_session
from toolflow.model import Outcome

LINES = """
from toolflow.formats.session.base import SessionFormat
from toolflow.formats.session.pairing import Conversation
from toolflow.model import Call, Outcome, Turn


def recognise(head):
    return any(isinstance(line, dict) and "acme" in line for line in head)


def read(log, reading):
    conversation = Conversation(reading)
    for number, line in reading.objects(log):
        if "call" in line:
            turn = Turn("", (Call(0, line["call"], line["acme"]),))
            conversation.message(turn, line=number)
        else:
            conversation.result(line["for"], Outcome("ok", line["acme"]), line=number)
        yield from conversation.finished()
    yield from conversation.rest()


FORMAT = SessionFormat("acme-log", "lines with acme", recognise, read)
"""
MESSAGES = """
import re

from toolflow.formats.base import Flaw, Format, IdRule, Misfit
from toolflow.model import Call, Turn


def read(data):
    if not isinstance(data["ask"], str):
        raise Misfit([Flaw(("ask",), "ask is no text. Use text.")])
    return [Turn("", (Call(0, "1", data["ask"]),), "acme", data)]


def write(turn, outcomes, ids, texts):
    return [turn.message], [{"told": outcome.text} for outcome in outcomes]


FORMAT = Format(
    "acme",
    "an object with ask",
    lambda data: isinstance(data, dict) and "ask" in data,
    read,
    write,
    IdRule(re.compile(".+"), re.compile("$^")),
)
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Installs a package of one module with one entry point, as an installer would."""
    monkeypatch.syspath_prepend(str(tmp_path))
    installed = []

    def install(package: str, name: str, code: str) -> Path:
        module = package.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(code, encoding="utf-8")
        sys.modules.pop(module, None)
        installed.append(module)
        info = tmp_path / f"{module}-1.5.dist-info"
        info.mkdir()
        metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.5\n"
        (info / "METADATA").write_text(metadata, encoding="utf-8")
        entry = f"[{plugins.GROUP}]\n{name} = {module}:FORMAT\n"
        (info / "entry_points.txt").write_text(entry, encoding="utf-8")
        plugins._found_on.cache_clear()
        plugins._loaded.cache_clear()
        return tmp_path

    yield install
    for module in installed:
        sys.modules.pop(module, None)
    plugins._found_on.cache_clear()
    plugins._loaded.cache_clear()


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "acme.jsonl"
    lines = [{"acme": "open", "call": "1"}, {"acme": "done", "for": "1"}]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return path


@pytest.mark.parametrize("form", [None, "acme-log"])
def test_a_log_format_of_another_package_is_found_by_name_and_detected(install, log, form):
    install("acme-logs", "acme-log", LINES)

    recording = read_session(log, format=form)

    assert recording.source["format"] == "acme-log"
    assert [turn.turn.calls[0].tool for turn in recording.turns] == ["open"]
    assert recording.turns[0].outcomes == (Outcome("ok", "done"),)


@pytest.mark.parametrize("form", [None, "acme"])
def test_a_wire_format_of_another_package_reads_and_writes(install, form):
    install("acme-wire", "acme", MESSAGES)

    turn = read_turn({"ask": "open"}, format=form)

    assert detect({"ask": "open"}) == "acme"
    assert turn.format == "acme"
    assert write_turn(turn, [Outcome("ok", "done")]) == ([{"ask": "open"}], [{"told": "done"}])
    with pytest.raises(TurnError, match=r"ask is no text\. Use text\."):
        read_turn({"ask": 5}, format=form)


def test_the_names_of_other_packages_are_told_without_loading_them(install):
    folder = install("acme-wire", "acme", "raise SystemExit(3)")

    assert plugins.names() == ("acme",)
    with pytest.raises(UsageError, match="Use one of acme, anthropic"):
        read_turn({}, format="other")
    assert "acme_wire" not in sys.modules
    assert folder.exists()


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("import nothing_of_that_name", "cannot be loaded: ModuleNotFoundError: No module named"),
        ("raise SystemExit(3)", "cannot be loaded: SystemExit: 3"),
        ("raise ValueError('two\\nlines')", "cannot be loaded: ValueError: two lines."),
        ("X = 1", "cannot be loaded: AttributeError"),
        ("FORMAT = 5", "is a value of type int. Use a Format or a SessionFormat."),
        (LINES.replace('"acme-log"', '"other"'), "calls itself 'other'. Use one name for both."),
    ],
)
def test_a_format_that_cannot_be_loaded_is_one_line_and_keeps_no_other_away(
    install, log, code, why
):
    install("a-broken", "a-broken", code)
    install("acme-logs", "acme-log", LINES)

    with pytest.raises(UsageError) as caught:
        read_session(log, format="a-broken")
    assert str(caught.value).startswith("format 'a-broken' of a-broken 1.5 ")
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)
    assert read_session(log).source["format"] == "acme-log"
    log.write_text("{}\n", encoding="utf-8")
    with pytest.raises(TurnError, match=r"Not asked: format 'a-broken' of a-broken 1\.5") as told:
        read_session(log)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("    conversation =", "    1 / 0\n    conversation =", "ZeroDivisionError: division by"),
        ("    for number", "    yield 5\n    for number", "it gave a value of type int"),
        ("def read", "def read(*_): ...\n\n\ndef other", "'NoneType' object is not iterable"),
    ],
)
def test_a_log_format_that_fails_is_one_line(install, log, old, new, why):
    install("acme-logs", "acme-log", LINES.replace(old, new))

    with pytest.raises(TurnError) as caught:
        read_session(log)

    assert "format 'acme-log' of acme-logs 1.5 failed: " in str(caught.value)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_format_that_fails_at_recognising_is_passed_over(install, log):
    broken = LINES.replace("return any(", "return 1 / 0 + any(").replace("acme-log", "a-broken")
    install("a-broken", "a-broken", broken)
    install("acme-logs", "acme-log", LINES)

    assert read_session(log).source["format"] == "acme-log"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("    if not", "    raise KeyError('x')\n    if not", "KeyError: 'x'"),
        ("    return [Turn", "    return None\n    return [Turn", "than a list of turns"),
    ],
)
def test_a_wire_format_that_fails_is_one_line(install, old, new, why):
    install("acme-wire", "acme", MESSAGES.replace(old, new))

    with pytest.raises(TurnError) as caught:
        read_turn({"ask": "open"})

    assert str(caught.value).startswith(
        "<toolflow.formats>: format 'acme' of acme-wire 1.5 failed: "
    )
    assert why in str(caught.value)


def test_a_format_that_two_packages_give_is_used_from_neither(install):
    install("acme-wire", "acme", MESSAGES)
    install("other-wire", "acme", MESSAGES)

    with pytest.raises(UsageError, match=r"given by several packages \(acme-wire 1\.5, other-wire"):
        read_turn({"ask": "open"}, format="acme")
    with pytest.raises(TurnError, match="Not asked: format 'acme' is given by several packages"):
        read_turn({"ask": "open"})


def test_a_format_cannot_take_the_name_of_ours(install):
    install("acme-wire", "anthropic", MESSAGES.replace('"acme"', '"anthropic"'))

    assert FORMATS["anthropic"].about.startswith("a message or a list")
    with pytest.raises(TurnError, match="format 'anthropic' of another package has the name of"):
        read_turn({"ask": "open"})


def test_what_toolflow_reads_itself_loads_no_other_package(install):
    folder = install("a-broken", "a-broken", "raise SystemExit(3)")
    program = (
        f"import sys; sys.path.insert(0, {str(folder)!r})\n"
        "import toolflow\n"
        "turn = toolflow.read_turn({'calls': []})\n"
        "assert turn.format == 'calls'\n"
        "assert 'a_broken' not in sys.modules\n"
        "assert 'importlib.metadata' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[3])


TALK = """
import re

from toolflow.formats.base import Answer, Format, IdRule
from toolflow.formats.layout import of_messages
from toolflow.model import Call, Outcome, Turn


def said(item):
    return Turn("", (Call(0, item["ask"], "t"),), "acme", item)


def steps(items):
    for place, item in enumerate(items):
        if "ask" in item:
            yield said(item)
        elif "for" in item:
            yield Answer(item["for"], Outcome("ok", item["told"]), place)


def read(data):
    return [said(item) for item in (data if isinstance(data, list) else [data]) if "ask" in item]


def write(turn, outcomes, ids, texts):
    message = {**(turn.message or {}), "ask": ids[0]}
    return [message], [{"for": ids[0], "told": outcomes[0].text}]


FORMAT = Format(
    "acme",
    "an object with ask",
    lambda data: any("ask" in item for item in data if isinstance(item, dict)),
    read,
    write,
    IdRule(re.compile("[a-z]+"), re.compile("[^a-z]")),
    steps=steps,
    layout=of_messages(lambda item: KEYS if "for" in item else None),
)
"""


def test_conversations_of_another_package_are_examined_and_mended(install):
    install("acme-talk", "acme", TALK.replace("KEYS", '("for",)'))
    messages = [{"ask": "A"}, {"note": "x"}, {"for": "A", "told": "yes"}, {"note": "y"}]

    report = examine(messages, format="acme")

    assert [found.code for found in report.findings] == ["refused_id", "results_apart"]
    assert repair(messages, format="acme").messages == [
        {"ask": "_"},
        {"for": "_", "told": "yes"},
        {"note": "x"},
        {"note": "y"},
    ]


def test_a_layout_of_another_package_that_fails_is_one_line(install):
    install("acme-talk", "acme", TALK.replace("KEYS", "1 / 0"))

    with pytest.raises(
        TurnError, match=r"^<toolflow.formats>: format 'acme' of acme-talk 1.5 fail"
    ):
        examine([{"ask": "a"}, {"for": "a", "told": "yes"}], format="acme")
