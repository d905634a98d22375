"""The page of a recording: its data, its limits, and that only its own script and style act."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import plans
import pytest
import reported

from toolflow import load_policy
from toolflow.errors import RenderError, UsageError
from toolflow.model import Event, Notice, Outcome, RecordedTurn, Recording, Times
from toolflow.render import report_html
from toolflow.render import report_turns as limits
from toolflow.render.labels import visible_lines
from toolflow.render.report import script_text
from toolflow.render.report_texts import LARGEST, LongTexts, shortened

SECRET = "hunter2-secret"


def data_of(*turns: RecordedTurn) -> dict:
    return reported.page_of(reported.session(*turns)).data


def test_a_turn_says_how_it_ended_and_what_went_wrong() -> None:
    turn = data_of(reported.nine())["turns"][0]
    assert (turn["id"], turn["status"], turn["time"]) == ("turn-1", "done", "2.1 s")
    assert turn["counts"] == {
        "declined": 1, "failed": 1, "ok": 5, "timed_out": 1, "unknown_tool": 1,
    }  # fmt: skip
    assert turn["problems"] == [
        ["bad", "1 declined"],
        ["bad", "1 failed"],
        ["bad", "1 timed out"],
        ["bad", "1 unknown tool"],
        ["bad", "1 ran on after the report"],
        ["note", "1 waited long (up to 1.8 s)"],
        ["note", "keys met: 1 call behind others"],
    ]


def test_a_turn_where_all_is_well_has_no_problems() -> None:
    assert data_of(reported.three())["turns"][0]["problems"] == []


def test_a_call_has_what_plan_and_outcome_say_of_it() -> None:
    calls = data_of(reported.nine())["turns"][0]["calls"]
    assert calls[1]["error"] == "No such file: user.py"
    assert calls[2]["result"] == '{\n  "places": [\n    "auth.py:7",\n    "app.py:12"\n  ]\n}'
    assert calls[3]["keys"] == [["writes", "file:/repo/project/src/app.py"]]
    assert (calls[4]["waited"], calls[4]["ran"], calls[4]["late"]) == ("10 ms", "300 ms", "240 ms")
    assert calls[4]["times"] == [
        ["queued", "0.35 s"],
        ["granted", "0.36 s"],
        ["started", "0.36 s"],
        ["settled", "0.66 s"],
        ["stopped", "0.9 s"],
    ]
    assert calls[6]["verdict"] == "settled"
    assert calls[8]["ask"] == "Deploy web?"
    assert calls[8]["terms"] == ["asks", "stop before", "timeout 10 m", "stops on error"]


def test_the_slider_goes_by_events() -> None:
    turn = data_of(reported.nine())["turns"][0]
    assert turn["from"] == "events"
    assert turn["moments"][0] == {"at": 0.0, "kind": "run_started", "call": -1, "text": "calls=9"}
    stopped = [one for one in turn["moments"] if one["kind"] == "call_stopped"]
    assert stopped == [{"at": 0.9, "kind": "call_stopped", "call": 4, "text": ""}]


def test_without_events_the_slider_goes_by_times() -> None:
    turn = data_of(replace(reported.three(), events=()))["turns"][0]
    assert (turn["from"], turn["status"]) == ("times", "not recorded")
    kinds = [(one["at"], one["kind"], one["call"]) for one in turn["moments"]]
    assert kinds == [
        (0, "call_queued", 0),
        (0, "call_queued", 1),
        (0, "call_started", 0),
        (0, "call_started", 1),
        (0.1, "call_settled", 0),
        (0.2, "call_queued", 2),
        (0.2, "call_started", 2),
        (0.2, "call_settled", 1),
        (0.5, "call_settled", 2),
    ]


def test_of_a_log_without_plan_and_times_the_page_says_what_is_not_known() -> None:
    bare = replace(reported.three(), events=(), times=(), plan=None, outcomes=(None,) * 3)
    turn = data_of(bare)["turns"][0]
    assert (turn["from"], turn["moments"], turn["time"]) == ("", [], "")
    assert turn["undrawn"] == "No plan is recorded."
    assert turn["text"] == ""
    assert turn["problems"] == [["bad", "3 without a result"]]


def test_times_that_cannot_be_are_left_out() -> None:
    odd = Times(float("nan"), -1, float("inf"), 0.1, None)
    turn = replace(reported.three(), times=(odd,) * 3)
    (call, *_) = data_of(turn)["turns"][0]["calls"]
    assert call["times"] == [["settled", "0.1 s"]]
    assert "waited" not in call


def test_a_run_that_paused_and_one_that_never_ended_say_so() -> None:
    turn = reported.three()
    paused = turn.events[-1]._replace(kind="run_paused", data={"status": "paused"})
    ends = [(*turn.events[:-1], paused), turn.events[:-1]]
    turns = data_of(*(replace(turn, events=events) for events in ends))["turns"]
    assert [one["status"] for one in turns] == ["paused", "unfinished"]


def test_turns_are_named_by_place_unless_another_one_has_that_name() -> None:
    turns = [reported.three(name) for name in ("turn-1", "turn-1", "turn-2")]
    assert [turn["key"] for turn in data_of(*turns)["turns"]] == ["turn-1", "2", "turn-3"]


def test_calls_are_named_by_place_unless_another_one_has_that_name() -> None:
    plan = plans.plan(plans.call("a", name="c2"), plans.call("b", name="x"))
    turn = reported.run_of(plan, (Outcome("ok"),) * 2, (Times(),) * 2)
    assert [call["key"] for call in data_of(turn)["turns"][0]["calls"]] == ["c1", "2"]


def test_gates_stand_between_those_who_wait_and_those_waited_for() -> None:
    turn = reported.run_of(plans.gated(), (Outcome("ok"),) * 8, (Times(),) * 8)
    data = data_of(turn)["turns"][0]
    assert data["gates"] == 1
    assert [before for before, _ in data["behind"][8]] == [0, 1, 2, 3, 4, 5]
    assert data["behind"][6] == [[8, "key file:/repo/project/src/** write after read"]]


def test_turns_are_chosen_by_id_and_by_number_in_their_order() -> None:
    recording = reported.session(reported.nine(), reported.three("x"), reported.three("1"))
    data = reported.page_of(recording, turns=["x", "1"]).data
    assert [(turn["id"], turn["number"]) for turn in data["turns"]] == [("x", 2), ("1", 3)]
    data = reported.page_of(recording, turns=["3", "x"]).data
    assert [turn["number"] for turn in data["turns"]] == [2, 3]


@pytest.mark.parametrize("wanted", ["4", "0", "nothing", "-1", "\uff19", "1" * 5000])
def test_a_turn_that_is_not_there_is_an_error(wanted: str) -> None:
    with pytest.raises(UsageError, match="Use an id, or a number from 1 to 2"):
        report_html(reported.session(), turns=[wanted])


def test_turns_may_come_one_by_one() -> None:
    def turns() -> Iterator[RecordedTurn]:
        yield reported.nine()
        yield reported.three()

    assert len(reported.page_of(turns()).data["turns"]) == 2


def test_more_turns_than_a_page_holds_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_TURNS", 2)
    data = data_of(*(reported.three(f"t{at}") for at in range(5)))
    assert (len(data["turns"]), data["left"]) == (2, 3)


def test_a_page_has_no_more_turns_than_fit_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_CHARACTERS", 1)
    data = data_of(*(reported.three(f"t{at}") for at in range(5)))
    assert (len(data["turns"]), data["left"]) == (1, 4)


def test_long_texts_lose_their_middle_only_where_the_turn_would_be_too_long() -> None:
    data: dict[str, str] = {}
    texts = LongTexts()
    texts.put(data, "short", "all of it")
    texts.put(data, "whole", "x" * 150_000)
    assert not texts.settle()
    assert (len(data["whole"]), data["short"]) == (150_000, "all of it")
    many: list[dict[str, str]] = [{} for _ in range(1000)]
    texts = LongTexts()
    for at, one in enumerate(many):
        texts.put(one, "text", str(at) * 20_000)
    assert texts.settle()
    assert sum(len(one["text"]) for one in many) < LARGEST + 1000 * 100
    assert "characters left out" in many[7]["text"]


def test_a_shortened_text_keeps_both_ends() -> None:
    text = "a" * 700 + "b" * 700
    assert shortened(text, 900) == f"{'a' * 600}\n… 500 characters left out …\n{'b' * 300}"


def test_what_cannot_be_seen_is_written_out_but_for_line_ends_and_tabs() -> None:
    assert (
        visible_lines("a\tb\nc\x1b[31m \u202e \ud800 \r") == "a\tb\nc\\x1b[31m \\u202e \\ud800 \\r"
    )


ODD = {
    "object": {1: object()},
    "large number": 10**5000,
    "no number": float("nan"),
    "bytes": b"bytes",
    "set": {"a": {1, 2}},
}


@pytest.mark.parametrize("value", ODD.values(), ids=ODD)
def test_results_that_are_no_json_are_told_in_words(value: object) -> None:
    turn = replace(reported.three(), outcomes=(Outcome("ok", value),) * 3)
    assert data_of(turn)["turns"][0]["calls"][0]["result"]


def test_results_nested_too_deep_are_told_in_words() -> None:
    value: list = []
    for _ in range(100_000):
        value = [value]
    turn = replace(reported.three(), outcomes=(Outcome("ok", value),) * 3)
    result = data_of(turn)["turns"][0]["calls"][0]["result"]
    assert result == "A list that cannot be written as JSON."


def test_secrets_of_the_plans_policy_are_masked_everywhere() -> None:
    redactor = load_policy({"version": 1, "redact": ["password"]}).redactor
    args = {"password": SECRET, "url": f"http://x/{SECRET}"}
    plan = plans.plan(plans.call(f"GET {SECRET}", args=args, reason=SECRET, ask=SECRET))
    turn = reported.run_of(plan, (Outcome("ok", f"got {SECRET}", note=SECRET),), (Times(),))
    asked = Event("question_asked", 9, 0, "r", "t", data={"question": f"send {SECRET}?"})
    call = replace(turn.turn.calls[0], raw=f'{{"password": "{SECRET}"}}')
    turn = replace(
        turn,
        plan=replace(plan, redactor=redactor),
        turn=replace(turn.turn, calls=(call,), notices=(Notice("x", f"odd {SECRET}"),)),
        events=(*turn.events, asked),
        messages=({"role": "user", "content": f"{SECRET}"},),
    )
    page = report_html(reported.session(turn))
    assert SECRET not in page
    assert "***" in page


def test_only_the_script_and_the_style_of_the_page_may_act() -> None:
    page = reported.page_of(reported.session())
    policy = next(dict(attrs)["content"] for _, attrs in page.elements if len(attrs) == 2)
    assert policy is not None
    told = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert set(told) == {"default-src", "base-uri", "form-action", "script-src", "style-src"}
    assert {told[name] for name in ("default-src", "base-uri", "form-action")} == {"'none'"}
    for name, text in (("script-src", "script module"), ("style-src", "style")):
        digest = hashlib.sha256(page.texts[text].encode()).digest()
        assert told[name] == f"'sha256-{base64.b64encode(digest).decode()}'"


def test_a_page_names_no_address_and_has_no_style_attribute() -> None:
    html = report_html(reported.session(), pictures=False)
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg"}
    assert not re.search(r"<[^>]+\sstyle=", html)
    assert not re.search(r"<[^>]+\s(src|on\w+)=", html)


def test_equal_recordings_give_equal_bytes() -> None:
    assert report_html(reported.session()) == report_html(reported.session())


def test_the_pictures_of_plans_are_part_of_the_page() -> None:
    page = reported.page_of(reported.session(), pictures=True)
    if page.data["turns"][0]["picture"] < 0:
        pytest.skip("no program to draw with is installed here")
    assert [turn["picture"] for turn in page.data["turns"]] == [0, 1]
    assert [name for name, _ in page.elements].count("svg") == 2
    names = {name for tag, attrs in page.elements if tag != "a" for name, _ in attrs}
    assert not names & {"style", "href", "xlink:href", "onload"}
    assert [attrs for tag, attrs in page.elements if tag == "a"] == [
        (("class", "skip"), ("href", "#main"))
    ]


def test_without_a_program_the_page_has_the_plan_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolflow.render.program.programs", lambda: ())
    (turn,) = reported.page_of(reported.session(reported.nine()), pictures=True).data["turns"]
    assert turn["undrawn"].startswith("No program to draw with")
    assert "barrier" in turn["text"]


def test_the_plans_of_the_first_turns_are_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_DRAWN", 1)
    monkeypatch.setattr(limits, "svg", lambda *_, **__: "<svg></svg>")
    turns = reported.page_of(reported.session(), pictures=True).data["turns"]
    assert turns[0]["undrawn"] == ""
    assert "--turn" in turns[1]["undrawn"]


def test_after_a_few_pictures_that_failed_no_other_is_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = []

    def svg(*_: object, **__: object) -> str:
        tried.append(1)
        raise RenderError("No picture: it took too long.")

    monkeypatch.setattr(limits, "svg", svg)
    turns = reported.page_of(
        reported.session(*(reported.three(f"t{at}") for at in range(6))), pictures=True
    ).data["turns"]
    assert len(tried) == 3
    assert {turn["undrawn"] for turn in turns} == {"No picture: it took too long."}


def test_a_recording_without_turns_is_a_page() -> None:
    assert reported.page_of(Recording(())).data["turns"] == []


MODULES = sorted(Path(str(files("toolflow.render") / "templates" / "report")).glob("*.js"))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_a_module_of_the_script_keeps_the_house_rules(module: Path) -> None:
    text = module.read_text("utf-8")
    assert len(text.splitlines()) <= 300
    assert max(map(len, text.splitlines())) <= 100
    unsafe = r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|\bvar\b|[^=!]==[^=]"
    assert not re.search(unsafe, text)
    names = re.findall(r"^import \{([^}]*)\} from \"\./(\w+)\.js\";", text, re.MULTILINE)
    for imported, other in names:
        exported = (module.parent / f"{other}.js").read_text("utf-8")
        for name in re.findall(r"\w+", imported):
            assert re.search(rf"^export (const|function\*?|class) {name}\b", exported, re.MULTILINE)
            assert len(re.findall(rf"\b{name}\b", text)) > 1, f"{name} is not used"


def test_the_modules_can_be_joined_into_one_script(tmp_path: Path) -> None:
    text = script_text()
    assert not re.search(r"^(import|export)\b", text, re.MULTILINE)
    assert "</script" not in text
    names = re.findall(r"^(?:const|function\*?|class|let) (\w+)", text, re.MULTILINE)
    assert len(names) == len(set(names))
    node = shutil.which("node")
    if node is not None:  # else the browser's tests tell
        file = tmp_path / "script.mjs"
        file.write_text(text, "utf-8")
        subprocess.run([node, "--check", str(file)], check=True)


def test_every_colour_of_pictures_has_one_for_the_dark() -> None:
    page = reported.page_of(reported.session())
    style = page.texts["style"]
    for state in page.data["states"].values():
        for colour in (state["line"], state["fill"]):
            assert f'[fill="{colour}"]' in style
    assert json.dumps(page.data["states"]).count('"shape"') == 15
