"""Rules as the classifier uses them, and the book that finds the rules of a call.

Which rules may be about a call depends on its tool and server only, so the book works that out
once for each pair and remembers it: two hundred rules cost a call no more than two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from typing import Final, Literal

from toolflow.model import Verdict
from toolflow.model.batch import Hold, Kind, OnError, Stop
from toolflow.model.turn import EMPTY
from toolflow.policy.expressions import Expression
from toolflow.policy.servernames import names_with_server

Condition = bool | Expression
_REMEMBERED: Final = 4096
_Names = re.Pattern[str] | None  # what names are allowed; any where it is None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a policy. A field that is ``None`` was left out.

    Attributes:
        index: Its place in the file, counted from 0.
        line: Its line in the file, or ``None``.
        base: The base that it stands in; ``None`` for a rule of the policy itself.
        rank: Its place among the rules of the policy and all bases, counted from 0.
        tools: Names and patterns of tools, or ``None`` for all.
        servers: Names and patterns of MCP servers, or ``None`` for all and none.
        argument_aliases: Other names of arguments, each with the name that the tool knows.
        has_aliases: Whether it declares other names of its tool.
        when: The condition under which it holds.
        safe: Whether the call may run beside other safe calls.
        reads: Keys taken shared.
        writes: Keys taken exclusively.
        uses: Units of scarce resources.
        timeout: Seconds; ``inf`` where the rule lifts the limit.
        hold: How long keys are held.
        ask: The question; ``True`` for one made from the call.
        deny: The reason for refusing; ``True`` for one made from the rule.
        stop: A stop point.
        on_error: What a failure does to later calls.
        idempotent: Whether twice is as good as once.
        show: The label.
        verdict: What it says of every call where ``safe`` is no expression, or ``None``.
        name: How people find it: ``rule 3 (line 14)``, ``rule 1 of base.yaml (line 3)``.
        by_arguments: What it says of calls where its expression is false, and where it is true.
    """

    index: int
    line: int | None = None
    base: str | None = None
    rank: int = -1
    tools: tuple[str, ...] | None = None
    servers: tuple[str, ...] | None = None
    argument_aliases: Mapping[str, str] = EMPTY
    has_aliases: bool = False
    when: Condition | None = None
    safe: Condition | None = None
    reads: tuple[Expression, ...] | None = None
    writes: tuple[Expression, ...] | None = None
    uses: Mapping[str, int] | None = None
    timeout: float | None = None
    hold: Hold = "call"
    ask: Expression | Literal[True] | None = None
    deny: Expression | Literal[True] | None = None
    stop: Stop | None = None
    on_error: OnError | None = None
    idempotent: bool | None = None
    show: Expression | None = None
    verdict: Verdict | None = field(init=False)
    name: str = field(init=False)
    by_arguments: tuple[Verdict, Verdict] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        place = "" if self.line is None else f" (line {self.line})"
        object.__setattr__(self, "name", f"{rule_name(self.index, self.base)}{place}")
        found: tuple[Kind, Kind] = ("exclusive", "safe")
        verdicts = (self.verdict_of(k, f"{self.name} says {k} for these arguments") for k in found)
        object.__setattr__(self, "by_arguments", tuple(verdicts))
        said = None
        if isinstance(self.safe, bool):
            kind: Literal["safe", "exclusive"] = "safe" if self.safe else "exclusive"
            said = self.verdict_of(kind, f"{self.name} says {kind}")
        object.__setattr__(self, "verdict", said)

    def verdict_of(self, kind: Kind, reason: str, status: str | None = None) -> Verdict:
        """A verdict that this rule gives.

        Args:
            kind: What the call may do.
            reason: Why.
            status: The status of a settled call.
        """
        return Verdict(kind, reason, self.index, self.line, status, self.base)

    @property
    def plain(self) -> bool:
        """Whether it says the same of all calls: nothing in it looks at the arguments."""
        texts = (self.when, self.safe, self.ask, self.deny, self.show)
        keys = (*(self.reads or ()), *(self.writes or ()))
        looks = any(isinstance(text, Expression) and not text.constant for text in (*texts, *keys))
        return not looks and not self.argument_aliases

    @property
    def general(self) -> bool:
        """Whether it names no tool: it is about a server, or about everything."""
        return self.tools is None or self.tools == ("*",)


def rule_name(index: int, base: str | None) -> str:
    """How people call a rule: ``rule 3``, ``rule 1 of base.yaml``.

    Args:
        index: Its place in its file, counted from 0.
        base: The base that it stands in, or ``None``.
    """
    return f"rule {index + 1}" if base is None else f"rule {index + 1} of {base}"


class RuleBook:
    """Finds the rules that may be about a call.

    Rules that name a tool come first, then rules about whole servers and about everything, each
    in the order of the file (conformance 11: a rule about a server applies where none about the
    tool does). All rules of a policy come before those of its bases, so that no base makes safe
    what the policy itself says of everything.

    Args:
        rules: The rules in the order of the file.
    """

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.rules = tuple(rules)
        files = {
            base: place for place, base in enumerate(dict.fromkeys(r.base for r in self.rules))
        }
        ordered = sorted(self.rules, key=lambda rule: (files[rule.base], rule.general))
        self._ordered = [
            (rule, (_matcher(rule.tools), _matcher(rule.servers), _matcher(_named(rule))))
            for rule in ordered
        ]
        self._found: dict[tuple[str, str | None], tuple[Rule, ...]] = {}

    @property
    def in_order(self) -> tuple[Rule, ...]:
        """The rules in the order in which they are tried."""
        return tuple(rule for rule, _ in self._ordered)

    def about(self, tool: str, server: str | None) -> tuple[Rule, ...]:
        """The rules whose ``tool`` and ``server`` fit, in the order in which they are tried.

        Args:
            tool: The tool's name.
            server: Its MCP server, or ``None``.
        """
        found = self._found.get((tool, server))
        if found is None:
            found = tuple(rule for rule, names in self._ordered if _fit(names, tool, server))
            if len(self._found) >= _REMEMBERED:
                self._found.clear()  # names come from models: without end, if they must
            self._found[tool, server] = found
        return found


def _named(rule: Rule) -> tuple[str, ...] | None:
    """The names of a rule's tools that tell their server; ``None`` where there are none."""
    if rule.tools is None or rule.servers is None or rule.general:
        return None
    return names_with_server(rule.tools, rule.servers) or None


def _fit(names: tuple[_Names, _Names, _Names], tool: str, server: str | None) -> bool:
    """Whether a rule's names fit a tool and its server, which its name may have to tell."""
    tools, servers, named = names
    if server is None and servers is not None:
        return named is not None and named.fullmatch(tool) is not None
    if servers is not None and not servers.fullmatch(server or ""):
        return False
    return tools is None or any(each and each.fullmatch(tool) for each in (tools, named))


def _matcher(names: tuple[str, ...] | None) -> re.Pattern[str] | None:
    """One pattern for several names; upper and lower case differ."""
    if names is None:
        return None
    return re.compile("|".join(f"(?:{translate(name)})" for name in names))
