"""Small valid logs of every trajectory format, in which each result says whose it is.

A document is built from turns, a turn being the numbers of its calls: call ``7`` has the id ``c7``
(where the format has ids) and asks to ``do 7``; its result is ``r7``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from toolflow.model import Recording

Turns = Sequence[Sequence[int]]


def chat_calls(numbers: Sequence[int]) -> list[dict[str, Any]]:
    return [
        {
            "id": f"c{n}",
            "type": "function",
            "function": {"name": "t", "arguments": json.dumps({"command": f"do {n}"})},
        }
        for n in numbers
    ]


def chat(turns: Turns) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    for numbers in turns:
        messages.append({"role": "assistant", "content": "x", "tool_calls": chat_calls(numbers)})
        messages += [{"role": "tool", "tool_call_id": f"c{n}", "content": f"r{n}"} for n in numbers]
    return messages


def tau_bench(turns: Turns) -> Any:
    half = len(turns) // 2
    runs = [chat(turns[:half]), chat(turns[half:])]
    return [{"task_id": n, "trial": 0, "reward": 1.0, "traj": run} for n, run in enumerate(runs)]


def swe_agent(turns: Turns) -> Any:
    history = []
    for message in chat(turns):
        item = {**message, "agent": "main", "message_type": "observation"}
        if message["role"] == "assistant":
            item |= {"message_type": "action", "action": "do", "thought": "x"}
        elif message["role"] == "tool":
            item["tool_call_ids"] = [item.pop("tool_call_id")]
        history.append(item)
    return {"history": history, "trajectory": [], "info": {"exit_status": "submitted"}}


def swe_agent_text(turns: Turns) -> Any:
    """Commands without ids: one a message, as the harness has them."""
    history: list[dict[str, Any]] = []
    for n in (n for numbers in turns for n in numbers):
        history += [
            {"role": "assistant", "message_type": "action", "action": f"do {n}", "content": "x"},
            {"role": "user", "message_type": "observation", "content": f"r{n}"},
        ]
    return {"history": history}


def mini_swe_agent(turns: Turns) -> Any:
    messages = []
    for message in chat(turns):
        extra = {"timestamp": 1_700_000_000.5}
        if message["role"] == "tool":
            extra |= {"returncode": 0, "raw_output": ""}
        messages.append({**message, "extra": extra})
    info = {"mini_version": "2.0", "exit_status": "Submitted"}
    return {"info": info, "messages": messages, "trajectory_format": "mini-swe-agent-1.1"}


def mini_swe_agent_text(turns: Turns) -> Any:
    messages: list[dict[str, Any]] = []
    for numbers in turns:
        actions = [{"command": f"do {n}"} for n in numbers]
        messages.append({"role": "assistant", "content": "x", "extra": {"actions": actions}})
        messages += [
            {"role": "user", "content": f"r{n}", "extra": {"returncode": 0}} for n in numbers
        ]
    return {"info": {"mini_version": "2.0"}, "messages": messages}


def inspect(turns: Turns) -> Any:
    messages: list[dict[str, Any]] = []
    for place, numbers in enumerate(turns):
        calls = [
            {"id": f"c{n}", "function": "t", "arguments": {"command": f"do {n}"}} for n in numbers
        ]
        messages.append(
            {"id": f"m{place}", "role": "assistant", "content": "", "tool_calls": calls}
        )
        messages += [{"role": "tool", "tool_call_id": f"c{n}", "content": f"r{n}"} for n in numbers]
    time = "2025-01-01T00:00:0"
    events = [
        {"event": "tool", "id": f"c{n}", "timestamp": f"{time}1Z", "completed": f"{time}2Z"}
        for numbers in turns
        for n in numbers
    ]
    sample = {"id": 1, "epoch": 1, "messages": messages, "events": events}
    return {"eval": {"task": "t"}, "plan": {}, "samples": [sample]}


def openhands(turns: Turns) -> Any:
    """The older layout."""
    events: list[dict[str, Any]] = []
    for place, numbers in enumerate(turns):
        message = {"role": "assistant", "content": "x", "tool_calls": chat_calls(numbers)}
        response = {"id": f"resp{place}", "choices": [{"message": message}]}
        for kind in ("action", "observation"):
            for n in numbers:
                told = {
                    "id": len(events),
                    "source": "agent",
                    "timestamp": f"2025-01-01T00:00:{len(events) % 60:02d}",
                    kind: "run",
                    "tool_call_metadata": {"tool_call_id": f"c{n}", "model_response": response},
                }
                if kind == "action":
                    told["args"] = {"command": f"do {n}"}
                else:
                    told |= {"content": f"r{n}", "extras": {"metadata": {"exit_code": 0}}}
                events.append(told)
    return events


def openhands_kinds(turns: Turns) -> Any:
    """The newer layout."""
    events: list[dict[str, Any]] = []
    for place, numbers in enumerate(turns):
        for n in numbers:
            call = {"id": f"c{n}", "name": "t", "arguments": json.dumps({"command": f"do {n}"})}
            events.append(
                {
                    "kind": "ActionEvent",
                    "id": f"a{n}",
                    "source": "agent",
                    "timestamp": "2025-01-01T00:00:00",
                    "llm_response_id": f"resp{place}",
                    "tool_call_id": f"c{n}",
                    "tool_name": "t",
                    "tool_call": call,
                }
            )
        for n in numbers:
            body = {"content": [{"type": "text", "text": f"r{n}"}], "is_error": False}
            events.append(
                {
                    "kind": "ObservationEvent",
                    "id": f"o{n}",
                    "source": "environment",
                    "action_id": f"a{n}",
                    "tool_call_id": f"c{n}",
                    "observation": body,
                }
            )
    return events


def openai_agents(turns: Turns) -> Any:
    items: list[dict[str, Any]] = []
    for numbers in turns:
        for n in numbers:
            call = {
                "type": "function_call",
                "call_id": f"c{n}",
                "name": "t",
                "arguments": json.dumps({"command": f"do {n}"}),
            }
            items.append({"type": "tool_call_item", "raw_item": call})
        for n in numbers:
            output = {"type": "function_call_output", "call_id": f"c{n}", "output": f"r{n}"}
            items.append({"type": "tool_call_output_item", "raw_item": output})
    state = {"$schemaVersion": "1.13", "current_agent": {"name": "a"}, "original_input": "go"}
    return {**state, "generated_items": items, "session_items": [], "context": {"approvals": {}}}


def bfcl(turns: Turns) -> Any:
    return [
        {"id": f"e{place}", "ground_truth": [[f"t(command='do {n}')" for n in numbers]]}
        for place, numbers in enumerate(turns)
    ]


BUILDERS: dict[str, tuple[str, Callable[[Turns], Any]]] = {
    "tau-bench": ("tau-bench", tau_bench),
    "swe-agent": ("swe-agent", swe_agent),
    "swe-agent, text": ("swe-agent", swe_agent_text),
    "mini-swe-agent": ("mini-swe-agent", mini_swe_agent),
    "mini-swe-agent, text": ("mini-swe-agent", mini_swe_agent_text),
    "inspect": ("inspect", inspect),
    "openhands": ("openhands", openhands),
    "openhands, kinds": ("openhands", openhands_kinds),
    "openai-agents": ("openai-agents", openai_agents),
    "bfcl": ("bfcl", bfcl),
    "messages": ("messages", chat),
}
"""Each layout with the name of its format and what builds a document of it."""
WITHOUT_IDS = frozenset({"swe-agent, text", "mini-swe-agent, text", "bfcl"})


def mispaired(recording: Recording, *, ids: bool) -> list[str]:
    """What is wrong with the pairs of a log that was built here, and then perhaps spoiled."""
    wrong = []
    for recorded in recording.turns:
        for call, outcome in zip(recorded.turn.calls, recorded.outcomes, strict=True):
            found = re.fullmatch(r"r(\d+)", outcome.text) if outcome is not None else None
            asked = re.fullmatch(r"do (\d+)", str(call.args.get("command")))
            if found is None:
                continue
            if ids and call.id != f"c{found[1]}":
                wrong.append(f"{found[0]} is at call {call.id!r}")
            if not ids and asked is not None and asked[1] != found[1]:
                wrong.append(f"{found[0]} is at {asked[0]!r}")
    return wrong
