"""Which arguments an expression names: ``args.path``, ``args['path']``, ``args.get('path')``."""

from __future__ import annotations

from functools import lru_cache

from jinja2 import nodes

from toolflow.policy.expressions import Expression
from toolflow.policy.sandbox import ENVIRONMENT


def arguments_of(expression: Expression) -> frozenset[str]:
    """The names of arguments that an expression takes.

    Args:
        expression: A compiled expression.
    """
    return frozenset() if expression.constant else _arguments(expression.text)


def uses_name(expression: Expression, name: str) -> bool:
    """Whether an expression uses a name at all: ``args``, ``turn``, ``shell_effects`` ..."""
    return not expression.constant and name in _names(expression.text)


@lru_cache(maxsize=2048)
def _arguments(text: str) -> frozenset[str]:
    found: set[str] = set()
    tree = ENVIRONMENT.parse(text)
    called = {id(call.node) for call in tree.find_all(nodes.Call)}
    for node in tree.find_all(nodes.Getattr):
        if not _is_args(node.node):
            continue
        if id(node) not in called:
            found.add(node.attr)
    for item in tree.find_all(nodes.Getitem):
        if _is_args(item.node) and isinstance(item.arg, nodes.Const):
            found.add(str(item.arg.value))
    for call in tree.find_all(nodes.Call):
        function = call.node
        if isinstance(function, nodes.Getattr) and _is_args(function.node) and call.args:
            first = call.args[0]
            if function.attr == "get" and isinstance(first, nodes.Const):
                found.add(str(first.value))
    return frozenset(found)


@lru_cache(maxsize=2048)
def _names(text: str) -> frozenset[str]:
    return frozenset(node.name for node in ENVIRONMENT.parse(text).find_all(nodes.Name))


def _is_args(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Name) and node.name == "args"
