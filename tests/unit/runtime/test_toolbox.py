"""Tools declared from functions: what a function may be, and what becomes of it."""

from __future__ import annotations

import datetime as dt
import functools
import re
import subprocess
import sys
from dataclasses import replace
from typing import Annotated, Any

import pydantic
import pytest

from toolflow.errors import UsageError
from toolflow.model import ToolSpec
from toolflow.runtime.context import Context
from toolflow.runtime.toolbox import Toolbox


def tool_of(function, **options):
    tools = Toolbox()
    tools.tool(**options)(function)
    (tool,) = tools
    return tool


def test_a_function_becomes_a_tool_under_its_own_name():
    tools = Toolbox()

    @tools.tool
    def add(a: int, b: int = 2) -> int:
        """Add two numbers.

        Args:
            a: The first.
            b: The second,
                which may be left out.

        Returns:
            The sum.
        """
        return a + b

    tool = tools.get("add")
    assert tool.spec.description == "Add two numbers.\n\nReturns:\n    The sum."
    assert tool.spec.parameters == {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "description": "The first."},
            "b": {
                "type": "integer",
                "default": 2,
                "description": "The second, which may be left out.",
            },
        },
        "required": ["a"],
        "additionalProperties": False,
    }
    assert tool.call(tool.spec.parse({"a": 1}), None) == 3
    assert add(1, 1) == 2


def test_arguments_are_parsed_once_into_python_values_with_defaults():
    class Point(pydantic.BaseModel):
        x: int

    tools = Toolbox()

    @tools.tool
    def f(
        at: dt.datetime, point: Point, tags: set[str], n: Annotated[int, pydantic.Field(ge=1)] = 3
    ):
        pass

    parsed = tools.find("f").parse(
        {"at": "2024-01-02T03:04:05", "point": {"x": "7"}, "tags": ["a", "a"]}
    )
    assert parsed == {
        "at": dt.datetime(2024, 1, 2, 3, 4, 5),  # noqa: DTZ001
        "point": Point(x=7),
        "tags": {"a"},
        "n": 3,
    }


def test_bad_arguments_are_told_in_one_sentence():
    def f(path: str, limit: int = 1):
        pass

    with pytest.raises(ValueError) as told:
        tool_of(f).spec.parse({"limit": "ten", "color": 1})
    assert str(told.value) == (
        "The arguments do not fit: path is missing; limit is 'ten', but input should be a valid "
        "integer, unable to parse string as an integer; color is unknown. "
        "The arguments are: path, limit."
    )


def test_a_validator_that_raises_anything_makes_invalid_arguments():
    def fail(value: Any) -> Any:
        raise KeyError("no")

    tools = Toolbox()

    @tools.tool
    def f(x: Annotated[int, pydantic.BeforeValidator(fail)]):
        pass

    with pytest.raises(ValueError, match="could not be checked"):
        tools.find("f").parse({"x": 1})


def test_a_body_that_changes_its_arguments_does_not_change_the_record():
    def f(items: Any):
        items.append(1)

    args = {"items": [0]}
    tool = tool_of(f)
    tool.call(tool.spec.parse(args), None)
    assert args == {"items": [0]}


def test_a_mutable_default_is_fresh_in_every_call():
    def f(items: list = []):  # noqa: B006
        items.append(1)
        return items

    tool = tool_of(f)
    assert [tool.call(tool.spec.parse({}), None) for _ in "ab"] == [[1], [1]]


def test_any_name_may_be_a_parameter():
    def f(copy: int, json: int, schema: int, model_x: int, _private: int, class_: int):
        return copy + json + schema + model_x + _private + class_

    tool = tool_of(f)
    names = ["copy", "json", "schema", "model_x", "_private", "class_"]
    assert list(tool.spec.parameters["properties"]) == names
    assert tool.call(tool.spec.parse(dict.fromkeys(names, 1)), None) == 6


def test_keyword_arguments_of_any_name_are_taken_where_the_function_takes_them():
    def f(a: int, **rest: Any):
        return a, rest

    tool = tool_of(f)
    assert tool.spec.parameters["additionalProperties"] is True
    assert tool.call(tool.spec.parse({"a": "1", "b": 2}), None) == (1, {"b": 2})


def test_annotations_may_name_what_is_local_to_the_place_of_declaration():
    class Local(pydantic.BaseModel):
        x: int

    def f(a: Local):
        return a.x

    tools = Toolbox()
    tools.tool(f)
    tool = tools.get("f")
    assert tool.call(tool.spec.parse({"a": {"x": 1}}), None) == 1


def test_annotations_are_those_of_the_module_that_the_function_was_written_in():
    module = {"__name__": "elsewhere"}
    exec(
        "from __future__ import annotations\n"
        "class Meant(str): pass\n"
        "def f(a: Meant = ''): return a\n",
        module,
    )

    class Meant(pydantic.BaseModel):  # the same name here is another thing
        x: int

    tools = Toolbox()
    tools.tool(name="t")(module["f"])
    with pytest.raises(UsageError, match="type of parameter 'a'"):
        tools.get("t")


def test_an_annotation_that_names_nothing_is_told_when_the_tool_is_asked_for():
    def f(a: Nowhere):  # noqa: F821
        pass

    tools = Toolbox()
    tools.tool(f)
    with pytest.raises(UsageError, match=r"'Nowhere' of parameter 'a' cannot be resolved"):
        tools.get("f")


def test_a_type_without_a_schema_is_told_with_its_parameter():
    class Odd:
        pass

    def f(fine: int, odd: Odd):
        pass

    with pytest.raises(UsageError, match="type of parameter 'odd' has no JSON Schema"):
        _get(f, Odd)


def _get(function, _local):
    function.__annotations__["odd"] = _local
    tools = Toolbox()
    tools.tool(function)
    return tools.get(function.__name__)


def test_the_context_is_found_by_annotation_or_name_and_never_shown():
    def annotated(x: int, c: Context):
        return x, c

    def optional(x: int, c: Context | None = None):
        return x, c

    def named(x: int, ctx=None):
        return x, ctx

    for function, name in ((annotated, "c"), (optional, "c"), (named, "ctx")):
        tool = tool_of(function)
        assert tool.context == name
        assert list(tool.spec.parameters["properties"]) == ["x"]
        assert tool.call(tool.spec.parse({"x": 1}), "here") == (1, "here")
        with pytest.raises(ValueError, match="is unknown"):
            tool.spec.parse({"x": 1, name: 2})


def test_two_contexts_are_refused():
    def f(a: Context, ctx: Context):
        pass

    with pytest.raises(UsageError, match="both take the context"):
        Toolbox().tool(f)


async def _coroutine(x: int = 0):
    return x


class _AsyncCallable:
    async def __call__(self, x: int = 0):
        """Call it."""
        return x


class _Callable:
    """A thing to call."""

    def __call__(self, x: int = 0):
        return x


@pytest.mark.parametrize(
    ("function", "is_async"),
    [
        (_coroutine, True),
        (functools.partial(_coroutine), True),
        (functools.partial(functools.partial(_coroutine), x=1), True),
        (_AsyncCallable(), True),
        (_AsyncCallable().__call__, True),
        (functools.partial(_AsyncCallable()), True),
        (_Callable(), False),
        (lambda x=0: x, False),
    ],
)
def test_async_bodies_are_told_apart(function, is_async):
    assert tool_of(function, name="t").is_async is is_async


def test_what_a_partial_binds_is_hidden_from_the_model():
    def f(token: str, path: str):
        return token, path

    tool = tool_of(functools.partial(f, token="secret"))
    assert "token" not in str(tool.spec.parameters)
    assert tool.spec.name == "f"
    assert tool.call(tool.spec.parse({"path": "p"}), None) == ("secret", "p")


def test_docstrings_of_callable_objects_are_found():
    assert tool_of(_Callable(), name="t").spec.description == "A thing to call."
    assert tool_of(_AsyncCallable(), name="t").spec.description == "Call it."


def _generator():
    yield 1


async def _async_generator():
    yield 1


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (_generator, "is a generator"),
        (_async_generator, "is a generator"),
        (functools.partial(_async_generator), "is a generator"),
        (int, "Use a function"),
        (3, "Use a function"),
        (lambda *a: a, "only be given by place"),
        (lambda a, /: a, "only be given by place"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_at_once(function, words):
    with pytest.raises(UsageError, match=words):
        Toolbox().tool(name="t")(function)


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"uses": ["s"]}, "tool 't': uses is ['s']. Use a mapping of names to units."),
        ({"idempotent": "no"}, "tool 't': idempotent is 'no'. Use True or False."),
        ({"idempotent": 1}, "tool 't': idempotent is 1. Use True or False."),
        ({"reads": 5}, "tool 't': reads is 5. Use a list of lock keys or a function"),
        ({"writes": [1]}, "tool 't': writes is [1]. Use a list of lock keys or a function"),
    ],
)
def test_a_declaration_of_the_wrong_kind_is_refused_and_never_taken_for_a_yes(declared, words):
    with pytest.raises(UsageError, match=re.escape(words)):
        Toolbox().tool(name="t", **declared)(lambda x: x)


@pytest.mark.parametrize("name", ["", " a", "a\n", 3])
def test_names_that_a_call_could_not_have_are_refused(name):
    with pytest.raises(UsageError, match="not usable"):
        Toolbox().tool(name=name)(lambda: 1)


def test_a_lambda_needs_a_name():
    with pytest.raises(UsageError, match="has no name"):
        Toolbox().tool(lambda: 1)


@pytest.mark.parametrize(
    "options",
    [
        {"safe": "yes"},
        {"safe": 1},
        {"reads": "file:x"},
        {"writes": [1]},
        {"uses": {"cpu": 0}},
        {"uses": {"cpu": True}},
        {"timeout": 0},
        {"timeout": float("nan")},
        {"timeout": True},
    ],
)
def test_declarations_that_are_not_allowed_are_refused(options):
    with pytest.raises(UsageError, match=next(iter(options))):
        Toolbox().tool(name="t", **options)(lambda: 1)


def test_an_option_that_there_is_not_is_refused_with_the_nearest_one():
    tools = Toolbox()
    with pytest.raises(UsageError, match=r"'saef' is no option of a tool. Did you mean 'safe'\?"):
        tools.tool(saef=True)
    with pytest.raises(UsageError, match="Use one of: name, description, safe, reads"):
        tools.tool(zzz=True)


def test_a_declared_function_gets_the_arguments_that_it_names():
    def f(path: str, text: str):
        pass

    spec = tool_of(
        f,
        safe=lambda: True,
        reads=lambda path: [path],
        writes=lambda text, **rest: [text, *rest],
    ).spec
    args = spec.parse({"path": "p", "text": "t"})
    assert spec.safe(args) is True
    assert spec.reads(args) == ["p"]
    assert spec.writes(args) == ["t", "path"]


def test_a_declared_function_may_take_its_arguments_by_place():
    def keys(path, /):
        return [path]

    assert tool_of(lambda path: 1, name="t", reads=keys).spec.reads({"path": "p"}) == ["p"]


def test_a_declared_function_that_asks_for_what_the_tool_has_not_is_refused():
    with pytest.raises(UsageError, match=r"reads asks for 'paht'. Use .* \(path\)"):
        Toolbox().tool(name="t", reads=lambda paht: [])(lambda path: 1)


def test_declared_empty_is_not_undeclared():
    assert tool_of(lambda: 1, name="t", writes=[]).spec.writes == ()
    assert tool_of(lambda: 1, name="t").spec.writes is None


def test_a_name_is_taken_once_unless_replaced():
    tools = Toolbox()
    tools.tool(name="t")(lambda: 1)
    with pytest.raises(UsageError, match="'t' is there already"):
        tools.tool(name="t")(lambda: 2)
    tools.tool(name="t", replace=True)(lambda: 2)
    assert tools.get("t").call({}, None) == 2


def test_every_change_counts_the_version_up():
    tools, other = Toolbox(), Toolbox()
    other.tool(name="o")(lambda: 1)
    seen = [tools.version]
    for change in (
        lambda: tools.tool(name="a")(lambda: 1),
        lambda: tools.add(ToolSpec("b"), lambda: 1),
        lambda: tools.add(ToolSpec("b"), lambda: 1, replace=True),
        lambda: tools.include(other),
        lambda: tools.remove("a"),
    ):
        change()
        seen.append(tools.version)
    assert seen == sorted(set(seen))
    version = tools.version
    assert tools.names() == ("b", "o")
    assert [tool.spec.name for tool in tools] == ["b", "o"]
    assert tools.find("a") is None
    assert tools.version == version


def test_a_tool_is_made_once():
    tools = Toolbox()
    tools.tool(name="t")(lambda: 1)
    assert tools.get("t") is tools.get("t")
    assert tools.find("t") is tools.get("t").spec


def test_including_a_box_that_shares_a_name_adds_nothing():
    tools, other = Toolbox(), Toolbox()
    for name in "ab":
        other.tool(name=name)(lambda: 1)
    tools.tool(name="b")(lambda: 2)
    with pytest.raises(UsageError, match="'b' is there already"):
        tools.include(other)
    assert tools.names() == ("b",)


def test_removing_what_is_not_there_is_told():
    with pytest.raises(UsageError, match="'x' is not there"):
        Toolbox().remove("x")


def test_a_ready_declaration_gets_a_light_check_of_its_schema():
    schema = {
        "type": "object",
        "properties": {"path": {"type": "string"}, "n": {"type": ["integer", "null"]}},
        "required": ["path"],
        "additionalProperties": False,
    }
    tools = Toolbox()
    tools.add(ToolSpec("t", parameters=schema), lambda **args: args)
    parse = tools.find("t").parse
    assert parse({"path": "p", "n": None}) == {"path": "p", "n": None}
    with pytest.raises(ValueError) as told:
        parse({"n": "x", "m": 1})
    assert str(told.value) == (
        "The arguments do not fit: path is missing; n is 'x', but should be integer or null; "
        "m is unknown (known: n, path)."
    )


def test_a_ready_declaration_without_a_body_is_refused():
    with pytest.raises(UsageError, match="has no body"):
        Toolbox().add(ToolSpec("t"))


def test_a_parameter_of_the_schema_is_no_context():
    tools = Toolbox()
    schema = {"type": "object", "properties": {"ctx": {"type": "string"}}}
    tools.add(ToolSpec("t", parameters=schema), lambda ctx: ctx)
    assert tools.get("t").call({"ctx": "theirs"}, "ours") == "theirs"


def test_restricting_keeps_tools_that_are_bound_to_no_root(tmp_path):
    tools = Toolbox()
    tools.tool(name="t")(lambda: 1)
    assert tools.restrict(root=tmp_path).get("t") is tools.get("t")


def test_a_tool_that_replaces_a_bound_one_stays_bound(tmp_path):
    tools = Toolbox()
    tools.tool(name="t")(lambda path: path)
    seen = []

    def narrow(tool, root):
        seen.append((tool.spec.name, root))
        return tool

    tools.add(replace(tools.get("t"), narrow=narrow), replace=True)
    tools.tool(name="t", replace=True)(lambda path: path * 2)
    tools.restrict(root=tmp_path)
    assert seen == [("t", tmp_path)]


def test_declaring_tools_does_not_load_pydantic():
    code = (
        "import sys\n"
        "from toolflow.runtime.toolbox import Toolbox\n"
        "tools = Toolbox()\n"
        "tools.tool(name='t', reads=lambda path: [])(lambda path: 1)\n"
        "assert 'pydantic' not in sys.modules\n"
        "tools.definitions()\n"
        "assert 'pydantic' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
