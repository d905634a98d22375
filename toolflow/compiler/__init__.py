"""The compiler: from a classified turn to its execution plan, and the plan with its answers."""

from toolflow.compiler.compile import compile_plan
from toolflow.compiler.plan import Plan

__all__ = ["Plan", "compile_plan"]
