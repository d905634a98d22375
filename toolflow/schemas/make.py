"""From the models of the loaders to JSON Schema 2020-12, with a text for every field."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from toolflow.errors import UsageError
from toolflow.schemas.recording import recording_schema
from toolflow.schemas.words import WORDS

if TYPE_CHECKING:
    from pydantic import BaseModel

Kind = Literal["policy", "flow", "plan", "recording"]
KINDS: Final = get_args(Kind)
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_ID: Final = "urn:toolflow:schema:{}:1"
_TITLES: Final = {
    "policy": "A policy of toolflow",
    "flow": "A flow of toolflow",
    "plan": "A plan of toolflow",
    "recording": "A recording of toolflow",
}
_ENTRY: Final = re.compile(r"^    (\w+): (.+(?:\n     .+)*)", re.MULTILINE)


def json_schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of a YAML format.

    Args:
        kind: ``policy``, ``flow``, ``plan`` or ``recording``.

    Returns:
        A schema of the draft 2020-12.

    Raises:
        UsageError: If there is no such format.
    """
    if kind not in KINDS:
        raise UsageError(f"There is no schema of {kind!r}. Use one of: {', '.join(KINDS)}.")
    made = _MAKERS[kind]()
    head = {"$schema": _DIALECT, "$id": _ID.format(kind), "title": _TITLES[kind]}
    made.pop("title", None)
    return {**head, **made}


def schema_text(kind: str) -> str:
    """The JSON Schema of a YAML format as JSON text.

    Args:
        kind: As for `json_schema`.

    Raises:
        UsageError: As `json_schema`.
    """
    return json.dumps(json_schema(kind), indent=2, ensure_ascii=False) + "\n"


def _policy() -> dict[str, Any]:
    from toolflow.policy.schema import PolicyFile  # noqa: PLC0415 - loads pydantic

    schema = _of_model(PolicyFile)
    parts = schema["$defs"]
    rule = parts["RulePart"]
    for name, field in rule["properties"].items():
        if name != "timeout":  # where null lifts the limit
            _without_null(field)
    rule["anyOf"] = [{"required": ["tool"]}, {"required": ["server"]}]
    one = {"type": "string", "pattern": r"^[^*?\[]+$"}
    tool = {"anyOf": [one, {"type": "array", "items": one, "minItems": 1, "maxItems": 1}]}
    rule["dependentSchemas"] = {"aliases": {"required": ["tool"], "properties": {"tool": tool}}}
    limits = parts["LimitsPart"]["properties"]
    limits["resources"]["propertyNames"] = {"not": {"pattern": "^(tool|server):"}}
    return schema


def _flow() -> dict[str, Any]:
    from toolflow.flow.schema import FlowSpec  # noqa: PLC0415 - loads pydantic

    schema, policy = _of_model(FlowSpec), _policy()
    schema["$defs"] |= policy.pop("$defs")
    schema["$defs"]["Policy"] = {**policy, "title": _TITLES["policy"]}
    schema["properties"]["policy"]["anyOf"] = [
        {"type": "string"},
        {"$ref": "#/$defs/Policy"},
        {"type": "null"},
    ]
    parts = schema["$defs"]
    server = parts["McpServer"]["properties"]
    timeout = parts["DefaultsPart"]["properties"]["timeout"]["anyOf"]
    shell = parts["ShellTool"]["properties"]
    for fields, name in ((server, "start_timeout"), (shell, "timeout")):
        fields[name] = {**fields[name], "anyOf": timeout}
    for fields, name in ((parts["StageSpec"], "when"), (parts["CallSpec"], "foreach")):
        text = next(one for one in fields["properties"][name]["anyOf"] if one["type"] == "string")
        text["pattern"] = r"\{\{"  # all other text is text, never true and no list
    server["url"]["anyOf"][0]["pattern"] = r"^[hH][tT][tT][pP][sS]?://[^\s/?#]+\S*$"
    names = {"pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"}
    parts["Tools"]["properties"]["mcp"]["propertyNames"] = names
    calls = {"required": ["calls"], "properties": {"calls": {"minItems": 1}}}
    message = {"required": ["message"], "properties": {"message": {"not": {"type": "null"}}}}
    parts["StageSpec"]["oneOf"] = [calls, message]
    given = {name: {"properties": {name: {"type": "string"}}, "required": [name]}
             for name in ("command", "url")}  # fmt: skip
    parts["McpServer"]["oneOf"] = [
        {**given["command"], "not": {"anyOf": [given["url"], {"required": ["headers"]}]}},
        {
            **given["url"],
            "not": {
                "anyOf": [
                    given["command"],
                    *({"required": [name]} for name in ("args", "env", "cwd")),
                ]
            },
        },
    ]
    return schema


def _plan() -> dict[str, Any]:
    from toolflow.compiler.schema import PlanShape  # noqa: PLC0415 - loads pydantic

    schema = _of_model(PlanShape)
    call = schema["$defs"]["CallShape"]
    kinds = {"args": "object", "args_json": "string"}
    call["oneOf"] = [
        {"required": [name], "properties": {name: {"type": kind}}} for name, kind in kinds.items()
    ]
    settled = {"properties": {"verdict": {"const": "settled"}}}
    status = {"required": ["status"], "properties": {"status": {"not": {"type": "null"}}}}
    none = {"properties": {"status": {"type": "null"}}}
    call.update({"if": settled, "then": status, "else": none})
    return schema


_MAKERS: Final[Mapping[str, Callable[[], dict[str, Any]]]] = {
    "policy": _policy,
    "flow": _flow,
    "plan": _plan,
    "recording": recording_schema,
}


def _of_model(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model, every field with its text; what the model says is not lost."""
    schema = model.model_json_schema(by_alias=True, mode="validation")
    for name, part in {model.__name__: schema, **schema.get("$defs", {})}.items():
        part["title"] = _spaced(name)
        words = {**_documented(str(part.get("description", ""))), **WORDS.get(name, {})}
        if "description" in part:
            part["description"] = part["description"].split("\n\n")[0].replace("``", "")
        for field, said in part.get("properties", {}).items():
            said["title"] = field
            if field in words:
                said["description"] = words[field]
    return schema


def _documented(text: str) -> dict[str, str]:
    """What a class's docstring says of its attributes."""
    found = _ENTRY.findall(text)
    return {name: " ".join(said.split()).replace("``", "") for name, said in found}


def _spaced(name: str) -> str:
    words = re.findall("[A-Z][a-z]*", name)
    return " ".join(word.lower() for word in words if word not in {"Part", "Spec", "Shape"})


def _without_null(field: dict[str, Any]) -> None:
    """Take the null out of what may stand in a field."""
    kinds = field.get("anyOf")
    if kinds is None:
        return
    field["anyOf"] = [kind for kind in kinds if kind != {"type": "null"}]
    if field.get("default", 0) is None:
        del field["default"]
    if len(field["anyOf"]) == 1:
        field.update(field.pop("anyOf")[0])
