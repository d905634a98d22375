"""LINT: what is odd about a policy that loads: warnings, each with its place."""

from toolflow.policy.lint.lint import lint_policy

__all__ = ["lint_policy"]
