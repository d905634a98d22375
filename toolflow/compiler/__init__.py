"""The compiler: from a classified turn to its execution plan, and the plan with its answers."""

from toolflow.compiler.change import Change
from toolflow.compiler.compile import compile_plan, recompile, resource_problems
from toolflow.compiler.data import FORMAT_VERSION, dump_plan, plan_data
from toolflow.compiler.diff import PlanDiff, diff_plans
from toolflow.compiler.load import load_plan
from toolflow.compiler.plan import Plan

__all__ = [
    "FORMAT_VERSION",
    "Change",
    "Plan",
    "PlanDiff",
    "compile_plan",
    "diff_plans",
    "dump_plan",
    "load_plan",
    "plan_data",
    "recompile",
    "resource_problems",
]
