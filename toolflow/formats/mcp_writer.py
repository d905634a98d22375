"""Writes a turn and its outcomes as MCP messages (spec 3.1).

One JSON-RPC response a call, in call order, each with a ``CallToolResult``; of a batch too, since
the protocol took batches back and the responses may go out one by one. A failed call is a result
with ``isError``, not a JSON-RPC error: only that reaches the model. What the user says has no place
in the protocol and is left to the caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from toolflow.formats.base import Messages
from toolflow.formats.ids import ANY_TEXT, SURROGATE
from toolflow.formats.layout import of_batches
from toolflow.formats.mcp_results import is_response
from toolflow.formats.plain import plain
from toolflow.formats.results import is_error, result_text
from toolflow.model import Call, Outcome, Turn

ID_RULE = ANY_TEXT
_PICTURE = "image/"


def write(
    turn: Turn,
    outcomes: Sequence[Outcome],
    ids: Sequence[str],
    texts: Sequence[str],  # noqa: ARG001  # see above
) -> Messages:
    """Write a turn (see `toolflow.formats.write_turn`)."""
    message, requests = _requests(turn, ids)
    results = [
        _response(request, outcome) for request, outcome in zip(requests, outcomes, strict=True)
    ]
    return [message], results


def _response(request: dict[str, Any], outcome: Outcome) -> dict[str, Any]:
    result = _result(outcome)
    if "jsonrpc" not in request:
        return result
    return {"jsonrpc": "2.0", "id": request["id"], "result": result}


def _result(outcome: Outcome) -> dict[str, Any]:
    kinds = {image.media_type for image in outcome.images}
    text = result_text(outcome, {kind for kind in kinds if kind.startswith(_PICTURE)})
    content: list[dict[str, Any]] = [{"type": "text", "text": text}] if text else []
    content += [
        {"type": "image", "data": image.data, "mimeType": image.media_type}
        for image in outcome.images
        if image.media_type.startswith(_PICTURE)
    ]
    result: dict[str, Any] = {"content": content}
    if isinstance(outcome.value, dict) and outcome.error is None:
        result["structuredContent"] = _whole(outcome.value)
    if is_error(outcome):
        result["isError"] = True
    return result


def _whole(value: Any) -> Any:
    """A JSON value without halves of characters; `result_text` has found it writable."""
    if isinstance(value, str):
        return value if value.isascii() else SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_whole(str(key)): _whole(item) for key, item in value.items()}
    return [_whole(item) for item in value] if isinstance(value, list | tuple) else value


def _requests(turn: Turn, ids: Sequence[str]) -> tuple[Any, list[dict[str, Any]]]:
    """The message of the turn, and the request of each of its calls in it."""
    if turn.message is None:
        made = [_made(call, call_id) for call, call_id in zip(turn.calls, ids, strict=True)]
        return (made[0] if len(made) == 1 else made), made
    single = not isinstance(turn.message, list)
    given = [turn.message] if single else turn.message
    requests = [plain(request) for request in given]
    mended = [_mended(*each) for each in zip(requests, turn.calls, ids, strict=True)]
    if all(fresh is old for fresh, old in zip(mended, requests, strict=True)):
        return turn.message if single else list(turn.message), requests
    return (mended[0] if single else mended), mended


def _made(call: Call, call_id: str) -> dict[str, Any]:
    params = {"name": _valid_name(call.tool), "arguments": dict(call.args)}
    return {"jsonrpc": "2.0", "id": call_id, "method": "tools/call", "params": params}


def _mended(request: dict[str, Any], call: Call, call_id: str) -> dict[str, Any]:
    """A request that a server takes: with an id of its own and an object as arguments."""
    fresh = dict(request)
    if "jsonrpc" in request and call.id != call_id:
        fresh["id"] = call_id
    name, params = _valid_name(call.tool), plain(request["params"])
    whole = call.problem is None and isinstance(params.get("arguments", {}), Mapping)
    if name != call.tool or not whole:
        fresh["params"] = {**params, "name": name}
    if not whole:
        fresh["params"]["arguments"] = dict(call.args)
    return request if fresh == request else fresh


def _valid_name(name: str) -> str:
    """A name without blanks around it and halves of characters; the protocol has no other rule."""
    return SURROGATE.sub("\ufffd", name.strip()) or "unnamed"


LAYOUT = of_batches(is_response, "id")
