"""RULES: the policy file, its expressions, keys of files, and the classification of turns.

Importing this package loads neither pydantic nor jinja2: the first is loaded with the first
policy, the second with the first expression.
"""

from toolflow.policy.expressions import Expression, ExpressionError, compile_expression
from toolflow.policy.filekeys import dir_key, file_key
from toolflow.policy.hostkeys import host_key
from toolflow.policy.keyfilters import KeyFilters
from toolflow.policy.pathoptions import PathOptions
from toolflow.policy.policy import Policy, PolicySource, load_policy
from toolflow.policy.redact import Redactor

__all__ = [
    "Expression",
    "ExpressionError",
    "KeyFilters",
    "PathOptions",
    "Policy",
    "PolicySource",
    "Redactor",
    "compile_expression",
    "dir_key",
    "file_key",
    "host_key",
    "load_policy",
]
