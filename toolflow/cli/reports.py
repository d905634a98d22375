"""Findings in the forms that other programs read: SARIF 2.1.0, and commands of GitHub's workflows.

Sources: OASIS, Static Analysis Results Interchange Format 2.1.0; GitHub Docs, "Workflow
commands for GitHub Actions".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Final, Literal
from urllib.parse import quote

SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(?!\\)")


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a check.

    Attributes:
        severity: How bad it is.
        code: A short stable word for its kind.
        message: What is wrong and what is allowed.
        file: The file's name, as given.
        line: The line, counted from 1, or ``None``.
        column: The column, counted from 1, or ``None``.
    """

    severity: Literal["error", "warning"]
    code: str
    message: str
    file: str
    line: int | None = None
    column: int | None = None


def sarif(findings: Sequence[Finding], version: str) -> dict[str, Any]:
    """Findings as a log in SARIF 2.1.0.

    Args:
        findings: The findings.
        version: The version of this program.
    """
    codes = sorted({each.code for each in findings})
    rules = [{"id": code, "shortDescription": {"text": code.replace("_", " ")}} for code in codes]
    driver = {"name": "toolflow", "version": version, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(each, codes.index(each.code)) for each in findings],
    }
    return {"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}


def github(findings: Iterable[Finding]) -> Iterator[str]:
    """Findings as commands that make notes on a pull request, a line each.

    Args:
        findings: The findings.
    """
    for each in findings:
        fields = {"file": each.file, "line": each.line, "col": each.column, "title": each.code}
        told = ",".join(
            f"{name}={_property(str(value))}" for name, value in fields.items() if value is not None
        )
        yield f"::{each.severity} {told}::{_data(each.message)}"


def _result(finding: Finding, index: int) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(finding.file)}}
    if finding.line is not None:
        place["region"] = {"startLine": finding.line}
        if finding.column is not None:
            place["region"]["startColumn"] = finding.column
    return {
        "ruleId": finding.code,
        "ruleIndex": index,
        "level": finding.severity,
        "message": {"text": finding.message},
        "locations": [{"physicalLocation": place}],
    }


def _uri(file: str) -> str:
    """A file's name as a URI reference; relative ones start from where the program ran."""
    if Path(file).is_absolute():
        return Path(file).as_uri()
    if _SCHEME.match(file):
        return quote(file, safe=":/")
    return quote(PurePath(file).as_posix())


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
