"""Loading flows: what a stage takes from others is checked before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from flow_tools import flow_file

from toolflow.errors import FlowError
from toolflow.flow import load_flow

FIRST = """\
  - id: gather
    calls: [{id: auth, tool: give}, {tool: give}, {id: m, tool: give, foreach: []}]
"""


def faults(folder: Path, stages: str) -> list[str]:
    path = flow_file(folder, stages)
    try:
        load_flow(path)
    except FlowError as error:
        return [f"{each.line}:{each.column} {each.message}" for each in error.problems]
    return []


@pytest.mark.parametrize(
    "taken",
    [
        "results.gather.auth",
        "results['gather']['auth']",
        "results.get('gather').auth",
        "results.gather.get('auth', 1)",
        "results.gather['give-2']",
        "results.gather.m[0].anything.at.all",
        "results.gather.auth.nothere.split('x')",
        "results.gather.items() | list",
        "results | length",
    ],
)
def test_what_may_be_there_is_no_problem(tmp_path: Path, taken: str) -> None:
    for stage in (
        f'  - {{id: use, calls: [{{tool: give, args: {{value: [x, "{{{{ {taken} }}}}"]}}}}]}}\n',
        f'  - {{id: use, when: "{{{{ {taken} }}}}", calls: [{{tool: give}}]}}\n',
        f'  - {{id: use, calls: [{{tool: give, foreach: "{{{{ {taken} }}}}"}}]}}\n',
    ):
        assert faults(tmp_path, FIRST + stage) == []
        between = "  - {id: between, calls: [{tool: give}]}\n"
        assert faults(tmp_path, FIRST + between + stage) == []


@pytest.mark.parametrize(
    ("taken", "said"),
    [
        ("results.gathr.auth", "there is no stage 'gathr' before 'use'. Did you mean 'gather'?"),
        ("results['zz'].auth", "there is no stage 'zz' before 'use'. There are 'gather'."),
        ("results.gather.atuh", "stage 'gather' has no call 'atuh'. Did you mean 'auth'?"),
        (
            "results.gather.get('zz')",
            "stage 'gather' has no call 'zz'. There are 'auth', 'give-2', 'm'.",
        ),
        ("results.use.a", "'use' is the stage itself. Use results of stages before it."),
        ("results.beside.a", "'beside' does not come before 'use'. Add it to its needs."),
        ("results.later.a", "'later' does not come before 'use'. Use results of stages before it."),
        (
            "1 if results.gathr is defined else 2",
            "there is no stage 'gathr' before 'use'. Did you mean",
        ),
    ],
)
def test_results_that_cannot_be_there_are_a_problem_with_its_place(
    tmp_path: Path, taken: str, said: str
) -> None:
    rest = (
        "  - {id: beside, needs: [], calls: [{id: a, tool: give}]}\n"
        "  - {id: later, needs: [use], calls: [{id: a, tool: give}]}\n"
    )
    use = "  - id: use\n    needs: [gather]\n"
    args = f'    calls: [{{id: a, tool: give, args: {{value: "{{{{ {taken} }}}}"}}}}]\n'
    (found,) = faults(tmp_path, FIRST + use + args + rest)
    assert found.startswith("10:47 ")
    assert said in found
    when = f'    when: "{{{{ {taken} }}}}"\n    calls: [{{id: a, tool: give}}]\n'
    (found,) = faults(tmp_path, FIRST + use + when + rest)
    assert found.startswith("10:11 ")
    assert said in found


def test_the_first_stage_has_none_before_it(tmp_path: Path) -> None:
    stages = '  - {id: one, when: "{{ results.zero.a }}", calls: [{tool: give}]}\n'
    (found,) = faults(tmp_path, stages)
    assert found.endswith("there is no stage 'zero' before 'one'. There are none.")


def test_all_problems_are_told_in_the_order_of_the_file(tmp_path: Path) -> None:
    stages = (
        '  - {id: one, calls: [{id: a, tool: give, args: {value: "{{ results.x.y }}"}}, '
        "{id: a, tool: give}]}\n"
        '  - {id: two, needs: [zero], when: "{{ nothing }}", calls: [{tool: give}]}\n'
    )
    found = faults(tmp_path, stages)
    assert [each.split()[0] for each in found] == sorted(each.split()[0] for each in found)
    assert len(found) == 4


@pytest.mark.parametrize(
    ("field", "said"),
    [
        (
            'when: "yes"',
            "when is 'yes', which is text. Use true or false, or one {{ expression }}.",
        ),
        ("when: no", "when is 'no', which is text. Use true or false, or one {{ expression }}."),
        ('when: "{{ true }} "', "when is '{{ true }} ', which is text."),
    ],
)
def test_a_condition_that_can_only_give_text_is_a_problem(
    tmp_path: Path, field: str, said: str
) -> None:
    (found,) = faults(tmp_path, f"  - {{id: one, {field}, calls: [{{tool: give}}]}}\n")
    assert said in found


def test_items_that_can_only_be_text_are_a_problem(tmp_path: Path) -> None:
    stages = "  - {id: one, calls: [{tool: give, foreach: a.txt}]}\n"
    (found,) = faults(tmp_path, stages)
    assert found.endswith("foreach is 'a.txt', which is text. Use a list, or one {{ expression }}.")


def test_an_item_is_there_only_with_foreach(tmp_path: Path) -> None:
    stages = '  - {id: one, calls: [{tool: give, args: {value: "{{ item }}"}}]}\n'
    (found,) = faults(tmp_path, stages)
    assert "The name 'item' is not known." in found


def test_a_message_that_cannot_be_read_is_a_problem_of_the_file(tmp_path: Path) -> None:
    (found,) = faults(tmp_path, "  - {id: one, message: {what: ever}}\n")
    assert "the message of stage 'one' cannot be read: " in found


def test_a_message_s_calls_are_known(tmp_path: Path) -> None:
    stages = (
        "  - {id: one, message: {calls: [{id: a, tool: give}]}}\n"
        '  - {id: two, when: "{{ results.one.b }}", calls: [{tool: give}]}\n'
    )
    (found,) = faults(tmp_path, stages)
    assert found.endswith("stage 'one' has no call 'b'. There are 'a'.")


def test_a_circle_is_told_once_and_nothing_hangs(tmp_path: Path) -> None:
    stages = (
        '  - {id: one, needs: [two], when: "{{ results.two.a }}", calls: [{id: a, tool: give}]}\n'
        "  - {id: two, needs: [one], calls: [{id: a, tool: give}]}\n"
    )
    (found,) = faults(tmp_path, stages)
    assert "the stages need each other in a circle: " in found


def test_a_command_may_say_how_long_it_runs_as_people_write_it(tmp_path: Path) -> None:
    for written, seconds in (("90s", 90.0), ("2m", 120.0), ("1.5", 1.5)):
        path = flow_file(tmp_path, "  - {id: one, calls: [{tool: list}]}\n")
        text = path.read_text().replace(
            "tools: {", f"tools: {{shell: {{list: {{argv: [ls], timeout: {written}}}}}, "
        )
        path.write_text(text)
        assert load_flow(path).tools.shell["list"].timeout == seconds


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("{{ results.gather.auth }} {{ results['gather'].m }}", {"gather"}),
        ("{{ results.get('gather').auth }}", {"gather"}),
        ("no expression", set()),
        ("{{ results | length }}", None),
        ("{{ results.items() | list }}", None),
        ("{{ results.gather.auth }} {{ results[results.gather.auth] }}", None),
    ],
)
def test_which_results_a_stage_uses_is_read_off_its_expressions(
    tmp_path: Path, text: str, used: set[str] | None
) -> None:
    use = f'  - {{id: use, calls: [{{tool: give, args: {{value: "{text}"}}}}]}}\n'
    assert load_flow(flow_file(tmp_path, FIRST + use)).stages[1].uses == used
