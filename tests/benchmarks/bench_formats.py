"""How fast wire formats are read: ``python tests/benchmarks/bench_formats.py [--calls N] [NAME]``.

Reading the calls of a message is held against ``json.loads`` of the message's text, in the same
process and the same rounds, so that the ratio hardly depends on the machine. Times are processor
times of this process, so others on the machine disturb little; the best of several rounds counts.
Arguments that come as JSON text are parsed by the reader and not by ``json.loads``, which is a good
part of the ratio of such formats.

A new format is one row in `SAMPLES`: a name and a function that makes a message, or a list of
chunks, with so many calls.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from toolflow.formats import read_turn

ARGUMENTS = {"path": "src/module_7.py", "start": 120, "end": 180, "note": "read it once more"}
ARGUMENT_TEXT = json.dumps(ARGUMENTS)


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
    """The chunks of a Chat stream, the arguments of each call in six pieces."""
    chunks = [_chunk({"role": "assistant", "content": None})]
    for n, block in enumerate(chat(count)["tool_calls"]):
        body = {"name": "read_file", "arguments": ""}
        first = {"index": n, "id": block["id"], "type": "function", "function": body}
        chunks.append(_chunk({"tool_calls": [first]}))
        for text in _pieces(ARGUMENT_TEXT, 6):
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
        for text in _pieces(ARGUMENT_TEXT, 6):
            kind = "response.function_call_arguments.delta"
            events.append({"type": kind, "delta": text, **where})
        events.append({"type": "response.output_item.done", "item": item, "output_index": n})
    return [{**event, "sequence_number": n} for n, event in enumerate(events)]


def anthropic(count: int) -> Any:
    """An Anthropic message."""
    blocks = [
        {"type": "tool_use", "id": f"toolu_{n:024d}", "name": "read_file", "input": ARGUMENTS}
        for n in range(count)
    ]
    return {"role": "assistant", "content": blocks}


def plain_calls(count: int) -> Any:
    """Plain calls."""
    return {
        "calls": [{"id": f"c{n}", "tool": "read_file", "args": ARGUMENTS} for n in range(count)]
    }


SAMPLES: dict[str, Callable[[int], Any]] = {
    "openai-chat": chat,
    "openai-chat stream": chat_stream,
    "openai-responses": responses,
    "openai-responses stream": responses_stream,
    "anthropic": anthropic,
    "calls": plain_calls,
}
"""What is measured, by name: each row makes a message, or the chunks of a stream."""


class Measured(NamedTuple):
    """One row of the table.

    Attributes:
        size: The size of the text in bytes.
        loads: Seconds for ``json.loads``.
        read: Seconds to read the turn, without ``json.loads``.
    """

    size: int
    loads: float
    read: float


def measure(make: Callable[[int], Any], count: int, rounds: int) -> Measured:
    """Measure one format."""
    text = json.dumps(make(count))
    value = json.loads(text)
    assert len(read_turn(value).calls) == count
    loads = min(_timed(lambda: json.loads(text)) for _ in range(rounds))
    read = min(_timed(lambda: read_turn(value)) for _ in range(rounds))
    return Measured(len(text.encode()), loads, read)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="*", help="formats to measure; all where none is named")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    print(f"{'format':<26}{'us/call':>9}{'loads':>9}{'ratio':>8}{'MB/s':>8}")
    for name in given.name or SAMPLES:
        row = measure(SAMPLES[name], given.calls, given.rounds)
        own, loads = (1e6 * seconds / given.calls for seconds in (row.read, row.loads))
        speed = row.size / (row.loads + row.read) / 1e6
        print(f"{name:<26}{own:>9.2f}{loads:>9.2f}{row.read / row.loads:>8.2f}{speed:>8.1f}")


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


def _pieces(text: str, count: int) -> list[str]:
    size = -(-len(text) // count)
    return [text[n : n + size] for n in range(0, len(text), size)]


def _timed(function: Callable[[], Any]) -> float:
    gc.collect()
    begin = time.process_time()
    function()
    return time.process_time() - begin


if __name__ == "__main__":
    main()
