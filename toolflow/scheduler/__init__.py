"""DECIDE: the pure scheduler and the pure lock table."""

from toolflow.scheduler.decisions import Decision
from toolflow.scheduler.scheduler import Scheduler

__all__ = ["Decision", "Scheduler"]
