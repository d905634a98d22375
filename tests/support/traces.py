"""What tests read out of a trace of Chrome's form."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

Entry = dict[str, Any]


@dataclass
class Process:
    """One turn of a trace: its name, its threads, its events in the order of the text."""

    name: str
    threads: dict[int, str]
    entries: list[Entry]

    def of(self, *kinds: str, cat: str | None = None) -> list[Entry]:
        """Events by phase, and by one of their categories."""
        return [
            entry
            for entry in self.entries
            if entry["ph"] in kinds and (cat is None or cat in entry["cat"].split(","))
        ]

    def lanes(self) -> dict[str, list[Entry]]:
        """Slices by the name of their thread."""
        found: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.of("X"):
            found[self.threads[entry["tid"]]].append(entry)
        return found


def processes(text: str) -> list[Process]:
    """The turns of a trace, after a look at what every trace has to keep."""
    whole = json.loads(text)
    assert set(whole) == {"displayTimeUnit", "traceEvents"}
    found: dict[int, Process] = {}
    for entry in whole["traceEvents"]:
        process = found.setdefault(entry["pid"], Process("", {}, []))
        if entry["ph"] == "M":
            if entry["name"] == "process_name":
                process.name = entry["args"]["name"]
            elif entry["name"] == "thread_name":
                process.threads[entry["tid"]] = entry["args"]["name"]
        else:
            process.entries.append(entry)
    for process in found.values():
        _check(process)
    threads = [tid for process in found.values() for tid in process.threads]
    assert len(threads) == len(set(threads))
    return list(found.values())


def _check(process: Process) -> None:
    stamps = [entry["ts"] for entry in process.entries]
    assert stamps == sorted(stamps)
    assert all(type(stamp) is int and stamp >= 0 for stamp in stamps)
    assert {entry["ph"] for entry in process.entries} <= set("Xibesf")
    assert all(entry["tid"] in process.threads for entry in process.entries)
    for slices in process.lanes().values():
        end = 0
        for entry in slices:
            assert entry["dur"] >= 0
            assert entry["ts"] >= end
            end = entry["ts"] + entry["dur"]
    _waits_pair_up(process)
    _arrows_pair_up(process)


def _waits_pair_up(process: Process) -> None:
    begun: dict[int, Entry] = {}
    for entry in process.of("b", "e"):
        number = entry["id2"]["local"]
        if entry["ph"] == "b":
            assert number not in begun
            begun[number] = entry
        else:
            assert begun[number]["ts"] < entry["ts"]
            assert begun[number]["name"] == entry["name"]
    assert len(begun) == len(process.of("e"))


def _arrows_pair_up(process: Process) -> None:
    slices = process.of("X")
    tails = {entry["id"]: entry for entry in process.of("s")}
    heads = {entry["id"]: entry for entry in process.of("f")}
    assert tails.keys() == heads.keys()
    assert len(tails) == len(process.of("s"))
    for number, tail in tails.items():
        assert tail["ts"] <= heads[number]["ts"]
        for end in (tail, heads[number]):
            assert any(
                one["tid"] == end["tid"] and one["ts"] <= end["ts"] <= one["ts"] + one["dur"]
                for one in slices
            )
