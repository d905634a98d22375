"""Turns made by chance, in every wire format: messages as a provider sends them, and outcomes.

`made` gives the same turn for the same format and number, so that a failure is told by a number.
Messages hold only fields that the provider has. What a model gets wrong is in them: ids that are
empty, doubled or refused, names that are refused, arguments that are no object. Every fourth turn
has no message and is written from its calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any, get_args

from toolflow.formats.registry import read_all
from toolflow.model import Image, Outcome, Turn
from toolflow.model.outcome import Status

Row = tuple[str, str, Any]
"""The id, the name and the arguments of a call: an object, or the text that came."""

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mP4DwABAQEAHLCMmQAAAABJRU5ErkJggg=="
_STATUSES = get_args(Status)
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_PIECES = (
    "", "a", "x y", "\n", "\t", "é", "漢字", "\U0001f600", "\u2028", "\x00", "\x1b[31m", '"', "\\",
    "</tool>", "{}", "null", "data: x", "0" * 50, "\ud83d", "~" * 300,
)  # fmt: skip
_NAMES = ("read", "edit_file", "mcp__server__do-it", "Bash", "x" * 64)
_ODD_NAMES = (" read", "fs.read", "", "a b", "9lives", "näme", "x" * 130, "\ud83d")
_ODD_IDS = ("", "a", "a", "run:7", "call_1", "call", "é", "x" * 80, "a b", "call-2", "\ud83d")
_BROKEN = (
    "{",
    '{"a": 1}{"b": 2}',
    "[1]",
    "null",
    "7",
    '"x"',
    "NaN",
    '{"a": 1e999}',
    '{"a": "\\ud83d"}',
)


class Chance:
    """A source of chance for one turn.

    Args:
        seed: Text that stands for the turn.
    """

    def __init__(self, seed: str) -> None:
        self.random = Random(seed)

    def one_in(self, count: int) -> bool:
        return self.random.randrange(count) == 0

    def of(self, choices: Any) -> Any:
        return choices[self.random.randrange(len(choices))]

    def name_of(self, length: int) -> str:
        return "".join(self.of(_LETTERS) for _ in range(length))

    def text(self, *, whole: bool = True) -> str:
        text = "".join(self.of(_PIECES) for _ in range(self.random.randrange(4)))
        return text.replace("\ud83d", "") if whole else text

    def value(self, depth: int = 0) -> Any:
        kind = self.random.randrange(6 if depth > 3 else 8)
        if kind == 6:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        if kind == 7:
            return self.object(depth + 1)
        numbers = (0, -1, 7, 2**53 + 1, -(2**70), 0.5, -0.0, 1e-300, 1.7e308)
        return (None, True, False, self.of(numbers), self.text(), self.text())[kind]

    def object(self, depth: int = 0) -> dict[str, Any]:
        keys = ("path", "command", "n", "", "with space", "é", "type", "input")
        return {self.of(keys): self.value(depth) for _ in range(self.random.randrange(5))}

    def row(self, *, as_text: bool) -> Row:
        call_id = self.of(_ODD_IDS) if self.one_in(6) else f"call_{self.name_of(20)}"
        name = self.of(_ODD_NAMES) if self.one_in(8) else self.of(_NAMES)
        args: Any = self.object()
        if self.one_in(10):
            args = self.of(_BROKEN) if as_text else self.of([None, [], 7, "x", "", True])
        return call_id, name, args

    def outcome(self) -> Outcome:
        status = "ok" if self.one_in(2) else self.of(_STATUSES)
        value = self.text(whole=False) if self.one_in(2) else self.value()
        error = None if status in ("ok", "running") else self.of(("It failed.", self.text(), ""))
        types = ("image/png", "image/jpeg", "image/tiff", "image/webp")
        pictures = self.random.randrange(3) if self.one_in(4) else 0
        images = tuple(Image(self.of(types), PNG) for _ in range(pictures))
        return Outcome(status, value, error, images)


def made(form: str, number: int) -> tuple[Turn, tuple[Outcome, ...]]:
    """A turn of a wire format and its outcomes.

    Args:
        form: The name of the format.
        number: Which one.
    """
    chance = Chance(f"{form} {number}")
    count = chance.of((1, 1, 2, 3, 5, 8))
    rows = [chance.row(as_text=form in _TEXT) for _ in range(count)]
    turn = read_all(MAKERS[form](chance, rows), form, None)[-1]
    if number % 4 == 3:
        turn = replace(turn, message=None)
    return turn, outcomes(f"{form} {number}", len(turn.calls))


def outcomes(seed: str, count: int) -> tuple[Outcome, ...]:
    """So many outcomes made by chance."""
    chance = Chance(f"outcomes {seed}")
    return tuple(chance.outcome() for _ in range(count))


def _given(chance: Chance, args: Any) -> Any:
    """Arguments as text, or as something that a server puts in its place."""
    if chance.one_in(12):
        return chance.of(["", None, args, 7, ["x"]])
    return args if isinstance(args, str) else json.dumps(args)


def _chat(chance: Chance, rows: list[Row]) -> Any:
    if chance.one_in(6):
        return _ollama(rows)
    nine = chance.one_in(6)  # ids as Mistral gives them
    blocks: list[Any] = []
    for given_id, name, args in rows:
        call_id = chance.name_of(9) if nine else given_id
        if not nine and chance.one_in(8):
            custom = {"name": name, "input": chance.text()}
            blocks.append({"id": call_id, "type": "custom", "custom": custom})
            continue
        body = {"name": name, "arguments": _given(chance, args)}
        blocks.append({"id": call_id, "type": "function", "function": body})
    content = chance.of([None, "", chance.text(), [{"type": "text", "text": chance.text()}]])
    return {"role": "assistant", "content": content, "tool_calls": blocks}


def _ollama(rows: list[Row]) -> Any:
    calls = [
        {"function": {"name": name, "arguments": args if isinstance(args, dict) else {}}}
        for _, name, args in rows
    ]
    message = {"role": "assistant", "content": "", "tool_calls": calls}
    return {"model": "m", "message": message, "done": True, "done_reason": "stop"}


def _responses(chance: Chance, rows: list[Row]) -> Any:
    items: list[dict[str, Any]] = []
    if chance.one_in(2):
        items.append({"type": "reasoning", "id": "rs_1", "summary": []})
    for number, (call_id, name, args) in enumerate(rows):
        own = {"id": f"it_{number}", "call_id": call_id, "status": "completed"}
        items.append({**own, **_response_item(chance, name, args)})
        if chance.one_in(4):
            part = {"type": "output_text", "text": chance.text(), "annotations": []}
            said = {"type": "message", "id": f"msg_{number}", "role": "assistant"}
            items.append({**said, "status": "completed", "content": [part]})
    return items


def _response_item(chance: Chance, name: str, args: Any) -> dict[str, Any]:
    function = {"type": "function_call", "name": name, "arguments": _given(chance, args)}
    if chance.one_in(2):
        return function
    commands = {"commands": ["ls", chance.text()], "timeout_ms": None, "max_output_length": 99}
    exec_args = {"type": "exec", "command": ["ls"], "env": {}}
    operation = {"type": "create_file", "path": "a", "diff": "+" + chance.text()}
    check = {"id": "sc", "code": "x", "message": "y"}
    return chance.of(
        (
            function,
            {"type": "custom_tool_call", "name": name, "input": chance.text()},
            {"type": "local_shell_call", "action": exec_args},
            {"type": "shell_call", "action": commands, "environment": {"type": "local"}},
            {"type": "apply_patch_call", "operation": operation},
            {
                "type": "computer_call",
                "action": {"type": "screenshot"},
                "pending_safety_checks": chance.of(([], [check])),
            },
            {"type": "tool_search_call", "execution": "client", "arguments": {"q": "x"}},
        )
    )


def _anthropic(chance: Chance, rows: list[Row]) -> Any:
    content: list[dict[str, Any]] = []
    if chance.one_in(3):
        content.append({"type": "thinking", "thinking": chance.text(), "signature": "c2ln"})
    for call_id, name, args in rows:
        if chance.one_in(4):
            content.append({"type": "text", "text": chance.text()})
        if chance.one_in(8):
            own = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search"}
            content.append({**own, "input": {"query": "x"}})
        content.append({"type": "tool_use", "id": call_id, "name": name, "input": args})
    return {"role": "assistant", "content": content}


def _gemini(chance: Chance, rows: list[Row]) -> Any:
    named, snake = chance.one_in(2), chance.one_in(4)
    key = "function_call" if snake else "functionCall"
    parts: list[dict[str, Any]] = []
    for call_id, name, args in rows:
        if chance.one_in(4):
            parts.append({"text": chance.text(), "thought": True})
        body = {"name": name, "args": args}
        part: dict[str, Any] = {key: {"id": call_id, **body} if named else body}
        if chance.one_in(3):
            part["thought_signature" if snake else "thoughtSignature"] = "c2ln"
        parts.append(part)
    return {"role": "model", "parts": parts}


def _bedrock(chance: Chance, rows: list[Row]) -> Any:
    content: list[dict[str, Any]] = []
    if chance.one_in(3):
        text = {"text": chance.text(), "signature": "c2ln"}
        content.append({"reasoningContent": {"reasoningText": text}})
    for call_id, name, args in rows:
        if chance.one_in(4):
            content.append({"text": chance.text() or "x"})
        content.append({"toolUse": {"toolUseId": call_id, "name": name, "input": args}})
    return {"role": "assistant", "content": content}


def _cohere(chance: Chance, rows: list[Row]) -> Any:
    calls = [
        {
            "id": call_id,
            "type": "function",
            "function": {"name": name, "arguments": _given(chance, args)},
        }
        for call_id, name, args in rows
    ]
    message = {"role": "assistant", "tool_plan": chance.text(), "tool_calls": calls}
    if chance.one_in(3):
        message["content"] = [{"type": "text", "text": chance.text()}]
    return message


def _mcp(chance: Chance, rows: list[Row]) -> Any:
    requests = []
    for number, (call_id, name, args) in enumerate(rows):
        params: dict[str, Any] = {"name": name, "arguments": args}
        if chance.one_in(4):
            params["_meta"] = {"progressToken": number}
        own = number if chance.one_in(3) else call_id
        requests.append({"jsonrpc": "2.0", "id": own, "method": "tools/call", "params": params})
    return requests[0] if len(requests) == 1 else requests


def _calls(chance: Chance, rows: list[Row]) -> Any:
    made = [{"id": call_id, "tool": name, "args": args} for call_id, name, args in rows]
    return {"calls": [{k: v for k, v in c.items() if k != "id" or chance.one_in(2)} for c in made]}


MAKERS: dict[str, Callable[[Chance, list[Row]], Any]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "cohere": _cohere,
    "mcp": _mcp,
    "calls": _calls,
}
"""Makers of a message from rows, by the name of its format."""
_TEXT = frozenset({"openai-chat", "openai-responses", "cohere", "calls"})
"""The formats in which arguments come as text."""
