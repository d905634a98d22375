"""MCP ``tools/call``: JSON-RPC requests are the calls, ``CallToolResult`` responses the results.

Source: the published MCP specification and JSON-RPC 2.0. The protocol has no messages of a model: a
list of requests is one turn, as a batch is; in a list in which responses stand too, a turn is what
was asked for up to the next response. Where responses stand is free, and so is what stands between
(notices of progress, other methods).

A number and a text are different ids: ``1`` is not ``"1"``. The id of a call is text here; that of
a number is its digits, with ``+`` added while a text of the same turn is the same. The id as it
came is in ``Call.extra``, beside ``_meta`` with its progress token. A request as handlers see it,
without ``jsonrpc``, has no id, and its result is written without an envelope.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from toolflow.formats.arguments import parse
from toolflow.formats.base import Answer, Flaw, Format, Misfit, Path, flaw
from toolflow.formats.history import Step, reviewed
from toolflow.formats.ids import made_up_ids
from toolflow.formats.mcp_results import is_response, outcome_of
from toolflow.formats.mcp_writer import ID_RULE, LAYOUT, write
from toolflow.formats.plain import plain
from toolflow.model import Call, Turn
from toolflow.model.turn import EMPTY

NAME = "mcp"
_METHOD = "tools/call"
_FIELDS = frozenset({"jsonrpc", "id", "method", "params"})
_PARAMS = frozenset({"name", "arguments"})
_USE = "Use a tools/call request: an object with method and params."

Key = tuple[str, Any]


def _recognise(data: Any) -> bool:
    items = map(plain, data) if isinstance(data, list) else (data,)
    return any(
        _is_request(item) or (isinstance(item, list) and any(map(_is_request, map(plain, item))))
        for item in items
    )


def _is_request(data: Any) -> bool:
    return isinstance(data, dict) and data.get("method") == _METHOD


def _read(data: Any) -> list[Turn]:
    flaws: list[Flaw] = []
    if not isinstance(data, list):
        request = plain(data)
        turns = [_turn([request], [()], request, flaws)]
    else:
        steps = [Step(None)]
        for part in _parts(data, flaws):
            if isinstance(part, Turn):
                steps.append(Step(part))
            else:
                steps[-1].after.append([part.call_id])
        turns = reviewed(steps, one_message=False)
    if flaws:
        raise Misfit(flaws)
    return turns


def _steps(items: Sequence[Any]) -> Iterator[Turn | Answer]:
    flaws: list[Flaw] = []
    for part in _parts(items, flaws):
        if flaws:
            break
        yield part
    if flaws:
        raise Misfit(flaws)


def _parts(items: Sequence[Any], flaws: list[Flaw]) -> Iterator[Turn | Answer]:
    """The turns and answers of a list of messages, in its order."""
    waiting: list[tuple[Any, Path]] = []
    names: dict[Key, str] = {}
    for index, raw in enumerate(items):
        item = plain(raw)
        batch = list(map(plain, item)) if isinstance(item, list) else [item]
        answers = [message for message in batch if is_response(message)]
        if waiting and (answers or isinstance(item, list)):
            yield _named(waiting, names, flaws)
            waiting = []
        for message in answers:
            yield Answer(_answered(message, names), outcome_of(message), index)
        for place, message in enumerate(batch):
            path: Path = (index, place) if isinstance(item, list) else (index,)
            if _is_request(message):
                waiting.append((message, path))
            elif not isinstance(message, dict):
                flaws.append(flaw(path, message, _USE))
        if waiting and isinstance(item, list):
            yield _named(waiting, names, flaws)
            waiting = []
    if waiting:
        yield _named(waiting, names, flaws)


def _named(waiting: list[tuple[Any, Path]], names: dict[Key, str], flaws: list[Flaw]) -> Turn:
    """The turn of some requests, whose responses are then known by name."""
    requests, paths = [message for message, _ in waiting], [path for _, path in waiting]
    turn = _turn(requests, paths, requests if len(requests) > 1 else requests[0], flaws)
    for call, request in zip(turn.calls, requests, strict=True):
        key = _key(request.get("id"))
        if key is not None:
            names[key] = call.id
    return turn


def _answered(response: dict[str, Any], names: dict[Key, str]) -> str:
    key = _key(response.get("id"))
    return "" if key is None else names.get(key, str(key[1]))


def _key(given: Any) -> Key | None:
    """What an id is the same as: a number or a text; ``None`` for anything else."""
    if isinstance(given, str):
        return "text", given
    return ("number", given) if _is_number(given) else None


def _is_number(given: Any) -> bool:
    whole = isinstance(given, int) or (isinstance(given, float) and given.is_integer())
    return whole and not isinstance(given, bool) and abs(given) < _LARGEST


_LARGEST = 2**63


def _turn(requests: Sequence[Any], paths: Sequence[Path], message: Any, flaws: list[Flaw]) -> Turn:
    given = [_given_id(request, path, flaws) for request, path in zip(requests, paths, strict=True)]
    texts = {name for name in given if isinstance(name, str)}
    ids = made_up_ids([_unlike(name, texts) for name in given])
    calls = tuple(
        [
            _call(index, call_id, request, path, flaws)
            for index, (call_id, request, path) in enumerate(zip(ids, requests, paths, strict=True))
        ]
    )
    carries = not calls or any(name is not None for name in given)
    return Turn("", calls, NAME, message, carries_ids=carries)


def _given_id(request: Any, path: Path, flaws: list[Flaw]) -> str | float | None:
    """The id of a request; an absent one is empty where there has to be one."""
    if not isinstance(request, dict):
        return ""
    given = request.get("id")
    if given is None:
        return "" if "jsonrpc" in request else None
    if isinstance(given, str) or _is_number(given):
        return given  # type: ignore[no-any-return]  # one of the two
    flaws.append(flaw((*path, "id"), given, "Use text or a whole number."))
    return ""


def _unlike(given: str | float | None, texts: set[str]) -> str | None:
    """An id as text; that of a number is made unlike all texts of the turn."""
    if given is None or isinstance(given, str):
        return given
    name = str(int(given))
    while name in texts:
        name += "+"
    return name


def _call(index: int, call_id: str, request: Any, path: Path, flaws: list[Flaw]) -> Call:
    if not isinstance(request, dict):
        flaws.append(flaw(path, request, _USE))
        return Call(index, call_id, "")
    params = plain(request.get("params"))
    if not isinstance(params, dict):
        flaws.append(flaw((*path, "params"), params, "Use an object with name and arguments."))
        return Call(index, call_id, "")
    name = params.get("name")
    if name is not None and not isinstance(name, str):
        flaws.append(flaw((*path, "params", "name"), name, "Use text."))
    extra = {key: value for key, value in request.items() if key not in _FIELDS}
    if not isinstance(request.get("id"), str | None):
        extra["id"] = request["id"]
    more = {key: value for key, value in params.items() if key not in _PARAMS}
    if more:
        extra["params"] = more
    tool = name if isinstance(name, str) else ""
    return Call(index, call_id, tool, *parse(params.get("arguments")), extra or EMPTY)


FORMAT = Format(
    name=NAME,
    about="a JSON-RPC request with the method tools/call, or a list of them",
    recognise=_recognise,
    read=_read,
    write=write,
    id_rule=ID_RULE,
    steps=_steps,
    layout=LAYOUT,
)
