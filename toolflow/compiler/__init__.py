"""The compiler: from a classified turn to its execution plan, and the plan with its answers."""

from toolflow.compiler.compile import compile_plan, recompile, resource_problems
from toolflow.compiler.data import FORMAT_VERSION, dump_plan, plan_data
from toolflow.compiler.load import load_plan
from toolflow.compiler.plan import Plan

__all__ = [
    "FORMAT_VERSION",
    "Plan",
    "compile_plan",
    "dump_plan",
    "load_plan",
    "plan_data",
    "recompile",
    "resource_problems",
]
