"""What an expression names: ``args.path``, ``args['path']``, ``args.get('path')``."""

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
    return frozenset(path[0] for path in paths_of(expression, "args"))


def paths_of(expression: Expression, name: str) -> frozenset[tuple[str, ...]]:
    """What an expression takes out of a name, step by step, as far as the steps are written out.

    ``{{ results.gather.a }}`` has the paths ``gather`` and ``gather, a`` of ``results``. A method
    that is called is no step, but for ``get`` with a constant.

    Args:
        expression: A compiled expression.
        name: The name.

    Returns:
        The paths and all their beginnings, without the empty one.
    """
    return frozenset() if expression.constant else _steps(expression.text, name)[0]


def takes_whole(expression: Expression, name: str) -> bool:
    """Whether an expression uses a name in another way than by a first step that is written out.

    ``{{ results | length }}`` and ``{{ results[item] }}`` do.

    Args:
        expression: A compiled expression.
        name: The name.
    """
    return not expression.constant and _steps(expression.text, name)[1]


def uses_name(expression: Expression, name: str) -> bool:
    """Whether an expression uses a name at all: ``args``, ``turn``, ``shell_effects`` ..."""
    return not expression.constant and name in _names(expression.text)


@lru_cache(maxsize=2048)
def _steps(text: str, name: str) -> tuple[frozenset[tuple[str, ...]], bool]:
    """The paths that a text takes out of a name, and whether it uses it in another way too."""
    tree = ENVIRONMENT.parse(text)
    called = {id(call.node) for call in tree.find_all(nodes.Call)}
    steps = tree.find_all((nodes.Getattr, nodes.Getitem, nodes.Call))
    paths = [path for node in steps if id(node) not in called and (path := _path(node, name))]
    named = sum(node.name == name for node in tree.find_all(nodes.Name))
    return frozenset(paths), named > sum(len(path) == 1 for path in paths)


def _path(node: nodes.Node, name: str) -> tuple[str, ...] | None:
    if isinstance(node, nodes.Name):
        return () if node.name == name else None
    if isinstance(node, nodes.Getattr):
        return _longer(node.node, name, node.attr)
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Const):
        return _longer(node.node, name, node.arg.value)
    if isinstance(node, nodes.Call) and node.args and isinstance(node.node, nodes.Getattr):
        first = node.args[0]
        if node.node.attr == "get" and isinstance(first, nodes.Const):
            return _longer(node.node.node, name, first.value)
    return None


def _longer(node: nodes.Node, name: str, step: object) -> tuple[str, ...] | None:
    before = _path(node, name)
    return None if before is None else (*before, str(step))


@lru_cache(maxsize=2048)
def _names(text: str) -> frozenset[str]:
    return frozenset(node.name for node in ENVIRONMENT.parse(text).find_all(nodes.Name))
