"""What tests read out of pictures: with a real program and a real XML parser."""

from __future__ import annotations

import json
import subprocess
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from toolflow.render import programs

SVG = "{http://www.w3.org/2000/svg}"


def drawing_programs() -> tuple[str, ...]:
    """The programs found here; skips the test where there is none."""
    found = programs()
    if not found:
        pytest.skip("neither dot nor graphviz-pure is installed here")
    return found


def parsed(dot: str, program: str) -> dict[str, Any]:
    """A graph as a program understands it; fails where it does not accept the text."""
    done = subprocess.run(
        [program, "-Tjson"], input=dot.encode(), capture_output=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    assert b"syntax error" not in done.stderr
    return json.loads(done.stdout)


def texts(svg: str) -> dict[str, list[str]]:
    """The lines of text in each call's box, by the call's class, and all others under ``""``."""
    root = ET.fromstring(svg)
    found: dict[str, list[str]] = {"": []}
    for group in root.iter(f"{SVG}g"):
        classes = group.get("class", "").split()
        name = next((word for word in classes if word.startswith("call-")), "")
        lines = [(text.text or "").replace("\xa0", " ") for text in group.findall(f"{SVG}text")]
        found.setdefault(name, []).extend(lines)
    return found


def assert_harmless(svg: str) -> None:
    """Nothing in an SVG can act, load or lead anywhere, and every character can be seen."""
    root = ET.fromstring(svg)
    for node in root.iter():
        tag = node.tag.removeprefix(SVG)
        assert tag in {
            "svg", "title", "g", "path", "polygon", "polyline", "ellipse", "rect", "line", "text",
        }  # fmt: skip
        for key, value in node.attrib.items():
            assert "href" not in key
            assert not key.startswith("on")
            assert "url(" not in value
    assert "<script" not in svg
    assert not any(ord(char) < 32 and char != "\n" for char in svg)
    assert not any(0x7F <= ord(char) < 0xA0 or 0x202A <= ord(char) <= 0x202E for char in svg)
