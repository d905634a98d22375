"""What a Python function takes from the model, and what from the runtime.

Reading a signature is cheap and happens where a tool is declared, so that a function that cannot
be a tool is told at once. What is made of it (`toolflow.runtime.schema`) needs more time.
"""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolflow.errors import UsageError
from toolflow.runtime.failure import brief


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes from the model, and what from the runtime.

    Attributes:
        parameters: The parameters that the model fills in, by name, in order.
        hints: Their types as far as they could be told yet.
        context: The name of the parameter that takes the context of the call, or ``None``.
        takes_any: Whether arguments of any other name are taken too (``**kwargs``).
        namespace: The names that annotations may use: those of the function's module.
    """

    parameters: Mapping[str, inspect.Parameter]
    hints: Mapping[str, Any]
    context: str | None
    takes_any: bool
    namespace: Mapping[str, Any]


def is_async(function: Callable[..., Any]) -> bool:
    """Whether calling it gives an awaitable: coroutine functions, partials and callables too."""
    function = _without_partials(function)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(type(function), "__call__", None)  # noqa: B004  # asks what kind, not whether
    )


def plain_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function under partials, callable objects and wrappers: the one that says names."""
    function = _without_partials(function)
    if not inspect.isroutine(function):
        function = type(function).__call__
    plain: Callable[..., Any] = inspect.unwrap(function)
    return plain


def documentation(function: Callable[..., Any]) -> str | None:
    """The docstring of a function, or of the callable object, or ``None``."""
    plain = plain_function(function)
    if inspect.isroutine(_without_partials(function)) or plain.__doc__:
        return plain.__doc__
    return type(_without_partials(function)).__doc__


def read_signature(
    function: Callable[..., Any], *, tool: str, names: Mapping[str, Any] | None = None
) -> Signature:
    """Read what a function takes, and refuse what cannot be a tool.

    Arguments that a ``functools.partial`` binds by name are hidden from the model.

    Args:
        function: A function, coroutine function, method, partial or callable object.
        tool: The tool's name, for messages.
        names: Further names that annotations may use, such as those of the place of declaration.

    Returns:
        The signature; annotations that name something not yet there are resolved later.

    Raises:
        UsageError: If it is a class or a generator, takes arguments by place only, or has two
            parameters for the context.
    """
    _refuse(function, tool)
    plain = plain_function(function)
    namespace = getattr(plain, "__globals__", {})
    parameters: dict[str, inspect.Parameter] = {}
    takes_any = False
    bound = function.keywords if isinstance(function, functools.partial) else {}
    for name, parameter in _parameters(function, tool).items():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
            raise UsageError(
                f"tool {tool!r}: parameter '{star}{name}' can only be given by place. "
                "A tool takes its arguments by name."
            )
        if parameter.kind is parameter.VAR_KEYWORD:
            takes_any = True
        elif name not in bound:
            parameters[name] = parameter
    hints = {}
    for name, parameter in parameters.items():
        try:
            hints[name] = _resolve(parameter, namespace, names)
        except Exception:  # noqa: BLE001, S112  # it may name what is defined further down
            continue
    context = _context(parameters, hints, tool)
    if context is not None:
        del parameters[context]
    return Signature(parameters, hints, context, takes_any, namespace)


def hint_of(signature: Signature, name: str, tool: str) -> Any:
    """The type of a parameter, resolved now at the latest.

    Args:
        signature: As read.
        name: One of its parameters.
        tool: The tool's name, for messages.

    Raises:
        UsageError: If the annotation names something that its module does not know.
    """
    if name in signature.hints:
        return signature.hints[name]
    parameter = signature.parameters[name]
    try:
        return _resolve(parameter, signature.namespace, None)
    except Exception as error:
        raise UsageError(
            f"tool {tool!r}: the annotation {parameter.annotation!r} of parameter {name!r} "
            f"cannot be resolved ({brief(error)}). Name something that its module knows."
        ) from error


def _without_partials(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _refuse(function: Any, tool: str) -> None:
    inner = _without_partials(function)
    if inspect.isclass(inner) or not callable(inner):
        raise UsageError(f"tool {tool!r} is {function!r}. Use a function.")
    for body in (inner, getattr(type(inner), "__call__", None)):  # noqa: B004  # as above
        if inspect.isasyncgenfunction(body) or inspect.isgeneratorfunction(body):
            raise UsageError(
                f"tool {tool!r} is a generator. A tool returns its whole result at once."
            )


def _parameters(function: Callable[..., Any], tool: str) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (ValueError, TypeError) as error:
        raise UsageError(
            f"tool {tool!r}: its signature cannot be read ({brief(error)}). "
            "Wrap it in a function of your own."
        ) from error


def _resolve(
    parameter: inspect.Parameter, namespace: Mapping[str, Any], names: Mapping[str, Any] | None
) -> Any:
    if parameter.annotation is parameter.empty:
        return Any
    holder = types.SimpleNamespace(__annotations__={"it": parameter.annotation})
    hints = typing.get_type_hints(
        holder, dict(namespace), None if names is None else dict(names), include_extras=True
    )
    return hints["it"]


def _context(
    parameters: Mapping[str, inspect.Parameter], hints: Mapping[str, Any], tool: str
) -> str | None:
    found = [
        name
        for name, parameter in parameters.items()
        if name == "ctx" or _is_context(hints.get(name, parameter.annotation))
    ]
    if len(found) > 1:
        raise UsageError(
            f"tool {tool!r}: the parameters {' and '.join(map(repr, found))} both take the "
            "context of the call. Use one."
        )
    return found[0] if found else None


def _is_context(annotation: Any) -> bool:
    """By name, for the class itself may be known to type checkers only."""
    if isinstance(annotation, str):
        bare = annotation.replace(" ", "").removesuffix("|None")
        return bare.split("[")[0].split(".")[-1] == "Context"
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return any(_is_context(part) for part in typing.get_args(annotation))
    kind = typing.get_origin(annotation) or annotation
    return (
        inspect.isclass(kind)
        and kind.__name__ == "Context"
        and kind.__module__.startswith("toolflow.")
    )
