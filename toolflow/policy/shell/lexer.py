"""Words and operators of a command line, by the rules of Bash.

This is the second reader of every line. The grammar says how words form commands; this says
where words end and what they stand for. A line counts as understood only where both see the same
words (see `toolflow.policy.shell.grammar`): each alone is wrong about a few odd spellings, such as
an escaped blank before a word, and here an error must never pass for reading.

What is not followed raises `NotFollowedError`: substitutions, here-documents, arithmetic. The
scan is one pass with no way back, so its time is linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from toolflow.policy.expressions import shorten

_OPERATOR: Final = re.compile(
    r"&>>|<<<|<<-|;;&|&&|\|\||;;|;&|<<|>>|<&|>&|<>|&>|>\||\|&|\n|[()<>&;|]"
)
_PLAIN: Final = re.compile(r"[^\s\\'\"$`*?\[{}~&;|()<>]+")
_QUOTED: Final = re.compile(r"[^\\\"$`]+")
_ANSI: Final = re.compile(r"\$'(?:[^'\\]|\\.)*+'", re.DOTALL)
_VARIABLE: Final = re.compile(r"\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\}|[0-9?#!$@*_-])", re.ASCII)
_ENDS: Final = frozenset(" \t\n&;|()<>")
_GLOBS: Final = frozenset("*?[")
_ODD: Final = {
    "$(": "the substitution {} is not followed",
    "$[": "the arithmetic in {} is not followed",
    "${": "the expansion {} is not followed",
    '$"': "the translated text {} is not followed",
}


class NotFollowedError(Exception):
    """A part of a line that is not understood; the text is a clause such as ``the ... is ...``."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a command line.

    Attributes:
        raw: As written.
        text: What it stands for, or ``None`` where that is known at run time only.
        head: What is known of its beginning: all of it, where ``text`` is known.
        pattern: Whether a sign of a pattern of file names stands in it.
        glob: Whether it is such a pattern, and known but for that.
        one: Whether it stands for exactly one word.
        plain: Whether no character of it is quoted or escaped.
    """

    raw: str
    text: str | None
    head: str
    pattern: bool = False
    glob: bool = False
    one: bool = True
    plain: bool = True

    @property
    def option(self) -> bool:
        """Whether it is an option, or may turn out to be one."""
        if self.text is not None:
            return self.text[:1] == "-" and self.text != "-"
        return self.head[:1] in ("", "-") or not (self.one or self.glob)

    def __str__(self) -> str:
        return shorten(self.raw)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, an operator, a line feed, or the number before a redirection.

    Attributes:
        kind: ``word``, ``operator`` or ``number``.
        start: Where it begins, in characters.
        end: Where it ends.
        text: As written.
        word: The word, where it is one.
    """

    kind: str
    start: int
    end: int
    text: str
    word: Word | None = None


def tokens_of(line: str) -> list[Token]:
    """The tokens of a line, without blanks and remarks.

    Args:
        line: The line, of printable characters, tabs and line feeds.

    Raises:
        NotFollowedError: If something in it is not understood.
    """
    found: list[Token] = []
    at = 0
    while at < len(line):
        if line[at] in " \t" or line.startswith("\\\n", at):
            at += 1 if line[at] in " \t" else 2
        elif line[at] == "#":
            end = line.find("\n", at)
            at = len(line) if end < 0 else end
        else:
            found.append(_operator(line, at) or _word(line, at))
            at = found[-1].end
    return found


def _operator(line: str, at: int) -> Token | None:
    match = _OPERATOR.match(line, at)
    if match is None:
        return None
    text, end = match[0], match.end()
    if text in ("<<", "<<-"):
        raise NotFollowedError("the here-document is not followed")
    if text in ("<", ">") and line.startswith("(", end):
        raise NotFollowedError(f"the process substitution {_piece(line, at)} is not followed")
    if text == "(" and line.startswith("(", end):
        raise NotFollowedError("the arithmetic '((' is not followed")
    return Token("operator", at, end, text)


def _word(line: str, start: int) -> Token:
    end = _Scan(line, start)
    raw = line[start : end.at]
    before_redirection = line[end.at : end.at + 1] in ("<", ">")
    if before_redirection and raw.isascii() and raw.isdigit():
        return Token("number", start, end.at, raw)
    if before_redirection and raw.startswith("{") and raw.endswith("}"):
        raise NotFollowedError(f"the redirection of {shorten(raw)} is not followed")
    return Token("word", start, end.at, raw, end.word(raw))


class _Scan:
    """Goes through one word from ``start``; ``at`` is where it ends."""

    def __init__(self, line: str, start: int) -> None:
        self.line, self.at = line, start
        self.pieces: list[str] = []
        self.head: str | None = None  # set where the first unknown piece stands
        self.glob = self.several = self.unknown = False
        self.plain, self.brace = True, False
        while self.at < len(line) and line[self.at] not in _ENDS:
            self._piece(line[self.at])

    def word(self, raw: str) -> Word:
        text = "".join(self.pieces)
        if raw in ("[", "[["):
            return Word(raw, raw, raw)
        if self.brace and ("," in text or ".." in text):
            self._not_known(several=True)
            self.head = (self.head or "").partition("{")[0]
        if self.head is None:
            return Word(raw, text, text, plain=self.plain)
        one = not (self.glob or self.several)
        glob = self.glob and not self.unknown
        return Word(raw, None, self.head, self.glob, glob, one, self.plain)

    def _piece(self, sign: str) -> None:
        line, at = self.line, self.at
        if sign in ("\\", "'"):
            self._literal(sign)
        elif sign == '"':
            self._double()
        elif sign == "$":
            self._dollar(quoted=False)
        elif sign == "`":
            raise NotFollowedError(f"the substitution {_piece(line, at)} is not followed")
        elif sign in _GLOBS:
            self._not_known(glob=True)
            self._take(sign, 1)
        elif sign == "~":
            if not self.pieces or self.pieces[-1][-1:] in ("=", ":"):
                self._not_known(head="~")
            self._take(sign, 1)
        elif sign in "{}":
            self.brace = True
            self._take(sign, 1)
        else:
            match = _PLAIN.match(line, at)
            if match is None:
                raise NotFollowedError(f"the character {line[at]!r} is not followed")
            self._take(match[0], len(match[0]))

    def _literal(self, sign: str) -> None:
        """A character after a backslash, or text between single quotes."""
        line, at = self.line, self.at
        if sign == "'":
            end = line.find("'", at + 1)
            if end < 0:
                raise NotFollowedError("a quote is not closed")
            self._take(line[at + 1 : end], end + 1 - at, quoted=True)
        elif line[at + 1 : at + 2] in ("", "\n"):
            raise NotFollowedError("a backslash inside a word ends the line")
        else:
            self._take(line[at + 1], 2, quoted=True)

    def _double(self) -> None:
        """Text between double quotes: variables, substitutions and a few escapes hold in it."""
        line = self.line
        self._take("", 1, quoted=True)
        while self.at < len(line):
            sign = line[self.at]
            if sign == '"':
                self.at += 1
                return
            if sign == "$":
                self._dollar(quoted=True)
            elif sign == "`":
                raise NotFollowedError(f"the substitution {_piece(line, self.at)} is not followed")
            elif sign == "\\":
                escaped = line[self.at + 1 : self.at + 2]
                kept = escaped if escaped in ("$", "`", '"', "\\") else f"\\{escaped}"
                self._take("" if escaped == "\n" else kept, 1 + len(escaped), quoted=True)
            else:
                match = _QUOTED.match(line, self.at)
                assert match is not None
                self._take(match[0], len(match[0]), quoted=True)
        raise NotFollowedError("a quote is not closed")

    def _dollar(self, *, quoted: bool) -> None:
        line, at = self.line, self.at
        if match := _VARIABLE.match(line, at):
            self._not_known(several=not quoted or line.startswith(("$@", "$*"), at))
            self._take("", len(match[0]))
        elif not quoted and (match := _ANSI.match(line, at)):
            self._not_known()
            self._take("", len(match[0]), quoted=True)
        elif said := (
            None if quoted and line.startswith('$"', at) else _ODD.get(line[at : at + 2])
        ):
            raise NotFollowedError(said.format(_piece(line, at)))
        elif not quoted and line.startswith("$'", at):
            raise NotFollowedError("a quote is not closed")
        else:
            self._take("$", 1)

    def _take(self, text: str, length: int, *, quoted: bool = False) -> None:
        if text:
            self.pieces.append(text)
        self.at += length
        self.plain = self.plain and not quoted

    def _not_known(self, *, glob: bool = False, several: bool = False, head: str = "") -> None:
        if self.head is None:
            self.head = "".join(self.pieces) or head
        self.glob = self.glob or glob
        self.several = self.several or several
        self.unknown = self.unknown or not glob


def _piece(line: str, at: int) -> str:
    """The rest of a line from a place, short."""
    return shorten(line[at : at + 40].splitlines()[0])
