"""Writes a turn and its outcomes as items of OpenAI Responses (spec 3.1).

Each call is answered by one item of the type that belongs to it, in call order. Pictures stand
inside the results of functions and custom tools; the other results take none, so theirs follow
after all results, in a message that says which call each belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from toolflow.formats.arguments import arguments_text
from toolflow.formats.base import IdRule, Messages
from toolflow.formats.ids import SURROGATE
from toolflow.formats.layout import Keys, of_messages
from toolflow.formats.openai_content import data_url
from toolflow.formats.openai_items import ANSWERS, CALLS, client_calls, type_of
from toolflow.formats.openai_shell import shell_output
from toolflow.formats.results import is_error, picture_label, result_text, shown_images
from toolflow.formats.tool_names import word_names
from toolflow.model import Call, Image, Outcome, Turn

# The reference's own limits of `call_id` and of the name of a function.
ID_RULE = IdRule(re.compile("[^\ud800-\udfff]+"), SURROGATE, 64)
_NAMES = word_names(128)
_NAMED = frozenset({"function_call", "custom_tool_call"})
_STATUS = {
    "running": "in_progress",
    "aborted": "incomplete",
    "not_started": "incomplete",
    "timed_out": "incomplete",
    "outcome_unknown": "incomplete",
}
# A result of `computer_call` must hold a picture: one white point where there is none.
_BLANK = Image(
    "image/png",
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mP4DwABAQEAHLCMmQAAAABJRU5ErkJggg==",
)


def write(
    turn: Turn, outcomes: Sequence[Outcome], ids: Sequence[str], texts: Sequence[str]
) -> Messages:
    """Write a turn (see `toolflow.formats.write_turn`)."""
    results: list[Any] = []
    after: list[Any] = []
    said = [*turn.message] if turn.message is not None else [_item(call) for call in turn.calls]
    places = client_calls(said)
    rows = zip(turn.calls, places, ids, outcomes, strict=True)
    for call, place, call_id, outcome in rows:
        kind, item = type_of(said[place]), said[place]
        results.append(_called(_WRITERS[kind](call, call_id, outcome), item))
        if kind not in _NAMED:
            after += _rest(kind, call, call_id, outcome)
        said[place] = _mended(item, call, call_id)
    if after:
        results.append({"role": "user", "content": after})
    results += [{"role": "user", "content": text} for text in texts]
    return said, results


def _item(call: Call) -> dict[str, Any]:
    """An item for a call of a turn that was made by hand."""
    kind = call.extra.get("type", "function_call")
    if kind == "custom_tool_call":
        return {"type": kind, "input": str(call.args.get("input", ""))}
    if kind not in _WRITERS or kind == "function_call":
        return {"type": "function_call"}
    own_id = call.extra.get("id") or f"item_{call.index + 1}"  # these types must have one
    own = {"type": kind, "id": own_id, "status": "completed"}
    if kind == "computer_call":
        return {**own, **call.args}
    more = {"execution": "client"} if kind == "tool_search_call" else {}
    return {**own, **more, CALLS[kind].given: dict(call.args)}


def _function(call: Call, call_id: str, outcome: Outcome) -> dict[str, Any]:  # noqa: ARG001  # one shape for all writers
    item = {"type": "function_call_output", "call_id": call_id, "output": _output(outcome)}
    return _with_status(item, outcome)


def _custom(call: Call, call_id: str, outcome: Outcome) -> dict[str, Any]:  # noqa: ARG001  # one shape for all writers
    return {"type": "custom_tool_call_output", "call_id": call_id, "output": _output(outcome)}


def _local_shell(call: Call, call_id: str, outcome: Outcome) -> dict[str, Any]:  # noqa: ARG001  # one shape for all writers
    # The reference's type has `id` for the id of the call, its guide has `call_id`: both are given.
    kind = "local_shell_call_output"
    return {"type": kind, "id": call_id, "call_id": call_id, "output": result_text(outcome)}


def _shell(call: Call, call_id: str, outcome: Outcome) -> dict[str, Any]:
    item: dict[str, Any] = {
        "type": "shell_call_output",
        "call_id": call_id,
        "output": shell_output(outcome),
    }
    limit = call.args.get("max_output_length")
    if type(limit) is int:  # the reference wants the limit of the call given back
        item["max_output_length"] = limit
    return _with_status(item, outcome)


def _with_status(item: dict[str, Any], outcome: Outcome) -> dict[str, Any]:
    status = _STATUS.get(outcome.status)
    return item if status is None else {**item, "status": status}


def _apply_patch(call: Call, call_id: str, outcome: Outcome) -> dict[str, Any]:  # noqa: ARG001  # one shape for all writers
    status = "failed" if is_error(outcome) else "completed"
    item = {"type": "apply_patch_call_output", "call_id": call_id, "status": status}
    return {**item, "output": result_text(outcome)}


def _computer(call: Call, call_id: str, outcome: Outcome) -> dict[str, Any]:
    images = shown_images(outcome) or [_BLANK]
    screen = {"type": "computer_screenshot", "image_url": data_url(images[0])}
    item: dict[str, Any] = {"type": "computer_call_output", "call_id": call_id, "output": screen}
    checks = call.args.get("pending_safety_checks")
    if checks and outcome.ok:  # it ran although they were pending: somebody said that it may
        item["acknowledged_safety_checks"] = checks
    return item


def _tool_search(call: Call, call_id: str, outcome: Outcome) -> dict[str, Any]:  # noqa: ARG001  # one shape for all writers
    found = outcome.value if isinstance(outcome.value, list) and outcome.ok else []
    item = {"type": "tool_search_output", "call_id": call_id, "execution": "client"}
    tools = [tool for tool in found if isinstance(tool, dict)]
    return {**item, "status": "completed" if outcome.ok else "incomplete", "tools": tools}


_WRITERS: dict[str, Callable[[Call, str, Outcome], dict[str, Any]]] = {
    "function_call": _function,
    "custom_tool_call": _custom,
    "local_shell_call": _local_shell,
    "shell_call": _shell,
    "apply_patch_call": _apply_patch,
    "computer_call": _computer,
    "tool_search_call": _tool_search,
}


def _called(result: dict[str, Any], item: dict[str, Any]) -> dict[str, Any]:
    """A result with the context that made the call, which the reference wants given back."""
    caller = item.get("caller")
    return result if caller is None else {**result, "caller": caller}


def _output(outcome: Outcome) -> Any:
    text, images = result_text(outcome), shown_images(outcome)
    if not images:
        return text
    said = [{"type": "input_text", "text": text}] if text.strip() else []
    return [*said, *map(_picture, images)]


def _picture(image: Image) -> dict[str, Any]:
    return {"type": "input_image", "detail": "auto", "image_url": data_url(image)}


def _rest(kind: str, call: Call, call_id: str, outcome: Outcome) -> list[Any]:
    """What a result of this kind has no place for: pictures, a computer's text, an error."""
    rest: list[Any] = []
    images = shown_images(outcome)
    if kind == "computer_call":
        images = images[1:]
    text = result_text(outcome)
    untold = kind == "computer_call" or (kind == "tool_search_call" and outcome.error is not None)
    if untold and text.strip():
        rest.append({"type": "input_text", "text": f"Call {call_id} ({call.tool}): {text}"})
    if images:
        label = picture_label(call_id, call.tool, len(images))
        rest += [{"type": "input_text", "text": label}, *map(_picture, images)]
    return rest


def _mended(item: dict[str, Any], call: Call, call_id: str) -> dict[str, Any]:
    """A call that the API takes; the same object where it takes it as it is."""
    changes: dict[str, Any] = {}
    if item.get("call_id") != call_id:
        changes["call_id"] = call_id
    if type_of(item) in _NAMED and not _is_name(item.get("name")):
        changes["name"] = _NAMES.valid(call.tool)
    if type_of(item) == "function_call" and not isinstance(item.get("arguments"), str):
        changes["arguments"] = arguments_text(call)
    return {**item, **changes} if changes else item


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and _NAMES.takes(name)


def _id_keys(item: Any) -> Keys | None:
    kind = type_of(item)
    if kind not in ANSWERS:
        return None
    return ("call_id", "id") if kind == "local_shell_call_output" else ("call_id",)


LAYOUT = of_messages(_id_keys)
