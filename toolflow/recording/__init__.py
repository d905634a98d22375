"""MEMORY: recordings and what can be done with them, checkpoints, results of runs.

Nothing is loaded before it is used: the engine needs checkpoints and results of every process that
runs a turn, the rest is for those who look at runs afterwards.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolflow.recording.asking import WhatIf as WhatIf
    from toolflow.recording.asking import what_if as what_if
    from toolflow.recording.checkpoint_file import load_checkpoint as load_checkpoint
    from toolflow.recording.checkpoint_file import save_checkpoint as save_checkpoint
    from toolflow.recording.crash import CrashRepair as CrashRepair
    from toolflow.recording.crash import after_crash as after_crash
    from toolflow.recording.differing import RecordingDiff as RecordingDiff
    from toolflow.recording.differing import diff_recordings as diff_recordings
    from toolflow.recording.file import dump_recording as dump_recording
    from toolflow.recording.file import load_recording as load_recording
    from toolflow.recording.file import save_recording as save_recording
    from toolflow.recording.forking import fork_at as fork_at
    from toolflow.recording.forms import outcome_data as outcome_data
    from toolflow.recording.forms import outcome_from as outcome_from
    from toolflow.recording.journal import Journal as Journal
    from toolflow.recording.journal import JournalContent as JournalContent
    from toolflow.recording.journal import JournalRecording as JournalRecording
    from toolflow.recording.journal import JournalTurn as JournalTurn
    from toolflow.recording.journal import open_journal as open_journal
    from toolflow.recording.journal import read_journal as read_journal
    from toolflow.recording.recorder import Recorder as Recorder
    from toolflow.recording.replayer import replay as replay
    from toolflow.recording.replayer import replay_turns as replay_turns
    from toolflow.recording.replaying import ReplayedTurn as ReplayedTurn
    from toolflow.recording.replaying import ReplayReport as ReplayReport
    from toolflow.recording.simulator import Simulation as Simulation
    from toolflow.recording.simulator import simulate as simulate
    from toolflow.recording.sweeping import Sweep as Sweep
    from toolflow.recording.sweeping import sweep as sweep
    from toolflow.recording.turn_form import turn_data as turn_data
    from toolflow.recording.turn_form import turn_from as turn_from
    from toolflow.recording.turn_reader import RecordingReader as RecordingReader
    from toolflow.recording.turn_reader import open_recording as open_recording

_HOMES = {
    "CrashRepair": "crash",
    "Journal": "journal",
    "JournalContent": "journal",
    "JournalRecording": "journal",
    "JournalTurn": "journal",
    "Recorder": "recorder",
    "RecordingDiff": "differing",
    "RecordingReader": "turn_reader",
    "ReplayReport": "replaying",
    "ReplayedTurn": "replaying",
    "Simulation": "simulator",
    "Sweep": "sweeping",
    "WhatIf": "asking",
    "after_crash": "crash",
    "diff_recordings": "differing",
    "dump_recording": "file",
    "fork_at": "forking",
    "load_checkpoint": "checkpoint_file",
    "load_recording": "file",
    "open_journal": "journal",
    "open_recording": "turn_reader",
    "outcome_data": "forms",
    "outcome_from": "forms",
    "read_journal": "journal",
    "replay": "replayer",
    "replay_turns": "replayer",
    "save_checkpoint": "checkpoint_file",
    "save_recording": "file",
    "simulate": "simulator",
    "sweep": "sweeping",
    "turn_data": "turn_form",
    "turn_from": "turn_form",
    "what_if": "asking",
}

__all__ = sorted(_HOMES)  # noqa: PLE0605  # a list all the same, made from the one table


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'toolflow.recording' has no attribute {name!r}")
    value = getattr(import_module(f"toolflow.recording.{home}"), name)
    globals()[name] = value
    return value
