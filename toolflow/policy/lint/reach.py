"""Rules that can never match: earlier rules without conditions are about the same calls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolflow.policy.lint.patterns import covers
from toolflow.policy.rules import Rule, RuleBook
from toolflow.policy.servernames import is_pattern, names_with_server


def unreachable(book: RuleBook) -> Iterator[tuple[Rule, tuple[Rule, ...]]]:
    """The rules of a policy that can never match.

    Rules with aliases are passed over: their other names count whether or not they match. So are
    rules of bases, which a policy is free to overrule.

    Args:
        book: Its rules.

    Yields:
        Each such rule with the earlier ones that are about all its calls; none where its own
        ``when`` is false.
    """
    earlier: list[Rule] = []
    for rule in book.in_order:
        if rule.base is not None:
            continue
        if rule.when is False:
            yield rule, ()
            continue
        if not rule.argument_aliases and not rule.has_aliases:
            found = _covering(rule, earlier)
            if found:
                yield rule, found
        if rule.when is None or rule.when is True:
            earlier.append(rule)


def _covering(rule: Rule, earlier: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules that together are about every call that a rule is about; none if they are not."""
    found: dict[int, Rule] = {}
    for tool in rule.tools or ("*",):
        first = next((other for other in earlier if _covers(other, rule, tool)), None)
        if first is None:
            return ()
        found[first.rank] = first
    return tuple(found.values())


def _covers(other: Rule, rule: Rule, tool: str) -> bool:
    """Whether another rule is about every call of one of a rule's tools."""
    names = [tool, *_with_server(rule, tool)]
    if other.servers is None:
        return all(_any(other.tools, name) for name in names)
    if rule.servers is None or (other.general and len(names) > 1):
        return False  # a rule about a whole server knows none of the names that tell a server
    return _any(other.tools, tool) and all(
        server in other.servers
        or (len(names) == 1 and any(covers(each, server) for each in other.servers))
        for server in rule.servers
    )


def _with_server(rule: Rule, tool: str) -> tuple[str, ...]:
    if rule.servers is None or rule.general:
        return ()
    return names_with_server([tool], [each for each in rule.servers if not is_pattern(each)])


def _any(patterns: tuple[str, ...] | None, name: str) -> bool:
    return patterns is None or any(covers(pattern, name) for pattern in patterns)
