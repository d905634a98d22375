"""Makes docs/reference/conformance.md: every number with the tests that hold it.

``python tests/conformance/table.py`` writes the page; ``--check`` only says whether it is up to
date. A number without a test is seen at once.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "conformance.md"
COUNT = 156
SECTIONS = [
    ("A", "Classification", 1, 14),
    ("B", "Plan and pool", 15, 34),
    ("C", "Live changes and re-check", 35, 43),
    ("D", "Policy order", 44, 59),
    ("E", "Ids and pairing", 60, 65),
    ("F", "Abort", 66, 81),
    ("G", "Failure", 82, 88),
    ("H", "Interrupt and stop points", 89, 96),
    ("I", "Transcript", 97, 111),
    ("J", "Events", 112, 116),
    ("K", "Lock keys", 117, 138),
    ("L", "Plan as a value", 139, 147),
    ("M", "Replay", 148, 153),
    ("N", "Properties", 154, 156),
]
_NAME = re.compile(r"test_c(\d{3})_(\w+)")


def tests_by_number() -> dict[int, list[tuple[str, str]]]:
    """The tests of each number: file and what the name says, in the order of files and lines."""
    found: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                match = _NAME.fullmatch(node.name)
                if match:
                    file = path.relative_to(ROOT).as_posix()
                    found[int(match[1])].append((file, match[2].replace("_", " ")))
    return found


def page() -> str:
    """The text of the page."""
    found = tests_by_number()
    missing = [number for number in range(1, COUNT + 1) if not found[number]]
    lines = [
        "# Conformance",
        "",
        "Every behaviour has a number, and tests that hold it; a test's name says the number and",
        "what holds. This page is made by `python tests/conformance/table.py`.",
        "",
        f"{COUNT - len(missing)} of {COUNT} numbers have a test."
        + (f" Without one: {', '.join(map(str, missing))}." if missing else ""),
    ]
    for letter, title, first, last in SECTIONS:
        lines += [
            "",
            f"## {letter}. {title}",
            "",
            "| number | what holds | where |",
            "|---|---|---|",
        ]
        for number in range(first, last + 1):
            tests = found[number] or [("", "**no test**")]
            for place, (file, says) in enumerate(tests):
                where = f"`{file}`" if file else ""
                lines.append(f"| {number if not place else ''} | {says} | {where} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write or check the page."""
    text = page()
    if "--check" in sys.argv:
        return 0 if PAGE.read_text("utf-8") == text else 1
    PAGE.write_text(text, "utf-8")
    print(text.split("\n")[5])
    return 0


if __name__ == "__main__":
    sys.exit(main())
