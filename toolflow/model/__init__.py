"""The values that flow through toolflow: frozen, free of input and output."""

from toolflow.model.batch import DEFAULT_TERMS, Batch, CallPlan, Limits, Terms, Verdict
from toolflow.model.event import Event
from toolflow.model.outcome import Image, Outcome, Times
from toolflow.model.plan import Edge, Gate, Node, PlanData
from toolflow.model.recording import Committed, Fact, LoggedResult, RecordedTurn, Recording
from toolflow.model.tool import Catalog, ToolSpec
from toolflow.model.turn import Call, Notice, Turn, call_names

__all__ = [
    "DEFAULT_TERMS",
    "Batch",
    "Call",
    "CallPlan",
    "Catalog",
    "Committed",
    "Edge",
    "Event",
    "Fact",
    "Gate",
    "Image",
    "Limits",
    "LoggedResult",
    "Node",
    "Notice",
    "Outcome",
    "PlanData",
    "RecordedTurn",
    "Recording",
    "Terms",
    "Times",
    "ToolSpec",
    "Turn",
    "Verdict",
    "call_names",
]
