"""Flows: YAML files of stages, each stage one batch of calls (spec 13)."""

from toolflow.flow.load import Flow, Stage, load_flow
from toolflow.flow.run import FlowResult, StageResult, run_flow

__all__ = ["Flow", "FlowResult", "Stage", "StageResult", "load_flow", "run_flow"]
