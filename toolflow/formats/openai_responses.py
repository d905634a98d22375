"""OpenAI Responses: a turn is the run of items of one response (spec 3.1).

Source: the published Responses reference. Read are a whole response, a list of items (a
conversation, or one response's ``output``) and a single item. ``Turn.message`` is the list of the
response's items, in their order, since each has to go back: reasoning before its calls, and what
the provider ran itself. In a list of items nothing marks where a response ends; it ends at the next
thing that only a client can say: a result, a message of another role.

A tool without a name of its own is known by its type (``shell``, ``apply_patch`` ...), and its
arguments are the object that the item holds, so that a policy can look inside.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from toolflow.formats.arguments import CUT_SHORT, Arguments, parse
from toolflow.formats.base import Answer, Flaw, Format, Misfit, Path, flaw, text_at
from toolflow.formats.history import Step, reviewed
from toolflow.formats.openai_items import (
    ANSWERS,
    CALLS,
    answered_id,
    client_calls,
    is_by_client,
    is_by_model,
    is_own_answer,
    is_telling,
    own_shell,
    type_of,
)
from toolflow.formats.openai_responses_notices import oddities
from toolflow.formats.openai_responses_results import outcome_of
from toolflow.formats.openai_responses_stream import is_chunk, join, split
from toolflow.formats.openai_responses_writer import ID_RULE, LAYOUT, write
from toolflow.formats.plain import plain, plain_fields, text_of
from toolflow.model import Call, Turn
from toolflow.model.turn import EMPTY

NAME = "openai-responses"
_UNFINISHED = frozenset({"in_progress", "incomplete"})
_HELP = "Use an item: an object with a type."
_COMPUTER = ("action", "actions", "pending_safety_checks")
_FUNCTION_FIELDS = ("type", "call_id", "name", "arguments")


@dataclass(slots=True)
class Run:
    """The items of one response. Mutable: it grows while a list is walked.

    Attributes:
        items: The items, in order.
        places: The place of each in the list.
    """

    items: list[dict[str, Any]] = field(default_factory=list)
    places: list[int] = field(default_factory=list)


def _is_response(data: Any) -> bool:
    if not isinstance(data, dict):
        return False
    if data.get("object") == "response":
        return True
    output = plain(data.get("output"))
    return "type" not in data and isinstance(output, list) and any(map(is_telling, output))


def _recognise(data: Any) -> bool:
    if not isinstance(data, list):
        return is_telling(data) or _is_response(data)
    items = [plain(item) for item in data]
    telling = [item for item in items if is_telling(item) or _is_response(item)]
    if all(not (_is_response(item) or is_by_model(item)) for item in telling):
        # Strays among the messages of another format do not make it this one.
        return bool(telling) and not any(map(_has_other_calls, items))
    return True


def _has_other_calls(item: Any) -> bool:
    """Whether a message of the model holds calls in the form of another provider."""
    if not isinstance(item, dict):
        return False
    if isinstance(item.get("tool_calls"), list) and item["tool_calls"]:
        return True
    blocks = item.get("content")
    return isinstance(blocks, list) and any(
        isinstance(block, dict) and (block.get("type") == "tool_use" or "toolUse" in block)
        for block in blocks
    )


def _read(data: Any) -> list[Turn]:
    flaws: list[Flaw] = []
    if isinstance(data, list):
        turns = _read_list(data, flaws)
    elif _is_response(data):
        turns = [_read_response(data, (), flaws)]
    elif isinstance(data, dict) and is_by_model(data):
        turns = [_read_items([data], [()], flaws)]
    else:
        raise Misfit([flaw((), data, "Use a response, its items, or an item of the model.")])
    if flaws:
        raise Misfit(flaws)
    return turns


def _read_list(items: list[Any], flaws: list[Flaw]) -> list[Turn]:
    steps = [Step(None)]
    for found in _walk(items):
        if isinstance(found, Run):
            steps.append(Step(_read_run(found, flaws)))
            continue
        place, item = found
        if not isinstance(item, dict):
            flaws.append(flaw((place,), item, _HELP))
        elif _is_response(item):
            steps.append(Step(_read_response(item, (place,), flaws)))
        else:
            steps[-1].after.append([answered_id(item) if type_of(item) in ANSWERS else None])
    return reviewed(steps, one_message=False)


def _walk(items: Sequence[Any]) -> Iterator[Run | tuple[int, Any]]:
    """A list cut at what only a client says: runs of a response's items, and all else by place."""
    run, shells = Run(), set[str]()
    for place, raw in enumerate(items):
        item = plain(raw)
        if _continues(item, shells) and (run.items or is_by_model(item)):
            run.items.append(item)
            run.places.append(place)
            if (shell := own_shell(item)) is not None:
                shells.add(shell)
            continue
        if run.items:
            yield run
            run, shells = Run(), set()
        yield place, item
    if run.items:
        yield run


def _continues(item: Any, shells: set[str]) -> bool:
    if not isinstance(item, dict) or _is_response(item):
        return False
    if type_of(item) in ANSWERS:
        return is_own_answer(item, shells)
    return not is_by_client(item)


def _steps(items: Sequence[Any]) -> Iterator[Turn | Answer]:
    for found in _walk(items):
        flaws: list[Flaw] = []
        if isinstance(found, Run):
            turn: Turn | None = _read_run(found, flaws)
        else:
            place, item = found
            turn = _read_response(item, (place,), flaws) if _is_response(item) else None
            if turn is None and type_of(item) in ANSWERS:
                yield Answer(answered_id(item), outcome_of(item), place)
        if flaws:
            raise Misfit(flaws)
        if turn is not None:
            yield turn


def _read_run(run: Run, flaws: list[Flaw]) -> Turn:
    paths: list[Path] = [(place,) for place in run.places]
    return _read_items(run.items, paths, flaws)


def _read_response(data: dict[str, Any], path: Path, flaws: list[Flaw]) -> Turn:
    whole = plain_fields(data, "output")
    output = whole.get("output")
    if not isinstance(output, list):
        flaws.append(flaw((*path, "output"), output, "Use a list of items."))
        output = []
    extra = {key: value for key, value in whole.items() if key != "output"}
    paths: list[Path] = [(*path, "output", place) for place in range(len(output))]
    return _read_items(output, paths, flaws, extra)


def _read_items(
    items: list[Any], paths: list[Path], flaws: list[Flaw], extra: Mapping[str, Any] = EMPTY
) -> Turn:
    """A turn of the items of one response; what cannot be read is put to the flaws."""
    flaws += [
        flaw(path, item, _HELP)
        for item, path in zip(items, paths, strict=True)
        if not isinstance(item, dict)
    ]
    calls = [
        _read_call(index, items[place], paths[place], flaws)
        for index, place in enumerate(client_calls(items))
    ]
    message_id = extra.get("id")
    return Turn(
        id="",
        calls=tuple(calls),
        format=NAME,
        message=items,
        message_id=message_id if isinstance(message_id, str) else None,
        notices=tuple(oddities(items, calls, extra)),
        extra=extra,
    )


def _read_call(index: int, item: dict[str, Any], path: Path, flaws: list[Flaw]) -> Call:
    kind = CALLS[item["type"]]
    call_id, name = item.get("call_id"), item.get("name") if kind.tool is None else kind.tool
    if type(call_id) is not str or type(name) is not str:
        call_id = text_at((*path, "call_id"), call_id, flaws)
        name = text_at((*path, "name"), name, flaws)
    if item["type"] == "function_call":
        args, raw, problem = _function_arguments(item)
        extra = item.copy()
        for key in _FUNCTION_FIELDS:
            extra.pop(key, None)
    else:
        args, raw, problem = _other_arguments(item, kind.given)
        if text_of(item.get("status")) in _UNFINISHED:
            args, raw, problem = EMPTY, raw or "", CUT_SHORT  # nobody can tell whether it is whole
        known = ("call_id", "name", kind.given, "actions", "pending_safety_checks")
        extra = {key: value for key, value in item.items() if key not in known}
    return Call(index, call_id, name, args, raw, problem, extra or EMPTY)


def _function_arguments(item: dict[str, Any]) -> Arguments:
    """The arguments of a function; an unfinished call without any must not run with ``{}``."""
    given = item.get("arguments")
    if (given is None or given == "") and text_of(item.get("status")) in _UNFINISHED:
        return Arguments(EMPTY, "", CUT_SHORT)
    return parse(given)


def _other_arguments(item: dict[str, Any], key: str) -> Arguments:
    """The arguments of a call that is no function: the object that says what to do."""
    if item["type"] == "custom_tool_call":
        return parse({"input": item.get(key, "")})
    if item["type"] == "computer_call":
        return parse({name: item[name] for name in _COMPUTER if item.get(name) is not None})
    given = plain(item.get(key))
    if given is None:
        problem = f"The call has no {key}. Give an object under {key}."
        return Arguments(EMPTY, None, problem)
    return parse(given)


FORMAT = Format(
    name=NAME,
    about="a response with output, or items such as function_call and function_call_output",
    recognise=_recognise,
    read=_read,
    write=write,
    id_rule=ID_RULE,
    is_chunk=is_chunk,
    join=join,
    split=split,
    steps=_steps,
    layout=LAYOUT,
)
