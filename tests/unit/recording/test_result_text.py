"""A result as people see it."""

from __future__ import annotations

from toolflow import Context, Engine, Toolbox


def test_a_result_prints_as_a_line_a_call_and_what_it_waits_for(run):
    tools = Toolbox()

    @tools.tool(safe=True)
    async def ask(ctx: Context) -> str:
        return str(ctx.interrupt("Which\x1b colour?"))

    @tools.tool(safe=True)
    async def say(text: str, password: str = "") -> str:
        return text + password

    policy = "version: 1\nredact: [password]\nrules: []\n"
    calls = [
        {"id": "a", "tool": "say", "args": {"text": "one\ntwo\x1b[2J" + "x" * 100}},
        {"id": "語", "tool": "say", "args": {"text": "", "password": "hunter2"}},
        {"id": "c", "tool": "nothing"},
        {"id": "d", "tool": "ask"},
    ]
    result = run(lambda: Engine(tools, policy=policy).run({"calls": calls}))
    lines = str(result).splitlines()
    assert lines[0] == "turn-1: paused"
    assert lines[1].startswith(r"  a   ok         one two\x1b[2Jxxx")
    assert lines[1].endswith("…")
    assert lines[2].startswith("  語  ok         ")
    assert "hunter2" not in str(result)
    assert lines[3].startswith("  c   unknown_tool  There is no tool named 'nothing'.")
    assert lines[4:] == ["  d   -", r"d waits for an answer: Which\x1b colour?"]
