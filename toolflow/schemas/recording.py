"""The JSON Schema of recordings, which are read field by field and have no model (spec 10.2)."""

from __future__ import annotations

from typing import Any, get_args

from toolflow.model.outcome import Status
from toolflow.schemas.words import WORDS


def recording_schema() -> dict[str, Any]:
    """The schema of a recording, without its head."""
    fields = {
        "version": {"enum": [1, None]} | _said("The version of the format: 1."),
        "source": _maybe("object", "Where it comes from: format, path, session, cwd ..."),
        "policy_digest": _maybe("string", "The digest of the policy."),
        "policy": _maybe("string", "The policy as YAML text, with its bases."),
        "notices": _list("Notice", "What was odd when it was read."),
        "turns": {"type": "array", "items": _ref("Turn")} | _said("The turns in order."),
    }
    parts = {
        "Turn": _turn(),
        "Call": _call(),
        "Outcome": _outcome(),
        "Notice": _notice(),
        "Plan": _plan(),
        "CallPlan": _call_plan(),
        "Run": _run(),
        "Committed": _committed(),
    }
    return _object("A recording.", fields, ["turns"]) | {"$defs": parts}


def _turn() -> dict[str, Any]:
    fields = {
        "id": _text("The turn's name."),
        "message_id": _maybe("string", "The provider's id of the message."),
        "format": _maybe("string", "The wire format of the message."),
        "source": _maybe("string", "main, or the sub-agent that the turn belongs to."),
        "started_at": _maybe("string", "When it began, as ISO 8601 text."),
        "carries_ids": _maybe("boolean", "Whether the format carries ids of calls."),
        "extra": _maybe("object", "What else the document held beside the message."),
        "notices": _list("Notice", "What the reader found odd."),
        "message": _said("The provider's message, verbatim."),
        "plan": _ref("Plan") | _said("The plan, but for what stands at its calls."),
        "calls": {"type": "array", "items": _ref("Call")} | _said("The calls in order."),
        "run": _ref("Run") | _said("What all events of the run have in common."),
        "events": _maybe("string", "The events of the run, a line each."),
        "facts": _maybe("string", "What the scheduler was told, a line each."),
        "committed": _ref("Committed") | _said("What was committed to the transcript."),
        "messages": _maybe("array", "What was committed, where it cannot be written again."),
    }
    return _object("A turn and what became of it.", fields, ["id", "calls"])


def _call() -> dict[str, Any]:
    fields = {
        "id": _text("The provider's id, verbatim."),
        "tool": _text("The tool's name."),
        "args": {"type": "object"} | _said("The arguments."),
        "raw": _maybe("string", "The arguments as text, where they could not be read."),
        "problem": _maybe("string", "Why they could not be read."),
        "extra": _maybe("object", "What else the provider's block held."),
        "plan": _ref("CallPlan") | _said("What was decided about it."),
        "outcome": _ref("Outcome") | _said("How it settled."),
        "times": _maybe("string", "When things happened, in seconds: queued=0 ... stopped=0.3."),
    }
    return _object("A call.", fields, ["id", "tool"])


def _outcome() -> dict[str, Any]:
    image = {"media_type": _text("Such as image/png."), "data": _text("The bytes in base64.")}
    images = {"type": ["array", "null"], "items": _object("A picture.", image, list(image))}
    fields = {
        "status": {"enum": list(get_args(Status))} | _said("The kind of ending."),
        "value": _said("What the tool returned."),
        "error": _maybe("string", "The sentence that the model gets where it is not ok."),
        "images": images | _said("Pictures that belong to the result."),
        "note": _maybe("string", "What else is worth knowing."),
    }
    return _object("How a call settled.", fields, ["status"])


def _notice() -> dict[str, Any]:
    said = WORDS["NoticeShape"]
    kinds = {"line": ["integer", "null"], "turn": ["string", "null"], "call": ["string", "null"]}
    fields = {name: {"type": kinds.get(name, "string")} | _said(said[name]) for name in said}
    return _object("Something odd that was told.", fields, ["code", "message"])


def _plan() -> dict[str, Any]:
    said = WORDS["PlanShape"]
    lists = ("nodes", "gates", "order", "edges", "notices", "masked")
    fields = {name: {"type": "array"} | _said(said[name]) for name in lists}
    fields |= {name: {"type": "object"} | _said(said[name]) for name in ("limits", "digests")}
    fields["approvals"] = {"enum": ["inline", "first"]} | _said(said["approvals"])
    return _object("The plan of a turn, but for what stands at its calls.", fields, [])


def _call_plan() -> dict[str, Any]:
    said = WORDS["CallShape"]
    fields = {name: _said(text) for name, text in said.items() if name != "name"}
    fields["verdict"] |= {"enum": ["safe", "exclusive", "settled"]}
    fields["parsed"] = {"type": "object"} | _said("The arguments as validated.")
    return _object("What was decided about a call.", fields, ["verdict"])


def _run() -> dict[str, Any]:
    names = {
        "stops": "Calls before which it stopped.",
        "passed": "Calls whose stop point counted no more.",
        "approved": "Calls that were approved before.",
        "failed": "Calls that had failed before.",
        "prepared": "Calls whose before-hook had run before.",
        "asking": "Calls that had asked before.",
    }
    flags = {
        "hooks": "Whether there were hooks.",
        "approver": "Whether there was an approver.",
        "pausable": "Whether it could pause.",
    }
    fields = {
        "id": _maybe("string", "The run's name."),
        "source": _maybe("string", "main, or the parent call of a nested turn."),
        **{name: _maybe("boolean", text) for name, text in flags.items()},
        **{name: _maybe("array", text) for name, text in names.items()},
        "settled": _maybe("object", "Calls that had settled before, and whether wholly."),
    }
    return _object("A run.", fields, [])


def _committed() -> dict[str, Any]:
    fields = {
        "digest": _text("The digest of the messages as JSON text."),
        "results": _maybe("string", "The digest of each call's outcome."),
        "texts": _maybe("array", "What hooks told the model after the results."),
        "steering": _maybe("array", "Messages that follow the results."),
    }
    return _object("What was committed.", fields, ["digest"])


def _object(said: str, fields: dict[str, Any], required: list[str]) -> dict[str, Any]:
    named = {name: {"title": name, **field} for name, field in fields.items()}
    made = {"type": "object", "additionalProperties": False, "properties": named}
    return {"description": said, **made, **({"required": required} if required else {})}


def _said(text: str) -> dict[str, Any]:
    return {"description": text}


def _text(said: str) -> dict[str, Any]:
    return {"type": "string"} | _said(said)


def _maybe(kind: str, said: str) -> dict[str, Any]:
    return {"type": [kind, "null"]} | _said(said)


def _list(part: str, said: str) -> dict[str, Any]:
    return {"type": ["array", "null"], "items": _ref(part)} | _said(said)


def _ref(part: str) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{part}"}
