"""Classification: what each call of a turn may do, decided before anything runs (spec 3, 4).

The order is the order of trust: who is called (ids, arguments, the tool's name), then what is
allowed (the first rule that matches), then how (verdict, keys, terms). Each step that fails
settles the call with a sentence for the model; nothing here raises for what a model wrote.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from toolflow.model import Call, CallPlan, Catalog, Notice, ToolSpec, Turn
from toolflow.model.tool import Args
from toolflow.model.turn import EMPTY
from toolflow.policy.callkeys import check_secrets, keys_of
from toolflow.policy.expressions import Names
from toolflow.policy.identify import Tool, find_tool, no_such_tool, renamed_arguments
from toolflow.policy.keyfilters import KeyFilters
from toolflow.policy.keys import discard
from toolflow.policy.masks import Mask
from toolflow.policy.rules import Rule
from toolflow.policy.safety import condition, in_doubt, verdict_of
from toolflow.policy.settings import Settings
from toolflow.policy.settled import Settled, settle
from toolflow.policy.terms import SharedTerms
from toolflow.policy.texts import Texts


class Known(NamedTuple):
    """What is the same for all calls of one tool in one turn.

    Attributes:
        tool: The tool that its name means.
        server: Its MCP server, or ``None``.
        trusted: Whether the policy trusts the server's hints.
        rules: The rules that may be about it, in the order in which they are tried.
        plain: Whether no rule of these looks at the call.
    """

    tool: Tool
    server: str | None
    trusted: bool
    rules: tuple[Rule, ...]
    plain: bool


class Classifier:
    """Classifies the calls of one turn.

    Args:
        settings: The policy.
        turn: The turn.
        catalog: The tools that are there; ``None``: nobody knows which.
        cwd: The folder that relative paths start from; the process's own by default.
        terms: Makes and shares the terms of calls.
    """

    def __init__(
        self,
        settings: Settings,
        turn: Turn,
        catalog: Catalog | None,
        cwd: str | None,
        terms: SharedTerms,
    ) -> None:
        self.settings = settings
        self.catalog = catalog
        self.notices: list[Notice] = []
        self._terms = terms
        self._texts = Texts(settings.redactor)
        self._redacts = bool(settings.redactor)
        self._known: dict[str, Known] = {}
        self._turn, self._cwd = turn, cwd

    @cached_property
    def _names(self) -> dict[str, Any]:
        """What the names in templates stand for, the same for all calls; often nobody asks."""
        turn, filters = self._turn, KeyFilters(self._cwd, self.settings.paths)
        return {
            "cwd": filters.cwd,
            "turn": {
                "id": turn.id,
                "message_id": turn.message_id,
                "source": turn.source,
                "format": turn.format,
            },
            "_keys": filters,
        }

    def classify(self, call: Call, name: str, call_id: str, id_fault: str | None) -> CallPlan:
        """Classify one call.

        Args:
            call: The call as read.
            name: Its name in the turn.
            call_id: Its id, made unique where the policy says so.
            id_fault: Why its id cannot be used, or ``None``.
        """
        known = self._known.get(call.tool) or self.known_of(call)
        if known.tool.notice is not None:
            self.notices.append(Notice(*known.tool.notice, call=name))
        try:
            if id_fault is not None:
                settle("invalid_id", id_fault)
            if call.problem is not None:
                settle("invalid_arguments", call.problem)
            plan = self._plan(call, name, call_id, known)
        except Settled as settled:
            plan = self._settled(call, name, call_id, known, settled)
        return self._without_secrets(plan) if self._redacts else plan

    def again(self, call: CallPlan, args: Args) -> CallPlan:
        """Classify a call whose arguments or whose tool may have changed (spec 6.4).

        Args:
            call: The call as classified before.
            args: Its arguments now.
        """
        tool = Tool(call.tool)
        if self.catalog is not None:
            spec = self.catalog.find(call.tool)
            tool = Tool(call.tool, spec, None, no_such_tool(call.tool, self.catalog, spec))
        fresh, known = Call(call.index, call.id, call.tool, args), self._look_up(tool)
        try:
            plan = self._plan(fresh, call.name, call.id, known)
        except Settled as settled:
            plan = self._settled(fresh, call.name, call.id, known, settled)
        return self._without_secrets(plan) if self._redacts else plan

    def names_of(self, known: Known, args: Args) -> Names:
        """What the names in the templates of rules stand for, for one call."""
        return {**self._names, "args": args, "tool": known.tool.name, "server": known.server}

    def known_of(self, call: Call) -> Known:
        """What is the same for all calls of a call's tool."""
        known = self._known.get(call.tool)
        if known is None:
            tool = find_tool(call.tool, self.catalog, self.settings.aliases)
            known = self._known[call.tool] = self._look_up(tool)
        return known

    def _look_up(self, tool: Tool) -> Known:
        server = None if tool.spec is None else tool.spec.server
        rules = self.settings.book.about(tool.name, server)
        trusted = server is not None and server in self.settings.trusted
        return Known(tool, server, trusted, rules, all(rule.plain for rule in rules))

    def _settled(
        self, call: Call, name: str, call_id: str, known: Known, settled: Settled
    ) -> CallPlan:
        tool, args = known.tool.name, call.args
        label = self._texts.plain_label(tool, args)
        return CallPlan(call.index, name, call_id, tool, args, settled.verdict, label=label)

    def _plan(self, call: Call, name: str, call_id: str, known: Known) -> CallPlan:
        tool, spec = known.tool.name, known.tool.spec
        if known.tool.unknown is not None:
            settle("unknown_tool", known.tool.unknown)
        args = call.args if known.plain else self._renamed(call, name, known)
        parsed = args if spec is None or spec.parse is None else _parsed(spec, args)
        names = EMPTY if known.plain else self.names_of(known, parsed)
        rule, doubt = _first_match(known.rules, names)
        if rule is not None and rule.deny is not None:
            settle("denied", self._texts.denial(rule, doubt, names), rule)
        if rule is not None and doubt is not None:
            verdict = in_doubt(rule, doubt)
        else:
            verdict = verdict_of(rule, spec, parsed, names, trusted=known.trusted)
        reads, writes = keys_of(rule, spec, parsed, names)
        if self._redacts and (reads or writes):
            check_secrets(
                self.settings.redactor,
                (reads, writes),
                rule=rule,
                spec=spec,
                parsed=parsed,
                names=names,
            )
        label = self._texts.label(rule, tool, args, names)
        return CallPlan(
            call.index,
            name,
            call_id,
            tool,
            args,
            verdict,
            reads,
            writes,
            self._terms.of(rule, tool, spec),
            None if rule is None or rule.ask is None else self._texts.question(rule, label, names),
            label,
            parsed,
        )

    def _without_secrets(self, call: CallPlan) -> CallPlan:
        """A reason that quotes an argument quotes no secret."""
        secrets = self.settings.redactor.secrets(call.args)
        if not secrets:
            return call
        reason = Mask(self.settings.redactor, secrets).text(call.verdict.reason)
        if reason == call.verdict.reason:
            return call
        return replace(call, verdict=replace(call.verdict, reason=reason))

    def _renamed(self, call: Call, name: str, known: Known) -> Args:
        args = call.args
        for rule in known.rules:
            renamed = renamed_arguments(args, known.tool.spec, rule.argument_aliases)
            if renamed is not args:
                said = f"Arguments were renamed, as {rule.name} says: {', '.join(renamed)}."
                self.notices.append(Notice("argument_alias", said, call=name))
                args = renamed
        return args


def _parsed(spec: ToolSpec, args: Args) -> Args:
    assert spec.parse is not None
    try:
        parsed = spec.parse(args)
    except (ValueError, RecursionError) as error:
        raise Settled("invalid_arguments", str(error) or "The arguments are not valid.") from error
    except Exception as error:
        said = f"The arguments could not be checked: {type(error).__name__}: {error}"
        raise Settled("failed", said) from error
    given: object = parsed
    if type(given) is dict or isinstance(given, Mapping):
        return given
    if inspect.isawaitable(given):
        discard(given)
    raise Settled("failed", "The arguments could not be checked: the check gives no arguments.")


def _first_match(rules: tuple[Rule, ...], names: Names) -> tuple[Rule | None, str | None]:
    """The first rule that matches or may match, and in the latter case why that is not known."""
    for rule in rules:
        found = True if rule.when is None else condition(rule.when, names)
        if found is True:
            return rule, None
        if found is not False:
            return rule, found
    return None, None
