"""The form of questions to a person in checkpoints."""

from __future__ import annotations

from typing import Any, Final

from toolflow.recording.reader import Path, Reader
from toolflow.runtime.approvals import Question

_KINDS: Final = ("approval", "interrupt", "repeat")
_QUESTION: Final = ("call", "kind", "text", "tool", "args", "digest")


def question_data(question: Question) -> dict[str, Any]:
    """A question as JSON-like data."""
    return {
        "call": question.call,
        "kind": question.kind,
        "text": question.text,
        "tool": question.tool,
        "args": question.args,
        "digest": question.digest,
    }


def read_question(reader: Reader, item: object, path: Path) -> Question:
    """Read a question that stands at a path of a document."""
    data = reader.mapping(item, path, _QUESTION)
    kind = data.get("kind")
    if kind not in _KINDS:
        text = f"The kind of a question is {kind!r}. Use approval, interrupt or repeat."
        reader.problem(path, text)
    return Question(
        reader.field(data, path, "call", str),
        kind,  # type: ignore[arg-type]  # one of the kinds, or nothing is given back
        data.get("text"),
        reader.field(data, path, "tool", str),
        reader.field(data, path, "args", dict),
        reader.field(data, path, "digest", str),
    )
