"""A function's signature as a JSON Schema, and as the check of a call's arguments.

Both need pydantic, whose import takes longer than all of toolflow's, so this module is imported
when a tool is first asked for.

The check is a pydantic ``TypedDict``, not a model: any name may be a parameter's name (``copy``,
``json``, ``_private``), the result is the mapping that the body is called with, and no object is
made in between.
"""

from __future__ import annotations

import functools
import reprlib
import typing
from collections.abc import Callable, Mapping
from inspect import Parameter
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypedDict  # pydantic asks for this one before Python 3.12

from toolflow.errors import UsageError
from toolflow.model.tool import Args
from toolflow.runtime.failure import brief
from toolflow.runtime.signature import Signature, hint_of

_SHOWN = 8  # bad arguments that one sentence names


class _Generator(GenerateJsonSchema):
    """Leaves out titles that repeat the name, and defaults that JSON cannot hold."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002  # its signature
        return False


def build_schema(
    signature: Signature, *, tool: str, texts: Mapping[str, str]
) -> tuple[dict[str, Any], Callable[[Args], Args]]:
    """Make the JSON Schema of a signature, and the check of a call's arguments.

    Args:
        signature: As read.
        tool: The tool's name, for messages.
        texts: What the docstring says of the parameters, by name.

    Returns:
        The schema as the model sees it, and a function that gives the parsed arguments with
        defaults filled in, or raises ``ValueError`` with one sentence (spec 3.5).

    Raises:
        UsageError: If a type cannot be resolved, or has no JSON Schema.
    """
    fields = {
        name: _field(parameter, hint_of(signature, name, tool), texts.get(name))
        for name, parameter in signature.parameters.items()
    }
    extra = "allow" if signature.takes_any else "forbid"
    try:
        adapter = TypeAdapter(_record(fields, extra))
        schema = adapter.json_schema(schema_generator=_Generator)
    except Exception as error:
        bad = next((name for name in fields if not _describable(fields[name])), "?")
        raise UsageError(
            f"tool {tool!r}: the type of parameter {bad!r} has no JSON Schema "
            f"({brief(error)}). Use types that JSON can carry."
        ) from error
    schema.pop("title", None)
    # The adapter's own function goes through a dozen options at each call.
    return schema, functools.partial(_parse, adapter.validator.validate_python, tuple(fields))


def _field(parameter: Parameter, hint: Any, text: str | None) -> Any:
    default = parameter.default
    options: dict[str, Any] = {}
    if text and not _described(hint, default):
        options["description"] = text
    if isinstance(default, FieldInfo):
        hint = typing.Annotated[hint, default]
    elif default is not parameter.empty:
        options["default"] = default
    return typing.Annotated[hint, Field(**options)] if options else hint


def _described(hint: Any, default: Any) -> bool:
    parts = (default, *getattr(hint, "__metadata__", ()))
    return any(getattr(part, "description", None) for part in parts)


def _record(fields: Mapping[str, Any], extra: str) -> Any:
    # Made at run time, which class syntax cannot do and type checkers cannot follow.
    record = TypedDict("arguments", dict(fields))  # type: ignore[misc]  # noqa: UP013
    record.__pydantic_config__ = {"extra": extra}  # type: ignore[attr-defined]  # pydantic's hook
    return record


def _describable(field: Any) -> bool:
    try:
        TypeAdapter(field).json_schema(schema_generator=_Generator)
    except Exception:  # noqa: BLE001  # whatever it is, this parameter is the one to name
        return False
    return True


def _parse(validate: Callable[[Any], Any], known: tuple[str, ...], args: Args) -> Args:
    try:
        # Containers are copied, so that a body that changes one does not change the record.
        parsed: Args = validate({name: _copy(value) for name, value in args.items()})
    except ValidationError as error:
        errors = error.errors(include_url=False, include_context=False)
        raise ValueError(_sentence(errors, known)) from None
    except RecursionError:
        raise ValueError("The arguments are nested too deeply.") from None
    except Exception as error:  # a validator of the tool's own
        raise ValueError(f"The arguments could not be checked ({brief(error)}).") from error
    return parsed


def _copy(value: Any) -> Any:
    if type(value) is dict:
        return {key: _copy(item) for key, item in value.items()}
    if type(value) is list:
        return [_copy(item) for item in value]
    return value


def _sentence(errors: list[Any], known: tuple[str, ...]) -> str:
    parts = []
    unknown = False
    for error in errors[:_SHOWN]:
        where = ".".join(str(step) for step in error["loc"]) or "the whole"
        if error["type"] == "missing":
            parts.append(f"{where} is missing")
        elif error["type"] == "extra_forbidden":
            parts.append(f"{where} is unknown")
            unknown = True
        else:
            message = error["msg"][:1].lower() + error["msg"][1:]
            parts.append(f"{where} is {reprlib.repr(error['input'])}, but {message}")
    if len(errors) > _SHOWN:
        parts.append(f"{len(errors) - _SHOWN} more")
    allowed = f" The arguments are: {', '.join(known) or 'none'}." if unknown else ""
    return f"The arguments do not fit: {'; '.join(parts)}.{allowed}"
