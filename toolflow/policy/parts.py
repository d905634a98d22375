"""From the text of an expression to functions. Only loaded where a text holds ``{{``."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jinja2 import TemplateError, TemplateSyntaxError, Undefined, nodes

from toolflow.policy.expressions import Evaluate, ExpressionError, Names
from toolflow.policy.sandbox import (
    ENVIRONMENT,
    expression_function,
    filters_in,
    shell_effects_of,
)

# What compiling raises for text that is too large or nested too deep for Python's own compiler.
_TOO_MUCH = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError)
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "in": lambda item, items: item in items,
    "notin": lambda item, items: item not in items,
}
_PLAIN = frozenset({str, bool, int, float, list, dict, tuple, type(None)})
_OWN = frozenset({"file_key", "dir_key", "host_key", "expand_home"})


def compile_parts(text: str, names: frozenset[str]) -> tuple[str | Evaluate, ...]:
    """Compile the parts of a text.

    Args:
        text: The text.
        names: The names that its expressions may use.

    Returns:
        Plain text and functions, in order.

    Raises:
        ExpressionError: If the text cannot be compiled.
    """
    try:
        tree = ENVIRONMENT.parse(text)
        parts = [_part(node) for output in tree.body for node in _output(output)]
        _check_names(tree, names)
    except TemplateSyntaxError as error:
        place = f" (line {error.lineno} of it)" if error.lineno > 1 else ""
        said = (error.message or "the syntax is wrong").rstrip(".")
        raise ExpressionError(f"It cannot be read{place}: {said}.") from error
    except TemplateError as error:
        raise ExpressionError(f"It cannot be read: {error}.") from error
    except _TOO_MUCH as error:
        raise ExpressionError("It cannot be read: it is too large or too deep.") from error
    return tuple(parts) or ("",)


def _output(node: nodes.Node) -> list[nodes.Expr]:
    if isinstance(node, nodes.Output):
        return node.nodes
    raise ExpressionError(
        f"It holds a {type(node).__name__.lower()} statement. "
        "Use expressions {{ ... }} only; 'a if b else c' chooses."
    )


def _check_names(tree: nodes.Template, names: frozenset[str]) -> None:
    allowed = names | set(ENVIRONMENT.globals)
    for node in tree.find_all(nodes.Name):
        if node.name not in allowed:
            known = ", ".join(sorted(names))
            raise ExpressionError(f"The name {node.name!r} is not known. Use {known}.")


def _part(node: nodes.Expr) -> str | Evaluate:
    if isinstance(node, nodes.TemplateData):
        return node.data
    chain = _chain(node)
    if chain is not None:
        return _defined(chain, _spelled(node))
    made = _defined(expression_function(node), _spelled(node))
    return lambda names: _whole(_taken(made(names)))


def _taken(value: Any) -> Any:
    """What ``map`` and its like give is worked out here, where its errors are the expression's."""
    return [*value] if isinstance(value, Iterator) else value


def _whole(value: Any) -> Any:
    """A value in which nothing is undefined, however deep it stands."""
    if isinstance(value, list | tuple):
        for inner in value:
            _whole(inner)
    elif isinstance(value, Mapping):
        for inner in value.values():
            _whole(inner)
    elif isinstance(value, Undefined):
        str(value)  # a strict undefined value raises here, with its own words
    return value


def _defined(evaluate: Evaluate, spelled: str) -> Evaluate:
    def defined(names: Names) -> Any:
        value = evaluate(names)
        if type(value) in _PLAIN:
            return value
        if isinstance(value, Undefined):
            if spelled:
                raise ExpressionError(f"{spelled} is not there")
            str(value)  # a strict undefined value raises here, with its own words
        if isinstance(value, str) and type(value) is not str:
            return str.__str__(value)  # marked-up text of Jinja's is text
        return value

    return defined


def _chain(node: nodes.Expr) -> Evaluate | None:
    """Closures for the plainest expressions; ``None`` for all others, which Jinja2 evaluates."""
    if isinstance(node, nodes.Const):
        return _constant(node.value)
    if isinstance(node, nodes.Name):
        name = node.name
        return None if name in ENVIRONMENT.globals else operator.itemgetter(name)
    if isinstance(node, nodes.Getattr):
        return _item(node.node, node.attr)
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const):
        key = node.arg.value
        return _item(node.node, key) if isinstance(key, str) else None
    if isinstance(node, nodes.Filter) and node.name in _OWN and node.node is not None:
        plain = not (node.args or node.kwargs or node.dyn_args or node.dyn_kwargs)
        return _filter(node.node, node.name) if plain else None
    if isinstance(node, nodes.Call):
        return _shell(node)
    return _logic(node)


def _shell(node: nodes.Call) -> Evaluate | None:
    """A closure for ``shell_effects(value)``: rules about shells are asked for every command."""
    function = node.node
    plain = len(node.args) == 1 and not (node.kwargs or node.dyn_args or node.dyn_kwargs)
    if not plain or not isinstance(function, nodes.Name) or function.name != "shell_effects":
        return None
    value_of = _value(node.args[0])
    return None if value_of is None else lambda names: shell_effects_of(value_of(names))


def _logic(node: nodes.Expr) -> Evaluate | None:
    """Closures for comparisons, ``and``, ``or`` and ``not``: what most conditions are made of."""
    if isinstance(node, nodes.List | nodes.Tuple):
        values = [item.value for item in node.items if isinstance(item, nodes.Const)]
        made = values if isinstance(node, nodes.List) else tuple(values)
        return _constant(made) if len(values) == len(node.items) else None
    if isinstance(node, nodes.Not):
        value = _value(node.node)
        return None if value is None else lambda names: not value(names)
    if isinstance(node, nodes.And | nodes.Or):
        left, right = _value(node.left), _value(node.right)
        if left is None or right is None:
            return None
        if isinstance(node, nodes.And):
            return lambda names: left(names) and right(names)
        return lambda names: left(names) or right(names)
    if isinstance(node, nodes.Compare) and len(node.ops) == 1:
        return _comparison(node.expr, node.ops[0])
    return None


def _comparison(expression: nodes.Expr, against: nodes.Operand) -> Evaluate | None:
    """A closure that compares two values; most conditions compare with a constant."""
    compare = _COMPARE.get(against.op)
    left, right = _value(expression), _value(against.expr)
    if compare is None or left is None or right is None:
        return None
    if isinstance(against.expr, nodes.Const | nodes.List | nodes.Tuple):
        fixed = right({})
        return lambda names: compare(left(names), fixed)
    return lambda names: compare(left(names), right(names))


def _value(node: nodes.Expr) -> Evaluate | None:
    """A closure that gives a value or raises, never an undefined one."""
    inner = _chain(node)
    return None if inner is None else _defined(inner, _spelled(node))


def _constant(value: Any) -> Evaluate:
    return lambda _names: value


def _item(node: nodes.Expr, key: str) -> Evaluate | None:
    """``node.key`` and ``node["key"]``: an item of a mapping, else what Jinja2 says."""
    inner = _chain(node)
    if inner is None:
        return None
    outer, whole = _spelled(node), f"{_spelled(node)}.{key}"

    def item(names: Names) -> Any:
        value = inner(names)
        if type(value) is dict or isinstance(value, Mapping):
            try:
                return value[key]
            except KeyError:
                pass
        elif value is None:
            raise ExpressionError(f"{outer} is null, so {whole} is not there")
        return ENVIRONMENT.getattr(value, key)

    return item


def _filter(node: nodes.Expr, name: str) -> Evaluate | None:
    value_of = _value(node)
    if value_of is None:
        return None
    return lambda names: filters_in(names).apply(name, value_of(names))


def _spelled(node: nodes.Expr) -> str:
    """How a chain is written, such as ``args.path``; empty where it is no plain chain."""
    if isinstance(node, nodes.Name):
        return node.name
    if isinstance(node, nodes.Getattr):
        return f"{_spelled(node.node)}.{node.attr}"
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const):
        return f"{_spelled(node.node)}[{node.arg.value!r}]"
    return ""
