"""What a parser says, in the house's own words, and tabs, which no parser tells well."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any

from toolflow.errors import Problem

_MAX_TABS = 100
_COMMENT = re.compile(r"(?:^|\s)#")
_TAB = "A tab stands here. Use blanks to indent and to separate."

_INDENT = "The indentation does not fit the lines before. Line up the items and keys."

# Faults that are shown where something was opened, not where the parser gave up.
_OPENED = ("quoted scalar", "',' or ']'", "',' or '}'")

# A part of the parser's sentence, in both of its wordings -> ours.
_WORDS = (
    (
        "mapping values are not allowed",
        "A ': ' stands where none can. Put text that holds it in quotes.",
    ),
    (
        "sequence entries are not allowed",
        "A list item cannot start here. Start it on a line of its own.",
    ),
    ("while scanning a quoted scalar", "A quote is opened here and not closed."),
    ("expected ',' or ']'", "A list is opened here with '[' and lacks a ',' or its ']'."),
    ("expected ',' or '}'", "A mapping is opened here with '{' and lacks a ',' or its '}'."),
    ("node content", "A list or mapping is opened with '[' or '{' and lacks its ']' or '}'."),
    ("expected key", _INDENT),
    ("expected <block end>", _INDENT),
    ("expected '-'", _INDENT),
    ("could not find expected ':'", "A key lacks its ':'."),
    ("document start", "A second document starts here. Use one document a file."),
    ("incompatible YAML", "This version of YAML is not known. Leave the %YAML line out."),
)


def parse_problem(
    error: Exception, text: str, source: str, *, begin: int = 0
) -> tuple[Problem, int]:
    """What stopped the parser, as one problem.

    Args:
        error: What the parser raised.
        text: The text that it read.
        source: The document's name.
        begin: How much of the text was read before and is not at hand any more.

    Returns:
        The problem, and the offset in the text up to which it was read.
    """
    at = getattr(error, "problem_mark", None)
    if at is None:
        return Problem("The YAML cannot be read.", source, code="syntax"), 0
    line, column, index = at.line, at.column, at.index - begin
    before = text[text.rfind("\n", 0, index) + 1 : index]
    if text[index : index + 1] == "\t" or (before.endswith("\t") and before.isspace()):
        tab = text.index("\t", index - len(before))
        place = column - (index - tab) + 1
        return Problem(_TAB, source, line + 1, place, "tab"), index
    said = f"{getattr(error, 'context', None) or ''}: {getattr(error, 'problem', None) or ''}"
    opened = getattr(error, "context_mark", None)
    if opened is not None and any(part in said for part in _OPENED):
        line, column = opened.line, opened.column
    return Problem(_sentence(said, text, index), source, line + 1, column + 1, "syntax"), index


def _sentence(said: str, text: str, index: int) -> str:
    if "cannot start any token" in said:
        return f"Text cannot start with {text[index : index + 1]!r}. Put it in quotes."
    for part, sentence in _WORDS:
        if part in said:
            return sentence
    return f"The YAML cannot be read: {said.strip(': ')}."


def key_message(key: Any) -> str:
    """The sentence for a key that is not text.

    Args:
        key: The key as read: a mapping, a list, a number, a boolean or ``None``.
    """
    if isinstance(key, dict | list):
        kind = "a mapping" if isinstance(key, dict) else "a list"
        return f"A key is {kind}. Keys are text; put a {{{{ template }}}} in quotes."
    shown = "null" if key is None else str(key).lower() if isinstance(key, bool) else str(key)
    return f"The key {shown} is not text. Put it in quotes: {shown!r}."


def tab_problems(text: str, quoted: list[tuple[int, int]], end: int, source: str) -> list[Problem]:
    """Every line that has a tab outside of quotes, block text and comments.

    YAML allows tabs in some of these places, but no two readers agree in which (spec 4.6).

    Args:
        text: The whole text.
        quoted: Offsets of quoted and block text, ascending.
        end: The offset up to which ``quoted`` is known.
        source: The document's name.

    Returns:
        At most a hundred problems, one a line. The work grows linearly with the text.
    """
    problems: list[Problem] = []
    starts = [start for start, _ in quoted]
    line, begin, after, done = 1, 0, _line_end(text, 0), -1
    for match in re.finditer("\t", text[:end]):
        index = match.start()
        while index > after:
            line, begin, after = line + 1, after + 1, _line_end(text, after + 1)
        span = bisect_right(starts, index) - 1
        if line == done or (span >= 0 and index < quoted[span][1]):
            continue
        done = line  # in a comment or told: either holds for the rest of the line
        free = text[max(begin, quoted[span][1] if span >= 0 else 0) : index]
        if not _COMMENT.search(free):
            problems.append(Problem(_TAB, source, line, index - begin + 1, "tab"))
            if len(problems) >= _MAX_TABS:
                break
    return problems


def _line_end(text: str, begin: int) -> int:
    end = text.find("\n", begin)
    return len(text) if end < 0 else end
