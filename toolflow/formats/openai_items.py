"""The items of OpenAI Responses: who said each, and which of them are calls for the client.

Source: the published Responses reference. A response is a list of items. Some item types ask the
client to run something and to answer with an item of a type of its own; others tell what the
provider ran itself, and stay where they are. Two types can be either, and say which: a
``shell_call`` runs on the provider's side in a container, a ``tool_search_call`` by ``execution``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from toolflow.formats.plain import plain, text_of


class Kind(NamedTuple):
    """What a type of call is.

    Attributes:
        tool: The name of the tool, or ``None`` where the item names it.
        given: The field with its arguments.
        answer: The type of the item that answers it.
    """

    tool: str | None
    given: str
    answer: str


CALLS = {
    "function_call": Kind(None, "arguments", "function_call_output"),
    "custom_tool_call": Kind(None, "input", "custom_tool_call_output"),
    "local_shell_call": Kind("local_shell", "action", "local_shell_call_output"),
    "shell_call": Kind("shell", "action", "shell_call_output"),
    "apply_patch_call": Kind("apply_patch", "operation", "apply_patch_call_output"),
    "computer_call": Kind("computer", "action", "computer_call_output"),
    "tool_search_call": Kind("tool_search", "arguments", "tool_search_output"),
}
"""The types of calls that a client runs."""
ANSWERS = frozenset(kind.answer for kind in CALLS.values())
SERVER_SIDE = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "mcp_approval_request",
        "program",
        "program_output",
    }
)
"""What the provider runs itself; ``mcp_approval_request`` asks whether it may."""
_BY_CLIENT = frozenset(
    {
        "mcp_approval_response",
        "item_reference",
        "additional_tools",
        "compaction_trigger",
        "configuration_update",
    }
)
_PARTS = frozenset({"input_text", "output_text", "input_image", "input_file", "output_refusal"})


def type_of(item: Any) -> str:
    """The type of an item, or empty text."""
    return text_of(item.get("type")) if isinstance(item, dict) else ""


def is_call(item: dict[str, Any]) -> bool:
    """Whether an item is a call that the client must run and answer."""
    kind = type_of(item)
    if kind not in CALLS:
        return False
    if kind == "shell_call":
        return not _in_container(item)
    return kind != "tool_search_call" or item.get("execution") == "client"


def is_own_answer(item: dict[str, Any], shells: frozenset[str] | set[str]) -> bool:
    """Whether a result is the provider's own, for a call that it ran itself.

    Args:
        item: An item of a type in `ANSWERS`.
        shells: The call ids of the shell calls that the provider ran in this response.
    """
    kind = type_of(item)
    if kind == "shell_call_output":
        call_id = item.get("call_id")
        return isinstance(call_id, str) and call_id in shells
    return kind == "tool_search_output" and item.get("execution") == "server"


def own_shell(item: dict[str, Any]) -> str | None:
    """The call id of a shell call that the provider runs itself, else ``None``."""
    call_id = item.get("call_id")
    if type_of(item) == "shell_call" and _in_container(item) and isinstance(call_id, str):
        return call_id
    return None


def _in_container(item: dict[str, Any]) -> bool:
    environment = plain(item.get("environment"))
    return isinstance(environment, dict) and environment.get("type") == "container_reference"


def is_by_client(item: dict[str, Any]) -> bool:
    """Whether an item is the client's: it ends the response before it."""
    kind, role = type_of(item), item.get("role")
    if kind in _BY_CLIENT:
        return True
    return kind in ("", "message") and isinstance(role, str) and role != "assistant"


def is_by_model(item: dict[str, Any]) -> bool:
    """Whether an item is certainly of a response: it begins one where none has begun."""
    kind = type_of(item)
    if kind in CALLS or kind in SERVER_SIDE or kind in ("reasoning", "compaction"):
        return True
    return kind in ("", "message") and item.get("role") == "assistant"


def is_telling(item: Any) -> bool:
    """Whether a value is an item of Responses and can be of no other format."""
    kind = type_of(item)
    if kind in CALLS or kind in SERVER_SIDE or kind in ANSWERS or kind in _BY_CLIENT:
        return True
    if kind == "reasoning":
        return "summary" in item or "encrypted_content" in item
    if kind not in ("", "message") or not isinstance(item, dict) or "role" not in item:
        return False
    content = plain(item.get("content"))
    return isinstance(content, list) and any(type_of(plain(part)) in _PARTS for part in content)


def answered_id(item: dict[str, Any]) -> str:
    """The id of the call that a result is for. Local shell names it ``id`` in the reference."""
    for key in ("call_id", "id") if type_of(item) == "local_shell_call_output" else ("call_id",):
        if isinstance(item.get(key), str):
            return str(item[key])
    return ""


def client_calls(items: list[Any]) -> list[int]:
    """The places of the calls that the client must run, among the items of one response.

    A call whose answer stands in the same response was run by the provider.

    Args:
        items: The items of one response; what is no object is passed over.
    """
    kinds = [type_of(item) for item in items]
    answers = [
        answered_id(item) for item, kind in zip(items, kinds, strict=True) if kind in ANSWERS
    ]
    answered = frozenset(answers) - {""}
    return [
        place
        for place, kind in enumerate(kinds)
        if kind in CALLS
        and (kind == "function_call" or is_call(items[place]))
        and not (answered and text_of(items[place].get("call_id")) in answered)
    ]
