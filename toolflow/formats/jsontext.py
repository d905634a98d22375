"""Messages as the text of a file, whatever is in them: also halves of characters."""

from __future__ import annotations

import json
from typing import Any

from toolflow import yamlio
from toolflow.errors import UsageError


def json_text(value: Any, indent: int | None = None) -> str:
    """A value as JSON text that can be written as UTF-8: what cannot stays an escape.

    Args:
        value: A JSON-like value.
        indent: How far lines are indented; ``None`` for one line.
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text


def yaml_text(value: Any) -> str:
    """A value as YAML text.

    Args:
        value: A JSON-like value.

    Raises:
        UsageError: If it holds halves of characters, for which YAML has no way.
    """
    try:
        return yamlio.dump(value)
    except ValueError as error:
        text = "The messages hold what YAML cannot, such as halves of characters. Use JSON."
        raise UsageError(text) from error
