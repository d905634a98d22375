r"""Text that came from a model or a tool, made fit for people to see (spec 11 and 16).

Everything here gives plain, visible, bounded text; how that text is quoted for DOT, XML or a
terminal is the business of whoever writes those. Two questions had alternatives:

* What happens to characters that nobody can see, or that change how the rest is shown (control
  characters, terminal escapes, lone surrogates, changes of direction)? They are written out, as
  ``\x1b`` or ``\u202e``: nothing is lost, and nothing acts. Pictures of control characters
  (from U+2400 on) look better, but few fonts have them.
* How is width judged? By fixed ranges, not by `unicodedata`, whose tables change with Python's
  version: the same plan has to give the same bytes everywhere (spec 5.3).
"""

from __future__ import annotations

import math
import re

MARK = "…"
LINE_END = re.compile("\r\n|[\n\r\v\f\x85\u2028\u2029]")
# C0 and C1 controls, soft hyphen, marks and overrides of direction, other invisible characters,
# lone surrogates, what is no character at all, and the invisible tags. The two joiners U+200C and
# U+200D stay: scripts and emoji need them.
_INVISIBLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
    "|["
    + "".join(chr(plane + low) for plane in range(0x1FFFE, 0x110000, 0x10000) for low in (0, 1))
    + "]"
)
_INVISIBLE_IN_LINES = re.compile(_INVISIBLE.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))
_JOINED = re.compile("[\u0300-\u036f\u200c\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")


def visible(text: str) -> str:
    """Write out every character that cannot be seen, or that would change how others are shown.

    Args:
        text: Any text, lone surrogates included.

    Returns:
        Text of one line that can be encoded; a tab has become a blank.
    """
    return _INVISIBLE.sub(_written_out, text.replace("\t", " "))


def visible_lines(text: str) -> str:
    """The same for a text of any number of lines: line feeds and tabs stay as they are."""
    return _INVISIBLE_IN_LINES.sub(_written_out, text)


def _written_out(match: re.Match[str]) -> str:
    code = ord(match[0])
    known = {10: r"\n", 13: r"\r"}.get(code)
    if known is not None:
        return known
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )


def cut(text: str, limit: int) -> str:
    """Shorten text in its middle, where it is too long, so that both ends can be read.

    Args:
        text: Text of one line.
        limit: How many characters may stay, the mark included; at least 3.
    """
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return _whole(text[: limit - 1 - tail]) + MARK + _joined_off(text[-tail:])


def cut_left(text: str, limit: int) -> str:
    """Shorten text from the left, at a slash if one is near: of a path, the end tells most."""
    if len(text) <= limit:
        return text
    tail = text[-(limit - 1) :]
    slash = tail.find("/", 0, limit * 2 // 3)
    return MARK + (tail[slash:] if slash >= 0 else _joined_off(tail))


def cut_right(text: str, limit: int) -> str:
    """Shorten text from the right, as a sentence is."""
    return text if len(text) <= limit else _whole(text[: limit - 1]).rstrip() + MARK


def short(text: str, limit: int = 32) -> str:
    """A name in one line, cut where it is too long."""
    return cut_right(visible(text[: 4 * limit]), limit)


def _whole(head: str) -> str:
    """Drop a joiner at the end of a head: what it would join has been cut off."""
    return head.rstrip("\u200d")


def _joined_off(tail: str) -> str:
    """Drop what belongs to a character that was cut off."""
    while tail and _JOINED.match(tail):
        tail = tail[1:]
    return tail


def lines_of(text: str, *, width: int, most: int) -> tuple[str, ...]:
    """The first lines of a text, each cut to a width; a mark says how many were left out.

    Args:
        text: Any text. Blank lines and blanks at the ends of lines are left out; a single line
            that is too long is broken into two at a blank, if it has one.
        width: Characters a line may have; about half as many where some are wide.
        most: Lines that may stay, the mark included; at least 2.

    Returns:
        At least one line, which is empty only where the text has nothing to show.
    """
    # What lies far behind the part that is shown is only counted, never worked on.
    near = text[: 40 * width * most]
    width = width * 5 // 9 if _WIDE.search(near) else width
    lines = [line for line in map(str.strip, LINE_END.split(near)) if line]
    beyond = text.count("\n", len(near))
    if len(lines) + beyond > most:
        left_out = len(lines) + beyond - (most - 1)
        shown = [cut(visible(line), width) for line in lines[: most - 1]]
        return (*shown, f"{MARK} {left_out} more lines")
    if len(lines) == 1:
        return wrap(lines[0], width=width, most=2)
    return tuple(cut(visible(line), width) for line in lines) or ("",)


def wrap(text: str, *, width: int, most: int) -> tuple[str, ...]:
    """Break a sentence into lines at blanks; what does not fit is cut with a mark.

    Args:
        text: Any text; line ends count as blanks.
        width: Characters a line may have.
        most: Lines that there may be.
    """
    room = width * most
    words = visible(cut_right(" ".join(text[: 8 * room].split()), 4 * room)).split(" ")
    lines = [""]
    for word in words:
        longer = f"{lines[-1]} {word}".strip()
        if len(longer) <= width or not lines[-1]:
            lines[-1] = longer
        else:
            lines.append(word)
    if len(lines) > most:
        lines = [*lines[: most - 1], f"{lines[most - 1]} {MARK}"]
    return tuple(cut(line, width) for line in lines)


def full(text: str, limit: int = 600) -> str:
    """A text for a tooltip: nearly whole, line ends kept, cut with a mark at a limit."""
    short = cut_right(text[: limit + 1], limit)
    return "\n".join(visible(line) for line in LINE_END.split(short))


def duration(seconds: float) -> str:
    """A span of time as people write it: ``40 ms``, ``2.5 s``, ``2 m``, ``1 h 5 m``.

    Args:
        seconds: Any number; one that is not finite is shown as such.
    """
    if not math.isfinite(seconds):
        return str(seconds)
    if abs(seconds) < 0.9995:
        return f"{seconds * 1000:.3g} ms"
    if abs(seconds) < 60:
        return f"{seconds:.3g} s"
    if abs(seconds) >= 360_000:
        return f"{seconds / 3600:.3g} h"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "m"), (rest, "s"))
    return " ".join(f"{count} {unit}" for count, unit in parts if count) or "0 s"


def columns(text: str) -> int:
    """How many columns of a terminal a text takes, about: wide characters count twice."""
    return sum(0 if _JOINED.match(char) else 2 if is_wide(char) else 1 for char in text)


def ems(text: str) -> float:
    """How wide a text is in a usual sans serif face, about, in units of its size."""
    return sum(_EMS.get(char, 1.0 if is_wide(char) else 0.56) for char in text)


_EMS = {
    **dict.fromkeys("ijl'|", 0.23),
    **dict.fromkeys("ft.,:;!I()[]/\\ ·", 0.29),
    **dict.fromkeys('r-"*{}`', 0.36),
    **dict.fromkeys("ABCDEGHKNOPQRSUVXY&w", 0.7),
    **dict.fromkeys("mMW%@…", 0.95),
    **dict.fromkeys("<>=+~", 0.585),
}


def is_wide(char: str) -> bool:
    """Whether a character is about as wide as it is high: East Asian scripts and emoji."""
    return bool(_WIDE.match(char))


_WIDE = re.compile(
    "[\u1100-\u115f\u2e80-\ud7af\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\U0001f300-\U0001faff"
    "\U00020000-\U0003fffd]"
)
