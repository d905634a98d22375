"""TOOLS: the built-in tools for a workspace, and commands as tools."""

from toolflow.tools.shell import shell_tool
from toolflow.tools.workspace import workspace

__all__ = ["shell_tool", "workspace"]
