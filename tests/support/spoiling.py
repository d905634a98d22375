"""Inputs that are spoiled by chance: recorded files, small logs, messages, each changed somewhere.

`spoiled` gives the same input for the same number and the same seeds, so that a fault is told by a
number. Of a large file an input has some lines, or the whole with shorter lists, so that it takes a
few milliseconds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from made_turns import MAKERS, Chance
from session_samples import DOCUMENTS, LINES

from toolflow import yamlio

WINDOW = 12_000
"""The most bytes of a file in one input."""
_HUGE = "9" * 5000
_DEEP = 100
_VERY_DEEP = 20_000
_TOKENS = (
    b"null", b"NaN", b"-Infinity", b"1e999", b"-0", b"[]", b"{}", b'""', b"true", b'"\\ud83d"',
    b"\x00", b"\\u0000", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3\x28", b"\xe2\x80\xa8", b"\r", b"\n",
    b",", b":", b"}", b"]", b"{", b"[", b'"', b"data: ", b"event: x\n", b"[DONE]", b"--- !!x\n",
    b"&a [*a]", b"!!python/object:x ", b"? - x\n", b"1" * 5000,
)  # fmt: skip


class Spoiled(NamedTuple):
    """One input.

    Attributes:
        data: Its bytes.
        suffix: The ending of the file's name.
        how: What was done to which file.
    """

    data: bytes
    suffix: str
    how: str


class Seed(NamedTuple):
    """What is spoiled.

    Attributes:
        data: The bytes of a file.
        suffix: The ending of its name.
        name: Its name for people.
        value: What a large file holds that is one JSON or YAML document, else ``None``.
    """

    data: bytes
    suffix: str
    name: str
    value: Any = None


def corpus() -> Path | None:
    """The folder of recorded files, if it is there."""
    default = Path(__file__).parents[3] / "shared" / "corpus"
    path = Path(os.environ.get("TOOLFLOW_CORPUS", default))
    return path if path.is_dir() else None


def seeds(folder: Path | None) -> list[Seed]:
    """The recorded files, if a folder is given, and small logs and messages of every format."""
    found = []
    for path in sorted(folder.rglob("*.*")) if folder is not None else ():
        data = path.read_bytes()
        found.append(Seed(data, path.suffix, path.name, _document(data, path)))
    for name, sample in LINES.items():
        text = "\n".join(json.dumps(line) for line in sample.lines)
        found.append(Seed(text.encode(), ".jsonl", name))
    for name, document in DOCUMENTS.items():
        found.append(Seed(json.dumps(document.value).encode(), ".json", name))
    for form, make in MAKERS.items():
        chance = Chance(form)
        rows = [chance.row(as_text=True) for _ in range(4)]
        value = make(chance, rows)
        found.append(Seed(json.dumps(value).encode(), ".json", form))
    return found


def _document(data: bytes, path: Path) -> Any:
    if len(data) <= WINDOW:
        return None
    if path.suffix == ".yaml":
        return yamlio.load(data.decode(), source=path.name, binary=True).value
    try:
        return json.loads(data)
    except ValueError:
        return None


def spoiled(sources: Sequence[Seed], number: int) -> Spoiled:
    """An input.

    Args:
        sources: What there is to spoil (see `seeds`).
        number: Which input.
    """
    random = Random(f"input {number}")
    seed = sources[number % len(sources)]
    data = _window(random, seed)
    done = []
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        change = random.choice(_CHANGES)
        other = sources[random.randrange(len(sources))].data
        data = change(random, data, other)[: 20 * WINDOW]
        done.append(change.__name__.strip("_"))
    suffix = seed.suffix
    if random.randrange(20) == 0:
        suffix = random.choice((".json", ".jsonl", ".yaml", ".txt", ""))
    return Spoiled(data, suffix, f"{seed.name}: {', '.join(done)}")


def _window(random: Random, seed: Seed) -> bytes:
    """A part of a file: lines of it, or a document with shorter lists."""
    if len(seed.data) <= WINDOW:
        return seed.data
    if seed.value is not None and random.randrange(4):
        return json.dumps(_pruned(random, seed.value, 3)).encode()
    lines = seed.data.splitlines(keepends=True)
    start = random.randrange(len(lines)) if random.randrange(3) else 0
    found, size = list[bytes](), 0
    for line in lines[start:]:
        size += len(line)
        if size > WINDOW and found:
            break
        found.append(line[: 2 * WINDOW])
    return b"".join(found)


def _pruned(random: Random, value: Any, most: int) -> Any:
    """The value with at most so many items of each list, and with shorter texts."""
    if isinstance(value, dict):
        return {key: _pruned(random, item, most) for key, item in value.items()}
    if isinstance(value, str):
        return value if len(value) < 2000 or value[:1] in ("{", "[", "d", "e") else value[:200]
    if not isinstance(value, list):
        return value
    start = random.randrange(max(1, len(value) - most + 1)) if random.randrange(2) else 0
    return [_pruned(random, item, most) for item in value[start : start + most]]


def _bytes(random: Random, data: bytes, other: bytes) -> bytes:
    """Bytes are changed, lost, doubled or put in."""
    fresh = bytearray(data)
    for _ in range(random.randrange(1, 5)):
        at = random.randrange(len(fresh) + 1)
        to = min(len(fresh), at + random.randrange(1, 40))
        what = random.randrange(5)
        if what == 0:
            fresh[at:to] = bytes(random.randrange(256) for _ in range(random.randrange(6)))
        elif what == 1:
            del fresh[at:to]
        elif what == 2:
            fresh[at:at] = fresh[at:to]
        elif what == 3:
            fresh[at:at] = random.choice(_TOKENS)
        else:
            fresh[at:to] = other[:20]
    return bytes(fresh)


def _cut(random: Random, data: bytes, other: bytes) -> bytes:
    """The end is missing, or the beginning."""
    at = random.randrange(len(data) + 1)
    return data[:at] if random.randrange(4) else data[at:]


def _lines(random: Random, data: bytes, other: bytes) -> bytes:
    """Lines are lost, doubled, moved, joined, torn, or are another file's."""
    lines = data.splitlines(keepends=True) or [b""]
    for _ in range(random.randrange(1, 4)):
        at, to = random.randrange(len(lines)), random.randrange(len(lines))
        what = random.randrange(6)
        if what == 0 and len(lines) > 1:
            del lines[at]
        elif what == 1:
            lines.insert(to, lines[at])
        elif what == 2:
            lines[at], lines[to] = lines[to], lines[at]
        elif what == 3:
            lines[at] = lines[at].rstrip(b"\n")
        elif what == 4:
            lines[at] = lines[at][: random.randrange(len(lines[at]) + 1)]
        else:
            lines.insert(at, random.choice(other.splitlines(keepends=True) or [b""])[:WINDOW])
    return b"".join(lines)


def _encoded(random: Random, data: bytes, other: bytes) -> bytes:
    """Another encoding, a mark at the start, other ends of lines."""
    text = data.decode("utf-8", "replace")
    choices: tuple[Callable[[], bytes], ...] = (
        lambda: text.encode("utf-16"),
        lambda: text.encode("utf-16-le"),
        lambda: text.encode("utf-32"),
        lambda: text.replace("e", "é").encode("latin-1", "replace"),
        lambda: b"\xef\xbb\xbf" + data,
        lambda: data.replace(b"\n", b"\r\n"),
        lambda: data.replace(b"\n", b"\r"),
        lambda: data.replace(b"\n", "\u2028".encode()),
        lambda: data.replace(b" ", b"\t"),
        lambda: data + b"\x00" * random.randrange(1, 5000),
    )
    return random.choice(choices)()


def _values(random: Random, data: bytes, other: bytes) -> bytes:
    """Values of the JSON in it are replaced, lost, doubled, moved or renamed."""
    lines = data.split(b"\n")
    at = random.randrange(len(lines))
    for whole, start in ((True, 0), (False, at)):
        try:
            value = json.loads(data if whole else lines[start])
        except (ValueError, RecursionError):
            continue
        for _ in range(random.randrange(1, 4)):
            value = _changed(random, value)
        text = _text(value)
        return text if whole else b"\n".join((*lines[:start], text, *lines[start + 1 :]))
    return _bytes(random, data, other)


class _Raw(int):
    """Stands for JSON text that `json` would not write."""


_RAW = {
    1: _HUGE,
    2: f"-{_HUGE}.5",
    3: "[" * _DEEP + "]" * _DEEP,
    4: '{"a":' * _DEEP + "1" + "}" * _DEEP,
    5: "[" * _VERY_DEEP + "]" * _VERY_DEEP,
    6: '{"a":' * _VERY_DEEP,
    7: "1e999",
    8: '"\\ud83d"',
}


def _text(value: Any) -> bytes:
    text = json.dumps(_marked(value))
    for number, raw in _RAW.items():
        text = text.replace(f'"<raw {number}>"', raw)
    return text.encode("utf-8", "surrogatepass")


def _marked(value: Any) -> Any:
    if isinstance(value, _Raw):
        return f"<raw {int(value)}>"
    if isinstance(value, dict):
        return {key: _marked(item) for key, item in value.items()}
    return [_marked(item) for item in value] if isinstance(value, list) else value


def _odd(random: Random) -> Any:
    return random.choice(
        (
            None, True, False, 0, -1, 1.5, 2**63, 10**400, float("nan"), "", " ", "a", "\ud83d",
            "\x00", "null", "{}", "{", "[1]", "x" * 3000, [], {}, [None], [[]], {"": None}, [{}],
            {"type": "tool_use"}, {"role": "assistant"}, {"id": 7, "name": 7}, ["assistant"],
            *(_Raw(n) for n in _RAW),
        )
    )  # fmt: skip


def _changed(random: Random, value: Any) -> Any:
    """The value with one change at one place."""
    places = list(_places(value))
    if not places:
        return _odd(random)
    holder, key = random.choice(places)
    what = random.randrange(6)
    text = holder[key]
    if isinstance(text, str) and text[:1] in ("{", "[", "d", "e") and random.randrange(4):
        holder[key] = _inside(random, text)
    elif what <= 1:
        holder[key] = _odd(random)
    elif what == 2:
        del holder[key]
    elif what == 3 and isinstance(holder, list):
        holder.insert(random.randrange(len(holder) + 1), holder[key])
    elif what == 4:
        source, name = random.choice(places)
        if name in source if isinstance(source, dict) else name < len(source):
            moved = source[name]
            if not _holds(moved, holder):
                holder[key] = moved
    elif isinstance(holder, dict):
        _, name = random.choice(places)
        holder[str(name)] = holder.pop(key)
    return value


def _inside(random: Random, text: str) -> str:
    """Text that holds JSON or a stream, changed within."""
    change = random.choice((_values, _lines, _bytes, _cut))
    return change(random, text.encode("utf-8", "surrogatepass"), b"{}").decode("utf-8", "replace")


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    left = [value]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            yield from ((value, key) for key in value)
            left += value.values()
        elif isinstance(value, list):
            yield from ((value, place) for place in range(len(value)))
            left += value


def _holds(value: Any, inner: Any) -> bool:
    """Whether a value is or holds another: putting it in there would make a ring."""
    left = [value]
    while left:
        value = left.pop()
        if value is inner:
            return True
        left += (
            value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        )
    return False


_CHANGES = (_bytes, _cut, _lines, _lines, _encoded, _values, _values, _values, _values)
