"""Turns of OpenAI Responses and of streams that broke off: run, recorded and replayed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

import toolflow
from toolflow import load_recording, replay
from toolflow.formats import read_stream, read_turn
from toolflow.model import Turn
from toolflow.recording import Recorder, save_recording

tools = toolflow.Toolbox()


@tools.tool(safe=True)
def add(x: int = 0) -> str:
    return f"{x}"


@tools.tool(name="shell")
def run_shell(commands: list[str]) -> dict[str, Any]:
    return {"stdout": " ".join(commands), "exit_code": 0}


def call(call_id: str, text: str, **more: Any) -> dict[str, Any]:
    item = {"type": "function_call", "call_id": call_id, "name": "add", "arguments": text}
    return {**item, **more}


def piece(index: int, call_id: str, text: str) -> dict[str, Any]:
    return {"index": index, "id": call_id, "function": {"name": "add", "arguments": text}}


def whole_response() -> Turn:
    shell = {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}}
    items = [call("a", '{"x": 1}'), {"type": "web_search_call", "id": "w"}, call("b", "{}"), shell]
    return read_turn({"object": "response", "id": "r", "output": items})


def cut_response() -> Turn:
    events: list[Any] = [
        {"type": "response.created", "response": {"id": "r"}},
        {"type": "response.output_item.done", "item": call("a", '{"x": 1}')},
        {"type": "response.output_item.added", "item": call("b", "", status="in_progress")},
    ]
    return read_stream(events)


def cut_chat() -> Turn:
    chunks: list[Any] = [
        {"choices": [{"delta": {"tool_calls": [piece(0, "a", '{"x": 1}'), piece(1, "b", "")]}}]}
    ]
    return read_stream(chunks)


def torn_chat() -> Turn:
    pieces = [piece(0, "a", '{"x": 1}'), piece(1, "b", '{"x": 1')]
    more = {"index": 1, "function": {"arguments": "}"}}
    chunks: list[Any] = [
        {"choices": [{"delta": {"tool_calls": pieces}}]},
        "{",
        {"choices": [{"delta": {"tool_calls": [more]}, "finish_reason": "tool_calls"}]},
    ]
    return read_stream(chunks)


@pytest.mark.parametrize(
    ("make", "statuses"),
    [
        (whole_response, ["ok", "ok", "ok"]),
        (cut_response, ["ok", "invalid_arguments"]),
        (cut_chat, ["ok", "invalid_arguments"]),
        (torn_chat, ["ok", "invalid_arguments"]),
    ],
)
def test_a_turn_is_run_recorded_and_replayed_to_the_same_bytes(make, statuses, tmp_path):
    engine = toolflow.Engine(tools)
    turn = make()
    recorder = Recorder(policy=engine.policy)

    result = asyncio.run(engine.run(engine.plan(turn)))
    recorder.add(result)
    save_recording(recorder.recording, tmp_path / "recording.yaml")
    again = replay(load_recording(tmp_path / "recording.yaml"))

    assert [outcome.status for outcome in result.outcomes] == statuses
    assert "1 of them compared: no divergence" in str(again)
