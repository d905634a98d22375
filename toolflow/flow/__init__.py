"""Flows: YAML files of stages, each stage one batch of calls (spec 13)."""

from toolflow.flow.load import Flow, Stage, load_flow
from toolflow.flow.past import Past, addressed, past_of
from toolflow.flow.run import FlowResult, StageResult, run_flow
from toolflow.flow.single import flow_of_turns

__all__ = [
    "Flow",
    "FlowResult",
    "Past",
    "Stage",
    "StageResult",
    "addressed",
    "flow_of_turns",
    "load_flow",
    "past_of",
    "run_flow",
]
