"""Conformance lines about tools, their declarations and their results."""

from __future__ import annotations

import anyio
import pytest

from toolflow.engine import Engine
from toolflow.errors import UsageError
from toolflow.runtime.context import Context
from toolflow.runtime.results import ToolFailure, failed_outcome
from toolflow.runtime.toolbox import Toolbox

SCHEDULING = {
    "safe": True,
    "reads": lambda path: [f"read-key:{path}"],
    "writes": ["write-key"],
    "uses": {"scarce": 7},
    "timeout": 12345.0,
    "idempotent": True,
    "server": "some-server",
}


def test_c008_an_asynchronous_declaration_is_refused_when_declared():
    async def later():
        return True

    for field in ("safe", "reads", "writes"):
        with pytest.raises(UsageError, match=f"{field} is asynchronous"):
            Toolbox().tool(name="t", **{field: later})(lambda: 1)


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_c009_predicate_keys_and_body_see_one_value_parsed_once(backend):
    from typing import Annotated

    import pydantic

    parsed, seen = [], []

    def transform(value):
        parsed.append(value)
        return object()

    tools = Toolbox()

    @tools.tool(
        safe=lambda x: seen.append(x) or True,
        reads=lambda x: seen.append(x) or ["key"],
    )
    def f(x: Annotated[object, pydantic.PlainValidator(transform, json_schema_input_type=str)]):
        seen.append(x)

    async def main():
        return await Engine(tools).run({"calls": [{"id": "c", "tool": "f", "args": {"x": "raw"}}]})

    (outcome,) = anyio.run(main, backend=backend).outcomes
    assert outcome.ok, outcome
    assert parsed == ["raw"]
    assert len(seen) == 3
    assert len({id(value) for value in seen}) == 1


def test_c012_scheduling_never_reaches_the_model():
    tools = Toolbox()

    @tools.tool(**SCHEDULING)
    def f(path: str, ctx: Context) -> None:
        """Do it."""

    (definition,) = tools.definitions()
    assert definition == {
        "name": "f",
        "description": "Do it.",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
            "additionalProperties": False,
        },
    }
    definition["parameters"]["properties"].clear()
    assert tools.definitions()[0]["parameters"]["properties"]


def test_c026_every_execution_gets_its_own_arguments_and_context():
    tools = Toolbox()
    contexts = []

    @tools.tool(safe=True)
    def f(items: list, ctx: Context):
        items.append("mine")
        contexts.append(ctx)
        return items

    shared = ["given"]
    calls = [{"id": name, "tool": "f", "args": {"items": shared}} for name in "ab"]

    async def main():
        return await Engine(tools).run({"calls": calls})

    outcomes = anyio.run(main).outcomes
    assert [outcome.value for outcome in outcomes] == [["given", "mine"]] * 2
    assert shared == ["given"]
    assert len({id(context) for context in contexts}) == 2


def _all_exceptions():
    def below(kind):
        yield kind
        for child in kind.__subclasses__():
            if child.__module__ == "builtins":
                yield from below(child)

    return sorted(set(below(BaseException)), key=lambda kind: kind.__name__)


def _made(kind):
    if issubclass(kind, BaseExceptionGroup):
        return kind("group", [ValueError("inside")])
    if issubclass(kind, UnicodeDecodeError):
        return kind("utf-8", b"\xff", 0, 1, "reason")
    if issubclass(kind, UnicodeEncodeError):
        return kind("utf-8", "\ud800", 0, 1, "reason")
    if issubclass(kind, UnicodeTranslateError):
        return kind("x", 0, 1, "reason")
    return kind("reason")


@pytest.mark.parametrize("kind", _all_exceptions(), ids=lambda kind: kind.__name__)
def test_c083_every_exception_becomes_an_error_result(kind):
    outcome = failed_outcome(_made(kind))
    assert outcome.status == "failed"
    assert outcome.error
    assert outcome.error.encode()


def test_c083_a_failure_said_by_the_tool_is_told_in_its_own_words():
    assert failed_outcome(ToolFailure("The shop is closed.")).text == "The shop is closed."
