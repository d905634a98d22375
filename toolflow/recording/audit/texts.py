"""What calls wrote and what results show, as far as arguments and texts tell.

Tools name their arguments differently, and so do programs their errors; the tables below hold those
of the common ones. What is not in them proves nothing, and nothing is found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from toolflow.model.outcome import Outcome
from toolflow.recording.show import shown

LEAST = 8
"""How many characters a text needs to prove anything: shorter ones stand anywhere."""
_MOST = 1024 * 1024  # characters of a result that are looked at
_CHANGES = 20  # of one call
_BEFORE = 16  # characters of evidence before what was found

_REPLACED = (
    ("old_string", "new_string"),  # Claude Code, Gemini CLI
    ("old_str", "new_str"),  # SWE-agent, OpenHands
    ("oldText", "newText"),  # pi, the MCP server for files
    ("old_text", "new_text"),
)
_LISTS = ("edits", "changes", "replacements")
_WHOLE = ("content", "contents", "file_text", "text")
_PARTS = ("offset", "limit", "view_range", "start_line", "end_line", "range", "head", "tail")
_NUMBERS = re.compile(r"^ *\d+[→\t]", re.MULTILINE)  # as `cat -n` writes them

CHANGED_MEANWHILE = re.compile(
    r"(?i)(has been|was) (unexpectedly )?(modified|changed)( externally)? since"
    r"|changed on disk|file has changed"
)
NOT_FOUND = re.compile(
    r"(?i)(string|text)( to replace)? (was )?not found|could not find( the)?( exact)? (old )?text"
    r"|did not appear verbatim|no match(es)? (was |were )?found|0 occurrences found"
    r"|could not find the string to replace"
)
NO_FILE = re.compile(r"(?i)(file|path)\b.{0,300}(does not exist|not found)|no such file|ENOENT")
CANCELLED = re.compile(
    r"(?i)sibling tool call|cancell?ed: parallel tool call|cancell?ed because (a|an|another) "
)


@dataclass(frozen=True, slots=True)
class Change:
    """What a call wrote into a file.

    Attributes:
        old: The text that it replaced; ``None`` where it wrote the whole file.
        new: The text that it wrote.
    """

    old: str | None
    new: str


def changes_of(args: Mapping[str, Any]) -> tuple[Change, ...]:
    """The changes that a call's arguments ask for; the first twenty.

    Args:
        args: Its arguments.
    """
    found: list[Change] = []
    for name in _LISTS:
        items = args.get(name)
        for item in items[:_CHANGES] if isinstance(items, list) else ():
            found += _replacements(item) if isinstance(item, Mapping) else ()
    found += _replacements(args)
    if not found:
        texts = (args.get(name) for name in _WHOLE)
        found += [Change(None, text) for text in texts if isinstance(text, str)][:1]
    return tuple(found[:_CHANGES])


def _replacements(args: Mapping[str, Any]) -> Iterator[Change]:
    for old_name, new_name in _REPLACED:
        old, new = args.get(old_name), args.get(new_name, "")
        if isinstance(old, str) and isinstance(new, str):
            yield Change(old, new) if old else Change(None, new)


def is_partial(args: Mapping[str, Any]) -> bool:
    """Whether a call asks for a part of a file only."""
    return any(args.get(name) is not None for name in _PARTS)


def plain_text(outcome: Outcome) -> str:
    """What a result shows, without the numbers that tools put before lines."""
    return _NUMBERS.sub("", outcome.text[:_MOST])


def shows_old(text: str, change: Change) -> bool:
    """Whether a text shows a file as it was before a change, and not as it is after it."""
    old = change.old
    if old is None or not proves(old) or old not in text:
        return False
    # A change that only takes out part of the old text leaves nothing that is new.
    return change.new in old or (proves(change.new) and change.new not in text)


def shows_new(text: str, change: Change) -> bool:
    """Whether a text shows a file as it is after a change, and not as it was before."""
    if not proves(change.new) or change.new not in text:
        return False
    return change.old is None or change.old in change.new or change.old not in text


def proves(text: str) -> bool:
    """Whether a text is long enough to say which state of a file it comes from."""
    return len(text.strip()) >= LEAST


def evidence(text: str, part: str = "") -> str:
    """The words that show something: cut, on one line, without control characters.

    Args:
        text: Where they stand.
        part: What is to be seen; the begin of the text where it is not in it.
    """
    at = max(0, text.find(part.strip()) - _BEFORE) if part else 0
    return shown(text[at : at + 400])
