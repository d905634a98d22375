"""The program that matches regular expressions for `grep`, in a process of its own.

Python's expressions may take time without end, and neither a thread nor the rest of the program
goes on meanwhile; a process can be ended. It reads lines of JSON: first the pattern, then for each
file the list of its lines; it answers each with a line of JSON. It opens no file.
"""

from __future__ import annotations

import json
import re
import sys


def main() -> None:
    """Answer until the input ends."""
    request = json.loads(sys.stdin.buffer.readline())
    try:
        pattern = re.compile(request["pattern"], re.IGNORECASE if request["ignore_case"] else 0)
    except (re.error, OverflowError, RecursionError) as error:
        _answer({"error": str(error) or type(error).__name__})
        return
    _answer({"error": None})
    for message in sys.stdin.buffer:
        lines = json.loads(message)
        _answer([number for number, line in enumerate(lines) if pattern.search(line)])


def _answer(value: object) -> None:
    sys.stdout.buffer.write(json.dumps(value).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
