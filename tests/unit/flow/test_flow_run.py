"""Flows in virtual time: the order of stages, what they see of each other, what is skipped."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from flow_tools import LOG, made_flow, values

from toolflow import Control
from toolflow.flow import FlowResult, StageResult, run_flow

Runner = Callable[..., Any]


@pytest.fixture(autouse=True)
def empty_log() -> None:
    LOG.clear()


def ran(
    run: Runner, folder: Path, stages: str, control: Control | None = None, **fields: str
) -> FlowResult:
    flow = made_flow(folder, stages, **fields)
    return run(partial(run_flow, flow, out=folder / "out", control=control))


def stage(result: FlowResult, name: str) -> StageResult:
    return next(each for each in result.stages if each.stage == name)


def test_stages_without_a_path_between_them_overlap_and_others_do_not(
    run: Runner, tmp_path: Path
) -> None:
    ran(
        run,
        tmp_path,
        """\
  - {id: one, calls: [{id: a, tool: give, args: {seconds: 3}}]}
  - {id: two, needs: [], calls: [{id: b, tool: give, args: {seconds: 1}}]}
  - {id: both, needs: [one, two], calls: [{id: c, tool: give}]}
""",
    )
    assert sorted(LOG[:2]) == ["a starts", "b starts"]
    assert LOG[2:] == ["b ends", "a ends", "c starts", "c ends"]


def test_a_stage_without_needs_comes_after_the_stage_before_it(run: Runner, tmp_path: Path) -> None:
    ran(
        run,
        tmp_path,
        """\
  - {id: one, calls: [{id: a, tool: give, args: {seconds: 3}}]}
  - {id: two, calls: [{id: b, tool: give}]}
""",
    )
    assert LOG == ["a starts", "a ends", "b starts", "b ends"]


def test_results_keep_their_kind_and_their_text_is_never_rendered_again(
    run: Runner, tmp_path: Path
) -> None:
    result = ran(
        run,
        tmp_path,
        """\
  - id: one
    calls:
      - {id: a, tool: give, args: {value: {deep: [1, null, true]}}}
      - {id: b, tool: give, args: {value: "{{ '{{ 1 + 1 }}' }}"}}
  - id: two
    calls:
      - {id: c, tool: give, args: {value: "{{ results.one.a }}"}}
      - {id: d, tool: give, args: {value: "{{ results.one.b }}"}}
      - {id: e, tool: give, args: {value: "<{{ results.one.a.deep[0] + 1 }}>"}}
""",
    )
    assert values(result)["two"] == [{"deep": [1, None, True]}, "{{ 1 + 1 }}", "<2>"]


def test_a_result_that_is_not_there_settles_the_call_and_its_siblings_run(
    run: Runner, tmp_path: Path
) -> None:
    result = ran(
        run,
        tmp_path,
        """\
  - {id: one, calls: [{id: a, tool: fail}]}
  - id: two
    calls:
      - {id: b, tool: give, args: {value: "{{ results.one.a }}"}}
      - {id: c, tool: give, args: {value: 1}}
""",
    )
    assert values(result)["two"] == ["invalid_arguments", 1]
    said = stage(result, "two").run.outcomes[0].text
    assert said == "Could not work out the arguments: results.one.a is not there"
    assert not result.ok


# ---- foreach ----


def test_foreach_makes_the_call_for_each_item_and_gives_a_list(run: Runner, tmp_path: Path) -> None:
    result = ran(
        run,
        tmp_path,
        """\
  - {id: one, calls: [{id: a, tool: give, args: {value: [x, y, z]}}]}
  - id: two
    calls:
      - {id: b, tool: give, foreach: "{{ results.one.a }}", args: {value: "{{ item }}!"}}
      - {id: c, tool: give, foreach: [1, 2], args: {value: "{{ item * 10 }}"}}
      - {id: d, tool: give, foreach: "{{ range(3) }}", args: {value: "{{ item }}"}}
      - {id: e, tool: give, foreach: "{{ {'k': 1}.items() }}", args: {value: "{{ item[0] }}"}}
      - {id: f, tool: give, foreach: "{{ [1, 2, 3] | select('odd') }}", args: {value: "{{ item }}"}}
  - {id: three, calls: [{tool: give, args: {value: "{{ results.two }}"}}]}
""",
    )
    names = [call.id for call in stage(result, "two").run.plan.calls]
    assert names == ["b-1", "b-2", "b-3", "c-1", "c-2", "d-1", "d-2", "d-3", "e-1", "f-1", "f-2"]
    assert values(result)["three"] == [
        {"b": ["x!", "y!", "z!"], "c": [10, 20], "d": [0, 1, 2], "e": ["k"], "f": [1, 3]}
    ]


def test_foreach_over_nothing_makes_no_call_and_gives_an_empty_list(
    run: Runner, tmp_path: Path
) -> None:
    result = ran(
        run,
        tmp_path,
        """\
  - {id: one, calls: [{id: a, tool: give, foreach: [], args: {value: "{{ item }}"}}]}
  - {id: two, calls: [{id: b, tool: give, args: {value: "{{ results.one.a }}"}}]}
""",
    )
    assert values(result) == {"one": [], "two": [[]]}
    assert result.ok


def test_foreach_has_none_for_a_call_that_is_not_ok(run: Runner, tmp_path: Path) -> None:
    result = ran(
        run,
        tmp_path,
        """\
  - id: one
    calls: [{id: a, tool: give, foreach: [{x: 1}, {}], args: {value: "{{ item.x }}"}}]
  - {id: two, calls: [{id: b, tool: give, args: {value: "{{ results.one.a }}"}}]}
""",
    )
    assert values(result) == {"one": [1, "invalid_arguments"], "two": [[1, None]]}


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("a.py b.py", "text"),
        ("{k: 1}", "a mapping"),
        ("3", "a number"),
        ("true", "true or false"),
        ("null", "nothing"),
    ],
)
def test_foreach_over_anything_but_a_list_settles_the_call_and_says_what_it_got(
    run: Runner, tmp_path: Path, value: str, kind: str
) -> None:
    result = ran(
        run,
        tmp_path,
        f"""\
  - {{id: one, calls: [{{id: a, tool: give, args: {{value: {value}}}}}]}}
  - id: two
    calls: [{{id: b, tool: give, foreach: "{{{{ results.one.a }}}}", args: {{value: 1}}}}]
  - {{id: three, calls: [{{id: c, tool: give, args: {{value: "{{{{ results.two.b }}}}"}}}}]}}
""",
    )
    said = stage(result, "two").run.outcomes[0].text
    assert said.endswith(f"for which items the call is made: foreach gives {kind}. Use a list.")
    assert values(result)["three"] == ["invalid_arguments"]  # not the list of no values
    assert "b starts" not in LOG


# ---- when ----


def test_a_stage_whose_condition_is_not_exactly_true_is_skipped_and_counts_as_over(
    run: Runner, tmp_path: Path
) -> None:
    result = ran(
        run,
        tmp_path,
        """\
  - {id: one, calls: [{id: a, tool: give, args: {value: yes}}]}
  - {id: no, when: false, calls: [{tool: give}]}
  - {id: truthy, needs: [one], when: "{{ results.one.a }}", calls: [{tool: give}]}
  - {id: equal, needs: [one], when: "{{ results.one.a == 'yes' }}", calls: [{tool: give}]}
  - id: last
    needs: [no, truthy]
    calls: [{id: z, tool: give, args: {value: "{{ results.no }}"}}]
""",
    )
    assert {s.stage: (s.status, s.reason) for s in result.stages} == {
        "one": ("done", None),
        "no": ("skipped", "its condition is not true"),
        "truthy": ("skipped", "its condition is not true, but text"),
        "equal": ("done", None),
        "last": ("done", None),
    }
    assert values(result)["last"] == [{}]
    assert result.ok


def test_a_condition_that_cannot_be_worked_out_skips_the_stage_and_the_flow_is_not_ok(
    run: Runner, tmp_path: Path
) -> None:
    result = ran(
        run,
        tmp_path,
        """\
  - {id: one, calls: [{id: a, tool: give, args: {value: {x: 1}}}]}
  - {id: two, when: "{{ results.one.a.y > 1 }}", calls: [{id: b, tool: give}]}
  - {id: three, calls: [{id: c, tool: give, args: {value: "{{ results.two }}"}}]}
""",
    )
    assert stage(result, "two").status == "skipped"
    assert stage(result, "two").reason.startswith("its condition fails: ")
    assert values(result)["three"] == [{}]
    assert (result.status, result.ok) == ("done", False)


# ---- what stops ----


def test_stages_behind_an_error_that_stops_are_skipped_with_the_reason_others_run(
    run: Runner, tmp_path: Path
) -> None:
    result = ran(
        run,
        tmp_path,
        """\
  - {id: one, calls: [{id: a, tool: fail}, {id: b, tool: give}]}
  - {id: two, calls: [{id: c, tool: give}]}
  - {id: three, calls: [{id: d, tool: give}]}
  - {id: other, needs: [], calls: [{id: e, tool: give}]}
""",
        policy="{version: 1, rules: [{tool: fail, on_error: stop}]}",
    )
    assert values(result) == {"one": ["failed", "skipped"], "other": [None]}
    assert stage(result, "two").reason == "stage 'one' was stopped by an error"
    assert stage(result, "three").reason == "stage 'two' was stopped by an error"


def test_a_pause_lets_other_stages_finish_and_keeps_those_behind_it_from_starting(
    run: Runner, tmp_path: Path
) -> None:
    result = ran(
        run,
        tmp_path,
        """\
  - {id: one, calls: [{id: a, tool: colour}]}
  - {id: two, calls: [{id: b, tool: give}]}
  - {id: other, needs: [], calls: [{id: c, tool: give, args: {seconds: 9}}]}
  - {id: more, needs: [other], calls: [{id: d, tool: give}]}
""",
    )
    assert {s.stage: s.status for s in result.stages} == {
        "one": "paused",
        "other": "done",
        "more": "done",
    }
    assert result.status == "paused"
    assert LOG[-1] == "d ends"


def test_an_abort_ends_every_stage_that_runs_and_starts_no_other(
    run: Runner, tmp_path: Path
) -> None:
    control = Control()
    control.abort("by the user")
    result = ran(
        run,
        tmp_path,
        """\
  - {id: one, calls: [{id: a, tool: give, args: {seconds: 5}}]}
  - {id: two, calls: [{id: b, tool: give}]}
""",
        control,
    )
    assert result.status == "aborted"
    assert LOG == []


def test_what_a_stage_sees_is_what_comes_before_it_however_the_others_fare(
    run: Runner, tmp_path: Path
) -> None:
    result = ran(
        run,
        tmp_path,
        """\
  - {id: fast, calls: [{id: a, tool: give, args: {value: 1}}]}
  - {id: slow, needs: [], calls: [{id: b, tool: give, args: {seconds: 9}}]}
  - {id: last, needs: [slow], calls: [{id: c, tool: give, args: {value: "{{ results }}"}}]}
""",
    )
    assert values(result)["last"] == [{"slow": {"b": None}}]  # though `fast` is over by then


def test_a_stage_may_be_a_message_of_a_provider(run: Runner, tmp_path: Path) -> None:
    result = ran(
        run,
        tmp_path,
        """\
  - id: one
    message:
      role: assistant
      content: [{type: tool_use, id: toolu_1, name: give, input: {value: 7}}]
  - {id: two, calls: [{id: a, tool: give, args: {value: "{{ results.one.toolu_1 + 1 }}"}}]}
""",
    )
    assert values(result) == {"one": [7], "two": [8]}
