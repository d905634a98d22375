"""How fast formats are read: ``python tests/benchmarks/bench_formats.py [--calls N] [NAME ...]``.

Reading is held against ``json.loads`` of the same text (of a log: of each of its lines, or of the
whole document), in the same process and the same rounds, so that the ratio hardly depends on the
machine. Times are processor times of this process, so others on the machine disturb little; the
best of several rounds counts. The ratio is that of everything, ``json.loads`` included, to
``json.loads`` alone: 1 would be reading for nothing. Arguments that come as JSON text are parsed by
the reader and not by ``json.loads``, which is a good part of the ratio of such formats.

A new wire format is one row in `MESSAGES`: a name and a function that makes a message, or a list of
chunks, with so many calls. A new log is one row in `LOGS`.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

import session_samples
import trajectories
from large_logs import LARGE
from session_samples import said

from toolflow.formats import read_turn
from toolflow.formats.session import open_session

ARGUMENTS = {"path": "src/module_7.py", "start": 120, "end": 180, "note": "read it once more"}
ARGUMENT_TEXT = json.dumps(ARGUMENTS)
PIECES = 6
"""In how many pieces the arguments of a call come in a stream."""


def chat(count: int) -> Any:
    """A Chat message."""
    blocks = [
        {
            "id": f"call_{n:024d}",
            "type": "function",
            "function": {"name": "read_file", "arguments": ARGUMENT_TEXT},
        }
        for n in range(count)
    ]
    return {"role": "assistant", "content": None, "tool_calls": blocks}


def chat_stream(count: int) -> Any:
    """The chunks of a Chat stream."""
    chunks = [_chunk({"role": "assistant", "content": None})]
    for n, block in enumerate(chat(count)["tool_calls"]):
        body = {"name": "read_file", "arguments": ""}
        first = {"index": n, "id": block["id"], "type": "function", "function": body}
        chunks.append(_chunk({"tool_calls": [first]}))
        for text in _pieces(ARGUMENT_TEXT):
            chunks.append(_chunk({"tool_calls": [{"index": n, "function": {"arguments": text}}]}))
    return [*chunks, _chunk({}, "tool_calls")]


def responses(count: int) -> Any:
    """A whole response of OpenAI Responses."""
    return {"id": "resp_1", "object": "response", "status": "completed", "output": _items(count)}


def responses_stream(count: int) -> Any:
    """The events of a Responses stream without its last event, so that all of them count."""
    start = {"id": "resp_1", "object": "response", "output": []}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": start}]
    for n, item in enumerate(_items(count)):
        begun = {**item, "arguments": "", "status": "in_progress"}
        where = {"output_index": n, "item_id": item["id"]}
        events.append({"type": "response.output_item.added", "item": begun, "output_index": n})
        for text in _pieces(ARGUMENT_TEXT):
            kind = "response.function_call_arguments.delta"
            events.append({"type": kind, "delta": text, **where})
        events.append({"type": "response.output_item.done", "item": item, "output_index": n})
    return [{**event, "sequence_number": n} for n, event in enumerate(events)]


def anthropic(count: int) -> Any:
    """An Anthropic message."""
    return {"role": "assistant", "content": [_tool_use(n, ARGUMENTS) for n in range(count)]}


def anthropic_stream(count: int) -> Any:
    """The events of an Anthropic stream."""
    start = {"id": "msg_1", "type": "message", "role": "assistant", "content": []}
    events: list[Any] = [{"type": "message_start", "message": start}]
    for n in range(count):
        block = _tool_use(n, {})
        events.append({"type": "content_block_start", "index": n, "content_block": block})
        for text in _pieces(ARGUMENT_TEXT):
            delta = {"type": "input_json_delta", "partial_json": text}
            events.append({"type": "content_block_delta", "index": n, "delta": delta})
        events.append({"type": "content_block_stop", "index": n})
    end = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}
    return [*events, end, {"type": "message_stop"}]


def gemini(count: int) -> Any:
    """A response of Gemini."""
    parts = [{"functionCall": {"name": "read_file", "args": ARGUMENTS}} for _ in range(count)]
    content = {"role": "model", "parts": parts}
    return {"candidates": [{"content": content, "finishReason": "STOP"}]}


def gemini_stream(count: int) -> Any:
    """The responses of a Gemini stream, whose arguments come value by value."""
    found: list[Any] = []
    for _ in range(count):
        found.append([{"functionCall": {"name": "read_file", "willContinue": True}}])
        for key, value in ARGUMENTS.items():
            kind = "stringValue" if isinstance(value, str) else "numberValue"
            piece = {"jsonPath": f"$.{key}", kind: value}
            found.append([{"functionCall": {"partialArgs": [piece], "willContinue": True}}])
        found.append([{"functionCall": {}}])
    chunks: list[Any] = [
        {"candidates": [{"content": {"role": "model", "parts": parts}}]} for parts in found
    ]
    chunks[-1]["candidates"][0]["finishReason"] = "STOP"
    return chunks


def bedrock(count: int) -> Any:
    """A Bedrock message."""
    blocks = [
        {"toolUse": {"toolUseId": f"tooluse_{n:024d}", "name": "read_file", "input": ARGUMENTS}}
        for n in range(count)
    ]
    return {"role": "assistant", "content": blocks}


def bedrock_stream(count: int) -> Any:
    """The events of a Bedrock stream."""
    events: list[Any] = [{"messageStart": {"role": "assistant"}}]
    for n in range(count):
        start = {"toolUse": {"toolUseId": f"tooluse_{n:024d}", "name": "read_file"}}
        events.append({"contentBlockStart": {"contentBlockIndex": n, "start": start}})
        for text in _pieces(ARGUMENT_TEXT):
            delta = {"toolUse": {"input": text}}
            events.append({"contentBlockDelta": {"contentBlockIndex": n, "delta": delta}})
        events.append({"contentBlockStop": {"contentBlockIndex": n}})
    return [*events, {"messageStop": {"stopReason": "tool_use"}}]


def cohere(count: int) -> Any:
    """A Cohere message."""
    return {"role": "assistant", "tool_plan": "I will", "tool_calls": chat(count)["tool_calls"]}


def cohere_stream(count: int) -> Any:
    """The events of a Cohere stream."""
    events: list[Any] = [{"type": "message-start", "delta": {"message": {"role": "assistant"}}}]
    for n, block in enumerate(chat(count)["tool_calls"]):
        begun = {**block, "function": {"name": "read_file", "arguments": ""}}
        delta = {"message": {"tool_calls": begun}}
        events.append({"type": "tool-call-start", "index": n, "delta": delta})
        for text in _pieces(ARGUMENT_TEXT):
            delta = {"message": {"tool_calls": {"function": {"arguments": text}}}}
            events.append({"type": "tool-call-delta", "index": n, "delta": delta})
        events.append({"type": "tool-call-end", "index": n})
    return [*events, {"type": "message-end", "delta": {"finish_reason": "TOOL_CALL"}}]


def mcp(count: int) -> Any:
    """A batch of MCP requests."""
    params = {"name": "read_file", "arguments": ARGUMENTS}
    return [
        {"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": params} for n in range(count)
    ]


def plain_calls(count: int) -> Any:
    """Plain calls."""
    return {
        "calls": [{"id": f"c{n}", "tool": "read_file", "args": ARGUMENTS} for n in range(count)]
    }


MESSAGES: dict[str, Callable[[int], Any]] = {
    "openai-chat": chat,
    "openai-chat stream": chat_stream,
    "openai-responses": responses,
    "openai-responses stream": responses_stream,
    "anthropic": anthropic,
    "anthropic stream": anthropic_stream,
    "gemini": gemini,
    "gemini stream": gemini_stream,
    "bedrock": bedrock,
    "bedrock stream": bedrock_stream,
    "cohere": cohere,
    "cohere stream": cohere_stream,
    "mcp": mcp,
    "calls": plain_calls,
}
"""Wire formats, by name: each row makes a message, or the chunks of a stream."""


def _large(form: str) -> Callable[[int], Any]:
    return lambda count: [line for n in range(count // 2) for line in LARGE[form](n)]


def _sample(name: str) -> Callable[[int], Any]:
    def make(count: int) -> Any:
        ids = [f"id-{n:08d}" for n in range(count)]
        return session_samples.MAKERS[name]([said(*ids[n : n + 2]) for n in range(0, count, 2)])

    return make


def _trajectory(make: Callable[[Any], Any]) -> Callable[[int], Any]:
    return lambda count: make([(n, n + 1) for n in range(0, count, 2)])


LOGS: dict[str, Callable[[int], Any]] = {
    **{name: _large(name) for name in LARGE},
    **{name: _sample(name) for name in session_samples.MAKERS if name not in (*LARGE, "vcr")},
    "vcr": lambda count: _sample("vcr")(min(count, 200)),  # each request repeats all before it
    "messages": _trajectory(trajectories.chat),
    "openhands": _trajectory(trajectories.openhands),
    "swe-agent": _trajectory(trajectories.swe_agent),
    "mini-swe-agent": _trajectory(trajectories.mini_swe_agent),
    "tau-bench": _trajectory(trajectories.tau_bench),
    "inspect": _trajectory(trajectories.inspect),
    "openai-agents": _trajectory(trajectories.openai_agents),
}
"""Logs, by name: each row makes a list of lines, or one document. The first three have results of
some kilobytes, as in life; in the others results are a word, so that they show what a record costs.
"""
_ONE_DOCUMENT = frozenset({"tau-bench"})


class Measured(NamedTuple):
    """One row of the table.

    Attributes:
        size: The size of the text in bytes.
        loads: Seconds for ``json.loads``.
        read: Seconds to read the turns, ``json.loads`` included.
        calls: How many calls were read.
    """

    size: int
    loads: float
    read: float
    calls: int


def measure_message(make: Callable[[int], Any], count: int, rounds: int) -> Measured:
    """Measure a wire format."""
    text = json.dumps(make(count))
    assert len(read_turn(json.loads(text)).calls) == count
    loads = best(lambda: json.loads(text), rounds)
    read = best(lambda: read_turn(json.loads(text)), rounds)
    return Measured(len(text.encode()), loads, read, count)


def measure_log(name: str, make: Callable[[int], Any], count: int, rounds: int) -> Measured:
    """Measure a log."""
    made = make(count)
    one = isinstance(made, dict) or name in _ONE_DOCUMENT
    lines = [json.dumps(made)] if one else [json.dumps(line) for line in made]
    data = "\n".join(lines).encode() + b"\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("log.json" if one else "log.jsonl")
        path.write_bytes(data)
        calls = sum(len(each.turn.calls) for each in open_session(path))
        assert calls > 0, name
        loads = best(lambda: [json.loads(line) for line in data.splitlines()], rounds)
        read = best(lambda: [None for _ in open_session(path)], rounds)
    return Measured(len(data), loads, read, calls)


def best(function: Callable[[], Any], rounds: int) -> float:
    """The least processor time of several rounds, in seconds."""

    def timed() -> float:
        gc.collect()
        begin = time.process_time()
        function()
        return time.process_time() - begin

    return min(timed() for _ in range(rounds))


def rows(names: list[str], calls: int, rounds: int) -> Iterator[tuple[str, Measured]]:
    """Each row that is asked for; all where none is."""
    for name, make in MESSAGES.items():
        if not names or name in names:
            yield name, measure_message(make, calls, rounds)
    for name, make in LOGS.items():
        if not names or name in names:
            yield f"{name} log", measure_log(name, make, calls, rounds)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="*", help="formats to measure; all where none is named")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    print(f"{'format':<26}{'bytes/call':>11}{'us/call':>9}{'loads':>9}{'ratio':>8}{'MB/s':>8}")
    for name, row in rows(given.name, given.calls, given.rounds):
        whole, loads = (1e6 * seconds / row.calls for seconds in (row.read, row.loads))
        cells = f"{row.size / row.calls:>11.0f}{whole:>9.2f}{loads:>9.2f}"
        print(f"{name:<26}{cells}{row.read / row.loads:>8.2f}{row.size / row.read / 1e6:>8.1f}")


def _tool_use(number: int, given: dict[str, Any]) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number:024d}", "name": "read_file", "input": given}


def _items(count: int) -> list[dict[str, Any]]:
    return [
        {
            "type": "function_call",
            "id": f"fc_{n:048d}",
            "call_id": f"call_{n:024d}",
            "name": "read_file",
            "arguments": ARGUMENT_TEXT,
            "status": "completed",
        }
        for n in range(count)
    ]


def _chunk(delta: dict[str, Any], ended: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": ended}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1700000000,
        "model": "m",
        "choices": [choice],
    }


def _pieces(text: str) -> list[str]:
    size = -(-len(text) // PIECES)
    return [text[n : n + size] for n in range(0, len(text), size)]


if __name__ == "__main__":
    main()
