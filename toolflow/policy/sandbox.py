"""The Jinja2 environment of expressions: sandboxed, strict, and bounded (spec 4.4, 16).

Policies are untrusted, so an expression can neither reach beyond the values it is given, nor
change them, nor use much time or memory: loops are not taken, methods are called on plain values
only, repetition and powers are bounded. What is random is left out: same turn, same plan.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Final

from jinja2 import StrictUndefined, Undefined, nodes, pass_context
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

from toolflow.policy.keyfilters import KeyFilters
from toolflow.policy.patches import patch_files

MAX_SIZE: Final = 1_000_000  # characters or items that one operation may make
_MAX_BITS: Final = 10_000
_MAX_RANGE: Final = 10_000
_MAX_WRAPPED: Final = 10_000  # characters; wrapping takes longer than anything else
_WIDE = re.compile(r"%[^a-zA-Z%]*(?:\d{5}|\*)")
_PLAIN = (str, int, float, list, tuple, Mapping)
_OWN_FILTERS: Final = ("file_key", "dir_key", "host_key", "expand_home")
KEYS_NAME: Final = "_keys"  # the name under which the own filters find their `KeyFilters`


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja2's immutable sandbox with bounds, in which mappings show their items first."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def getattr(self, obj: Any, attribute: str) -> Any:
        """``args.items`` is the argument of that name, where there is one, not the method."""
        if isinstance(obj, Mapping) and attribute in obj:
            return obj[attribute]
        return super().getattr(obj, attribute)

    def is_safe_callable(self, obj: Any) -> bool:
        """Only methods of plain values, and the few global functions, are called."""
        if obj in self.globals.values():
            return True
        return isinstance(getattr(obj, "__self__", None), _PLAIN) and super().is_safe_callable(obj)

    def call(self, context: Context, obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a function with bounded arguments."""
        _check_sizes(*args, *kwargs.values())
        return super().call(context, obj, *args, **kwargs)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Work out ``*``, ``**`` and ``%`` where the result cannot become large."""
        if operator == "*":
            _check_product(left, right)
        elif operator == "**" and isinstance(left, int) and isinstance(right, int):
            _check_bits(abs(left).bit_length() * max(right, 0))
        elif operator == "%" and isinstance(left, str):
            _check_format(left)
        return super().call_binop(context, operator, left, right)


def _check_sizes(*values: Any) -> None:
    for value in values:
        if isinstance(value, int) and abs(value) > MAX_SIZE:
            raise SecurityError(f"the number {str(value)[:20]} is too large here")


def _check_bits(bits: int) -> None:
    if bits > _MAX_BITS:
        raise SecurityError("the number would become too large")


def _check_product(left: Any, right: Any) -> None:
    if isinstance(left, int) and isinstance(right, int):
        _check_bits(left.bit_length() + right.bit_length())
    for many, times in ((left, right), (right, left)):
        if isinstance(many, str | list | tuple) and isinstance(times, int):
            _check_sizes(times, len(many) * times)


def _check_format(text: str) -> None:
    if _WIDE.search(text):
        raise SecurityError("the width in a format is too large")


def _range(*args: Any) -> range:
    """Python's ``range``, bounded: filters may go over each of its numbers."""
    made = range(*args)
    if len(made) > _MAX_RANGE:
        raise SecurityError(f"a range may have {_MAX_RANGE:,} numbers at most")
    return made


def _bounded(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter of Jinja's that refuses large numbers."""

    def bounded(*args: Any, **kwargs: Any) -> Any:
        _check_sizes(*args[1:], *kwargs.values())
        return function(*args, **kwargs)

    for name, value in vars(function).items():  # how Jinja passes its context or environment
        setattr(bounded, name, value)
    return bounded


def _wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
    """``wordwrap`` that refuses long texts."""
    bounded = _bounded(function)

    def wrapping(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(value, str) and len(value) > _MAX_WRAPPED for value in args):
            raise SecurityError(f"a text to wrap may have {_MAX_WRAPPED:,} characters at most")
        return bounded(*args, **kwargs)

    vars(wrapping).update(vars(bounded))
    return wrapping


def _format(value: str, *args: Any, **kwargs: Any) -> str:
    _check_format(str(value))
    return str(value) % (kwargs or args)


def _own_filter(name: str) -> Callable[..., Any]:
    @pass_context
    def own(context: Context, value: Any) -> Any:
        if isinstance(value, Undefined):
            str(value)  # raises: what is missing has no key
        return filters_in(context).apply(name, value)

    return own


def shell_effects_of(command: Any) -> Any:
    """The function ``shell_effects`` of expressions.

    Args:
        command: A command line, or what is undefined, which raises.

    Returns:
        Its `toolflow.policy.shell.ShellEffects`.
    """
    from toolflow.policy.shell import shell_effects  # noqa: PLC0415 - most policies need no tables

    if isinstance(command, Undefined):
        str(command)  # raises: what is missing has no effects
    return shell_effects(command)


def command_line_of(command: Any, folder: Any = None) -> Any:
    """The function ``command_line`` of expressions.

    Args:
        command: A line or a list of words; what is undefined raises.
        folder: Where it runs; what is undefined, null or empty stands for the call's own folder.

    Returns:
        One line for ``shell_effects``.
    """
    from toolflow.policy.shell.argv import command_line  # noqa: PLC0415 - as above

    return command_line(_there(command), None if isinstance(folder, Undefined) else folder)


def patch_files_of(patch: Any, folder: Any = None) -> Any:
    """The function ``patch_files`` of expressions.

    Args:
        patch: A patch; what is undefined raises.
        folder: As for `command_line_of`.

    Returns:
        The files that it touches.
    """
    return patch_files(_there(patch), None if isinstance(folder, Undefined) else folder)


def _there(value: Any) -> Any:
    if isinstance(value, Undefined):
        str(value)  # raises: what is missing says nothing
    return value


def filters_in(names: Mapping[str, Any] | Context) -> KeyFilters:
    """The own filters among the names of an expression; plain ones where none were given.

    Args:
        names: The names that the expression was given.
    """
    found = names.get(KEYS_NAME)
    return found if isinstance(found, KeyFilters) else KeyFilters()


def make_environment() -> Sandbox:
    """An environment with the names and filters that expressions may use."""
    environment = Sandbox(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    keep = {
        "range": _range,
        "dict": dict,
        "shell_effects": shell_effects_of,
        "command_line": command_line_of,
        "patch_files": patch_files_of,
    }
    environment.globals.clear()
    environment.globals.update(keep)
    del environment.filters["random"]
    for name in ("batch", "center", "indent", "round", "slice", "tojson"):
        environment.filters[name] = _bounded(environment.filters[name])
    environment.filters["wordwrap"] = _wrapping(environment.filters["wordwrap"])
    environment.filters["format"] = _format
    environment.filters.update({name: _own_filter(name) for name in _OWN_FILTERS})
    return environment


ENVIRONMENT: Final = make_environment()


def expression_function(node: nodes.Expr) -> Callable[[Mapping[str, Any]], Any]:
    """Compile one expression.

    Args:
        node: The expression's syntax tree.

    Returns:
        A function from names to the value, which may be an `Undefined`.
    """
    target = nodes.Name("result", "store", lineno=node.lineno)
    body: list[nodes.Node] = [nodes.Assign(target, node, lineno=node.lineno)]
    with warnings.catch_warnings():  # of code that Jinja2 makes of ``1[2:]`` and its like
        warnings.simplefilter("ignore", SyntaxWarning)
        template = ENVIRONMENT.from_string(nodes.Template(body, lineno=1))

    def evaluate(names: Mapping[str, Any]) -> Any:
        context = template.new_context(dict(names))
        for _ in template.root_render_func(context):
            pass
        return context.vars["result"]

    return evaluate
