"""Calls that are written as Python call text: parsed, never evaluated.

Only the syntax is looked at: a name (with dots) and literals. Anything that would have to be run to
have a value (a variable, another call, an operator) is refused, and the call keeps its text. A
sandboxed ``eval`` was no alternative: there is none, and nothing here needs a value that is not
written out. What has no name (``sort('a.txt')``) is put under ``*args``, which no parameter can be
called; the names of parameters stand in a tool's schema, which is not here.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any

MAX_TEXT = 100_000
_MAX_DEPTH = 100
_NAME = re.compile(r"\s{0,100}([A-Za-z_][\w.]{0,200})\s{0,100}\(")
_ODD = re.compile(r"\\|[0-9.][A-Za-z_]")
POSITIONAL = "*args"


class _UnfitError(ValueError):
    """Text that is no call of literals."""


def read_call(text: str) -> dict[str, Any]:
    """A call of its text.

    Args:
        text: Such as ``mv(source='a', destination='b')``.

    Returns:
        ``tool`` and ``args``. Where it is no call of literals, the tool is the name before the
        first bracket, or empty, and the arguments are the text: a problem of that call.
    """
    try:
        return _call(_parsed(text))
    except (_UnfitError, SyntaxError, ValueError, RecursionError, MemoryError):
        found = _NAME.match(text)
        return {"tool": found[1] if found else "", "args": text or "()"}


def _parsed(text: str) -> ast.expr:
    if len(text) > MAX_TEXT:
        raise _UnfitError
    if not _ODD.search(text):
        return ast.parse(text.strip(), mode="eval").body
    with warnings.catch_warnings():  # slow, so only for texts of which Python may warn
        warnings.simplefilter("ignore")  # an odd escape in a text is the text's own matter
        return ast.parse(text.strip(), mode="eval").body


def _call(node: ast.expr) -> dict[str, Any]:
    if not isinstance(node, ast.Call):
        raise _UnfitError
    args: dict[str, Any] = {}
    if node.args:
        args[POSITIONAL] = [_value(arg, 0) for arg in node.args]
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg in args:
            raise _UnfitError
        args[keyword.arg] = _value(keyword.value, 0)
    return {"tool": _name(node.func), "args": args}


def _name(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        raise _UnfitError
    return ".".join([node.id, *reversed(parts)])


def _value(node: ast.expr, depth: int) -> Any:
    if depth > _MAX_DEPTH:
        raise _UnfitError
    if isinstance(node, ast.Constant):
        return _constant(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = _value(node.operand, depth + 1)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(item, depth + 1) for item in node.elts]
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        return {_key(key, depth): _value(value, depth + 1) for key, value in pairs}
    raise _UnfitError


def _key(node: ast.expr | None, depth: int) -> str:
    key = None if node is None else _value(node, depth + 1)
    if not isinstance(key, str):
        raise _UnfitError
    return key


def _constant(value: Any) -> Any:
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise _UnfitError
