"""The shape of a flow file (spec 13), for pydantic."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, model_validator

from toolflow.errors import UsageError
from toolflow.policy.durations import duration
from toolflow.tools.mcp.definition import check_address, check_name


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class WorkspaceTools(_Strict):
    """The built-in workspace tools, confined to a folder.

    Attributes:
        root: The folder, relative to the flow file.
        copy_first: Whether a run works on a copy of the folder in its own output folder, so that
            the original is never written. Written ``copy`` in the file.
    """

    root: str = "."
    copy_first: bool = Field(default=False, alias="copy")


class ShellTool(_Strict):
    """A command as a tool.

    Attributes:
        argv: The words of the command; each may hold ``{{ args.name }}``.
        description: What it does.
        timeout: How long it may run.
    """

    argv: list[str] = Field(min_length=1)
    description: str = ""
    timeout: Annotated[float, PlainValidator(duration)] | None = None


def _server_name(value: str) -> str:
    try:
        return check_name(value)
    except UsageError as error:
        raise ValueError(f"{str(error).split('. ', 1)[1]}") from error


def _address(value: str) -> str:
    try:
        return check_address(value)
    except UsageError as error:
        raise ValueError(f"{str(error).split('. ', 1)[1]}") from error


class McpServer(_Strict):
    """An MCP server, started by a command or reached at an address.

    Attributes:
        command: The program.
        args: Its arguments.
        env: Environment variables; ``${NAME}`` in them stands for one of the present process.
        cwd: The folder that it runs in, relative to the workspace, or to the flow file where
            there is none.
        url: The address.
        headers: Headers of every request, as ``env``.
        prefix: What stands before the names of its tools; ``NAME__`` where it is left out.
        start_timeout: How long it may take to start.
        protocol: See `toolflow.tools.mcp.StdioServer`.
    """

    command: str | None = Field(default=None, min_length=1)
    args: list[str] = Field(default_factory=list)
    env: dict[str, str] = Field(default_factory=dict)
    cwd: str = "."
    url: Annotated[str, AfterValidator(_address)] | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    prefix: str | None = None
    start_timeout: Annotated[float, PlainValidator(duration)] | None = None
    protocol: Literal["auto", "initialize"] = "auto"

    @model_validator(mode="after")
    def _one_of_two(self) -> McpServer:
        if (self.command is None) == (self.url is None):
            raise ValueError("Use either command or url.")
        given = self.model_fields_set
        other = ("headers",) if self.url is None else ("args", "env", "cwd")
        if odd := [name for name in other if name in given]:
            kind = "url" if self.url is None else "command"
            raise ValueError(f"Its field {odd[0]!r} is for a server with a {kind}. Leave it out.")
        return self


class Tools(_Strict):
    """Where the tools of a flow come from.

    Attributes:
        workspace: The built-in workspace tools.
        python: Toolboxes or functions, each as ``module:name``.
        shell: Commands by tool name.
        mcp: MCP servers by name.
    """

    workspace: WorkspaceTools | None = None
    python: list[str] = Field(default_factory=list)
    shell: dict[str, ShellTool] = Field(default_factory=dict)
    mcp: dict[Annotated[str, AfterValidator(_server_name)], McpServer] = Field(default_factory=dict)


class CallSpec(_Strict):
    """One call of a stage.

    Attributes:
        id: Its id; made up where it is left out.
        tool: The tool's name.
        args: Its arguments; text may hold ``{{ results.stage.call }}``.
        foreach: A list, or an expression that gives one: the call is made for each item, which
            the arguments know as ``item``.
    """

    tool: str = Field(min_length=1)
    id: str | None = Field(default=None, min_length=1)
    args: dict[str, Any] = Field(default_factory=dict)
    foreach: list[Any] | str | None = None


class StageSpec(_Strict):
    """One stage: a batch of calls, compiled like the calls of a model's turn.

    Attributes:
        id: Its name.
        needs: Stages that come before it; by default the stage before it in the file.
        when: An expression; the stage is skipped unless it gives true.
        calls: Its calls in order.
        message: A recorded provider message instead of calls.
    """

    id: str = Field(min_length=1)
    needs: list[str] | None = None
    when: bool | str = True
    calls: list[CallSpec] = Field(default_factory=list)
    message: Any = None


class FlowSpec(_Strict):
    """A flow file.

    Attributes:
        version: 1.
        name: The flow's name.
        description: What it is for.
        policy: The path of a policy file, relative to the flow file, or the policy itself.
        tools: Where its tools come from.
        locks: Where keys are taken: ``memory``, ``machine``, or the path of a lock file, relative
            to the flow file.
        stages: Its stages.
    """

    version: int = Field(ge=1, le=1)
    name: str = Field(min_length=1)
    description: str = ""
    policy: str | dict[str, Any] | None = None
    tools: Tools = Field(default_factory=Tools)
    locks: str | None = Field(default=None, min_length=1)
    stages: list[StageSpec] = Field(min_length=1)
