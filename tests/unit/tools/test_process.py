"""Commands: what they say, how they end, and that nothing of them is left."""

from __future__ import annotations

import os
import sys
from types import SimpleNamespace

import anyio
import anyio.to_thread
import pytest
from gates import has_no_reader, make_gate, nobody_waits

from toolflow.errors import UsageError
from toolflow.runtime.results import ToolFailure
from toolflow.runtime.toolbox import Toolbox
from toolflow.tools.process import outcome_of_command, run_process
from toolflow.tools.shell import shell_tool
from toolflow.tools.workspace import workspace

pytestmark = pytest.mark.skipif(os.name != "posix", reason="commands need process groups")


@pytest.fixture(params=["asyncio", "trio"])
def backend(request):
    return request.param


def run(backend, command, cwd, **options):
    async def main():
        return await run_process(command, cwd=str(cwd), **options)

    return anyio.run(main, backend=backend)


def python(code):
    return [sys.executable, "-c", code]


def test_output_and_exit_code(backend, tmp_path):
    ended = run(backend, "echo out; echo err >&2; exit 3", tmp_path)
    assert (ended.code, ended.output, ended.timed_out) == (3, "out\nerr\n", False)
    outcome = outcome_of_command(ended, None)
    assert outcome.status == "failed"
    assert outcome.text == "The command ended with exit code 3.\nout\nerr\n"


def test_a_command_without_output_says_so(backend, tmp_path):
    assert outcome_of_command(run(backend, ["true"], tmp_path), None).text == "(no output)"


def test_a_list_is_no_shell_command(backend, tmp_path):
    ended = run(backend, ["echo", "$HOME; *", "a  b"], tmp_path)
    assert ended.output == "$HOME; * a  b\n"


def test_a_command_gets_no_input(backend, tmp_path):
    assert run(backend, ["cat"], tmp_path).code == 0


def test_the_environment_may_be_given(backend, tmp_path):
    assert run(backend, "echo $ONLY", tmp_path, env={"ONLY": "this"}).output == "this\n"


def test_a_signal_is_named(backend, tmp_path):
    outcome = outcome_of_command(run(backend, "kill -9 $$", tmp_path), None)
    assert outcome.error == "The command was ended by SIGKILL."


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["no-such-program-here"], "There is no 'no-such-program-here' to run"),
        (["/"], "cannot be run: Permission denied"),
        ([], "is empty"),
        ("", "is empty"),
        ([""], "is empty"),
        (["echo", "a\0b"], "cannot be run"),
        (["echo", "\ud800"], "cannot be run"),
    ],
)
def test_what_cannot_be_run_is_told(backend, tmp_path, command, words):
    with pytest.raises(ToolFailure, match=words):
        run(backend, command, tmp_path)


def test_a_folder_that_is_not_there_is_told(backend, tmp_path):
    with pytest.raises(ToolFailure, match="folder to run in is not there"):
        run(backend, ["true"], tmp_path / "missing")


def test_long_output_keeps_head_and_tail_at_whole_characters(backend, tmp_path):
    code = "import sys; sys.stdout.buffer.write(('ä' * 500_000 + 'end').encode())"
    ended = run(backend, python(code), tmp_path, max_output=1001)
    head, tail = ended.output.split("\n[... ")
    assert set(head) == {"ä"}
    assert tail == f"{1_000_003 - 500 - 499} bytes left out ...]\n" + "ä" * 248 + "end"
    assert ended.note is None


def test_output_that_is_no_text_is_replaced_and_told(backend, tmp_path):
    ended = run(backend, r"printf 'a\377b'", tmp_path)
    assert ended.output == "a\ufffdb"
    assert "no UTF-8" in ended.note


WAITS = "read line < gate; touch late.flag"


@pytest.mark.parametrize(
    "command",
    [
        WAITS,
        f"({WAITS}) & wait",
        f"sh -c 'sh -c \"{WAITS}\" & wait' & wait",
        f"trap '' TERM; {WAITS}",
    ],
)
def test_cancelling_ends_the_whole_group(backend, tmp_path, command):
    gate = make_gate(tmp_path)

    async def main():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: run_process(command, cwd=str(tmp_path), grace=0.1))
            # Opening returns only when the process has opened its end: it surely waits now.
            held = await anyio.to_thread.run_sync(os.open, gate, os.O_WRONLY)
            tasks.cancel_scope.cancel()
        return held

    held = anyio.run(main, backend=backend)
    assert has_no_reader(held)
    assert not (tmp_path / "late.flag").exists()


def test_what_a_command_leaves_in_the_background_ends_with_it(backend, tmp_path):
    gate = make_gate(tmp_path)
    ended = run(backend, f"({WAITS}) & echo started", tmp_path)
    assert (ended.code, ended.output) == (0, "started\n")
    assert nobody_waits(gate)
    assert not (tmp_path / "late.flag").exists()


def test_a_process_that_left_the_group_does_not_hold_up_the_call(backend, tmp_path, monkeypatch):
    monkeypatch.setattr("toolflow.tools.process._DRAIN", 0.05)
    gate = make_gate(tmp_path)
    code = (
        "import os\n"
        "gone, tell = os.pipe()\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    os.write(tell, b'g')\n"
        "    os.read(os.open('gate', os.O_RDONLY), 1)\n"
        "    os._exit(0)\n"
        "os.read(gone, 1)\n"
        "print('left', flush=True)\n"
        "os._exit(0)\n"
    )
    ended = run(backend, python(code), tmp_path)
    os.close(os.open(gate, os.O_WRONLY))  # it still waits here, and ends now
    assert ended.code == 0
    assert ended.output == "left\n"
    assert "left the command's group" in ended.note


def test_output_so_far_is_kept_for_a_call_that_is_cut_off(backend, tmp_path):
    gate = make_gate(tmp_path)
    kept = []
    context = SimpleNamespace(keep=kept.append)
    tool = workspace(tmp_path).get("run_command")

    async def main():
        async with anyio.create_task_group() as tasks:
            args = {"command": "echo so far; read line < gate"}
            tasks.start_soon(tool.call, args, context)
            held = await anyio.to_thread.run_sync(os.open, gate, os.O_WRONLY)
            tasks.cancel_scope.cancel()
            os.close(held)

    anyio.run(main, backend=backend)
    assert kept == ["so far\n"]


def test_the_model_may_give_a_time_limit(backend, tmp_path):
    tool = workspace(tmp_path, grace=0.1).get("run_command")

    async def main():
        args = tool.spec.parse({"command": "echo begun; exec sleep 600", "timeout": 2})
        return await tool.call(args, None)

    outcome = anyio.run(main, backend=backend)
    assert outcome.status == "timed_out"
    assert outcome.error.startswith("The command was ended after 2 seconds")
    assert outcome.value == "begun\n"


# ---- commands as tools ----


def make(tmp_path, argv, **options):
    return shell_tool(Toolbox(), "t", argv, cwd=tmp_path, **options)


def call(tool, backend="asyncio", **args):
    async def main():
        return await tool.call(tool.spec.parse(args), None)

    return anyio.run(main, backend=backend)


def test_a_command_line_is_a_tool(backend, tmp_path):
    tool = make(tmp_path, ["echo", "{{ args.what }}", "--to={{ args['who'] }}"])
    assert tool.spec.description == "Run: echo {{ args.what }} --to={{ args['who'] }}"
    assert tool.spec.parameters == {
        "type": "object",
        "properties": {"what": {"type": "string"}, "who": {"type": "string"}},
        "required": ["what", "who"],
        "additionalProperties": False,
    }
    assert tool.spec.safe is None
    assert tool.is_async


def test_an_argument_stays_one_argument(backend, tmp_path):
    tool = make(tmp_path, ["printf", "[%s]", "{{ args.x }}"])
    assert call(tool, backend, x="a b; echo $HOME `id` '\"").value == "[a b; echo $HOME `id` '\"]"
    assert call(tool, backend, x="{{ args.x }}").value == "[{{ args.x }}]"


@pytest.mark.parametrize(
    ("value", "output"),
    [
        (["a", "b c"], "[a][b c]"),
        (None, "[]"),
        (True, "[true]"),
        (3, "[3]"),
        ([], "[]"),
    ],
)
def test_values_become_arguments(tmp_path, value, output):
    tool = make(tmp_path, ["printf", "[%s]", "{{ args.x }}"], parameters={"x": {}})
    assert call(tool, x=value).value == output


def test_a_value_that_is_no_argument_fails_the_call(tmp_path):
    tool = make(tmp_path, ["echo", "{{ args.x }}"], parameters={"x": {}})
    with pytest.raises(ToolFailure, match="Part 2 of the command is a dict"):
        call(tool, x={})


def test_a_template_that_cannot_be_worked_out_fails_the_call(tmp_path):
    tool = make(tmp_path, ["echo", "{{ args.x.y }}"], parameters={"x": {}})
    with pytest.raises(ToolFailure, match="Part 2 of the command cannot be worked out: args"):
        call(tool, x={})


@pytest.mark.parametrize("item", ["{{ args.x", "{{ nothing }}", "{{ args.x | no_filter }}"])
def test_a_template_that_is_none_is_refused_at_once(tmp_path, item):
    with pytest.raises(UsageError, match=r"tool 't': argv\[1\] is"):
        make(tmp_path, ["echo", item])


def test_a_command_is_added_to_its_toolbox_once(tmp_path):
    tools = Toolbox()
    tool = shell_tool(tools, "t", ["true"], cwd=tmp_path)
    assert tools.get("t") is tool
    with pytest.raises(UsageError, match="is there already"):
        shell_tool(tools, "t", ["true"], cwd=tmp_path)


def test_parameters_may_be_declared_with_defaults(tmp_path):
    tool = make(
        tmp_path, ["echo", "{{ args.n }}"], parameters={"n": {"type": "integer", "default": 5}}
    )
    assert call(tool).value == "5\n"
    with pytest.raises(ValueError, match="n is 'x', but should be integer"):
        tool.spec.parse({"n": "x"})


def test_arguments_of_a_command_are_checked(tmp_path):
    tool = make(tmp_path, ["echo", "{{ args.x }}"])
    for args in ({}, {"x": 1}, {"x": "a", "y": "b"}):
        with pytest.raises(ValueError, match="do not fit"):
            tool.spec.parse(args)


@pytest.mark.parametrize("argv", [[], "echo x", ["echo", 3]])
def test_a_command_line_is_a_list_of_texts(tmp_path, argv):
    with pytest.raises(UsageError, match="Use a list of texts"):
        make(tmp_path, argv)


def test_declarations_of_a_command_see_its_arguments(tmp_path):
    tool = make(
        tmp_path, ["cat", "{{ args.path }}"], safe=True, reads=lambda path: [f"file:{path}"]
    )
    assert tool.spec.reads({"path": "p"}) == ["file:p"]
