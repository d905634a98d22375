"""A policy to start from: the text that ``toolflow init`` writes.

It fails closed. What would make a call safe is a guess, so it stands in a comment, for a person to
take the ``#`` away; what can only make calls wait, or ask, is there at once. Tools that a policy of
the package knows are left to it. The cases are worked out by the policy itself: they say what it
does today, and fail where a change does more than was meant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from toolflow.model import Call, CallPlan, ToolSpec, Turn
from toolflow.model.turn import EMPTY
from toolflow.policy.guesses import KeyGuess, for_a_person, keys, reading, shell_line
from toolflow.policy.knowing import Bases, bases_of
from toolflow.policy.labels import one_line
from toolflow.policy.policy import Policy, load_policy
from toolflow.yamlio import dump

_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_WORDS: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
_ADDRESS: Final = re.compile(r"([a-z+.-]+://)(?:[^/?#]*@)?([^/?#]*)", re.IGNORECASE)
_WIDTH: Final = 96
_FOLDER: Final = "/project"
_EXAMPLES: Final = 2
_LONGEST: Final = 200

Examples = Mapping[str, Sequence[Mapping[str, Any]]]


@dataclass(frozen=True, slots=True)
class _Rule:
    """A tool and what is guessed of it."""

    spec: ToolSpec
    keys: tuple[KeyGuess, ...]
    examples: tuple[Mapping[str, Any], ...]


def starting_policy(
    tools: Sequence[ToolSpec],
    *,
    made_of: str,
    harness: str | None = None,
    examples: Examples = EMPTY,
) -> str:
    """Write a policy to start from.

    Args:
        tools: The tools, declared or seen in a log. A ``server`` is that of the policy.
        made_of: Where they were found, for the first lines.
        harness: The shipped policy that is about the whole source, such as ``claude-code``.
        examples: Arguments of calls that were seen, by the tool's name, for the cases.

    Returns:
        YAML text that `load_policy` takes, whose cases hold.
    """
    named = [_own_name(spec) for spec in tools if spec.name.strip() and spec.name.isprintable()]
    bases = bases_of(named, harness)
    rest = [spec for spec in named if (spec.name, spec.server) not in bases.known]
    rest.sort(
        key=lambda spec: spec.server is None
    )  # a rule without a server fits any server's tool
    rules = [_rule(spec, examples) for spec in rest if not _declares(spec)]
    lines = [
        *_head(made_of, len(named), bases),
        *_left_out(len(tools) - len(named), [spec.name for spec in rest if _declares(spec)]),
        "version: 1",
        *_extends(bases),
        "",
        *(_rules(rules) if rules else ["rules: []"]),
        "",
    ]
    text = "\n".join(lines)
    cases = _cases(text, rules)
    return text + ("\n" + dump({"cases": cases}) if cases else "")


def _own_name(spec: ToolSpec) -> ToolSpec:
    """The tool by its server's own name for it: a rule with the server knows the other names."""
    own = spec.name if spec.server is None else spec.name.removeprefix(f"{spec.server}__")
    return spec if own == spec.name else replace(spec, name=own)


def _declares(spec: ToolSpec) -> bool:
    """Whether the tool's author says himself what may be done; a rule would say something else."""
    return not (spec.safe is None and spec.reads is None and spec.writes is None)


def _rule(spec: ToolSpec, examples: Examples) -> _Rule:
    guessed = () if shell_line(spec) is not None else keys(spec)
    wanted = {name for guess in guessed for name in guess.arguments}
    made: list[Mapping[str, Any]] = []
    for args in examples.get(spec.name, ()):
        short = {name: _without_login(args[name]) for name in args if name in wanted}
        if short not in made and _is_short(short):
            made.append(short)
    sample = {name: value for guess in guessed for name, value in guess.arguments.items()}
    return _Rule(spec, guessed, tuple(made[:_EXAMPLES]) or (sample,))


def _without_login(value: Any) -> Any:
    """An address by its host alone: logs hold logins and tokens in them."""
    found = _ADDRESS.match(value) if isinstance(value, str) else None
    return value if found is None else f"{found[1]}{found[2]}/"


def _is_short(args: Mapping[str, Any]) -> bool:
    try:
        return len(dump(dict(args))) <= _LONGEST
    except ValueError:  # halves of characters
        return False


# --- the text ------------------------------------------------------------------------------------


_ABOUT: Final = """\
#
# It is closed: a tool runs alone until somebody says that it may run beside others. Where you
# know that a guess is right, take the "# " away before `safe: true`. Keys (`reads`, `writes`)
# and questions (`ask`) are guesses as well, but there at once: they can only make calls wait.
# Look whether the keys tell all that a call touches before you say that it is safe."""
_BUILT_ON: Final = (
    "# What the policies under `extends` say of the tools that they know holds as it is."
)
_TO_DO: Final = """\
#
#   toolflow check FILE
#   toolflow test FILE --coverage
#   toolflow plan TURN --policy FILE"""


def _head(made_of: str, count: int, bases: Bases) -> Iterator[str]:
    what = f"{count} tool{'' if count == 1 else 's'}"
    yield f"# A policy to start from, made by `toolflow init` of {one_line(made_of, 50)}: {what}."
    yield _ABOUT
    if bases.names:
        yield _BUILT_ON
    yield _TO_DO
    for remark in bases.remarks:
        yield f"#\n# {remark}"


def _left_out(nameless: int, declared: Sequence[str]) -> Iterator[str]:
    if declared:
        yield f"#\n# They declare themselves what they touch: {one_line(', '.join(declared), 200)}."
    if nameless:
        yield f"#\n# Left out: {nameless} with names that cannot be written down."


def _extends(bases: Bases) -> Iterator[str]:
    if bases.names:
        named = ", ".join(f"shipped:{name}" for name in bases.names)
        yield f"extends: [{named}]   # decides {len(bases.known)} of these tools"


def _rules(rules: Sequence[_Rule]) -> Iterator[str]:
    yield "rules:"
    for number, rule in enumerate(rules):
        if number:
            yield ""
        yield from _comments(rule.spec)
        yield f"  - tool: {_scalar(_escaped(rule.spec.name))}"
        if rule.spec.server is not None:
            yield f"    server: {_scalar(_escaped(rule.spec.server))}"
        yield from _fields(rule)


def _comments(spec: ToolSpec) -> Iterator[str]:
    said = one_line(spec.description, _WIDTH - 4)
    if said:
        yield f"  # {said}"


def _fields(rule: _Rule) -> Iterator[str]:
    if (line := shell_line(rule.spec)) is not None:
        yield from _shell_fields(line)
        return
    only_reads, why = reading(rule.spec)
    if only_reads:
        yield f"    # safe: true   # guess: {why}"
    else:
        yield f"    # safe: true   # if the keys tell all that it changes ({why})"
    yield from _key_lines("reads" if only_reads else "writes", rule.keys)
    if not rule.keys:
        told = "what it reads" if only_reads else "what it changes"
        side = "reads: [] " if only_reads else 'writes: ["..."]'
        yield f"    # {side}   # nothing in its arguments tells {told}"
    if only_reads:
        yield "    # writes: []   # guess: it changes nothing"
    word = for_a_person(rule.spec)
    if word is not None:
        yield f"    ask: true      # guess: its name says {word!r}, which may be past mending"


def _shell_fields(line: str) -> Iterator[str]:
    """What a shell does is in the line that it is given."""
    yield '    writes: ["file:/**"]   # guess: a command may change any file'
    yield "    # Or, with `pip install 'toolflow[shell]'`, instead of the line above:"
    yield f'    # safe: "{{{{ shell_effects(args.{line}) }}}}"   # guess: a line for Bash'
    for side in ("reads", "writes"):
        yield f'    # {side}: ["file:{{{{ shell_effects(args.{line}).{side} | dir_key }}}}"]'


def _key_lines(side: str, guessed: Sequence[KeyGuess]) -> Iterator[str]:
    if len(guessed) == 1:
        yield f'    {side}: ["{guessed[0].template}"]   # guess: {_listed(guessed[0].arguments)}'
    elif guessed:
        yield f"    {side}:"
        for guess in guessed:
            yield f'      - "{guess.template}"   # guess: {_listed(guess.arguments)}'


def _listed(arguments: Mapping[str, Any]) -> str:
    return f"from {' and '.join(f'`{name}`' for name in arguments)}"


def _scalar(text: str) -> str:
    """A printable text as YAML: plain where that is no other value, else in double quotes."""
    plain = _PLAIN.fullmatch(text) and text.lower() not in _WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)


def _escaped(name: str) -> str:
    """A name that stands for itself: what would make it a pattern is put in brackets."""
    return re.sub(r"([*?\[])", r"[\1]", name)


# --- the cases -----------------------------------------------------------------------------------


class _Tools:
    """The one tool that a case calls."""

    version = 0

    def __init__(self, spec: ToolSpec) -> None:
        self._spec = ToolSpec(spec.name, server=spec.server)

    def find(self, name: str) -> ToolSpec | None:
        return self._spec if name == self._spec.name else None

    def names(self) -> Sequence[str]:
        return (self._spec.name,)


def _cases(text: str, rules: Sequence[_Rule]) -> list[dict[str, Any]]:
    """One case a tool: what the policy says of its calls today."""
    if not rules:
        return []
    policy = load_policy(text)
    return [_case(rule, _classified(policy, rule)) for rule in rules]


def _classified(policy: Policy, rule: _Rule) -> tuple[CallPlan, ...]:
    calls = tuple(
        Call(index, f"call-{index + 1}", rule.spec.name, args)
        for index, args in enumerate(rule.examples)
    )
    return policy.classify(Turn("turn-1", calls), _Tools(rule.spec), cwd=_FOLDER).calls


def _case(rule: _Rule, calls: Sequence[CallPlan]) -> dict[str, Any]:
    server = {} if rule.spec.server is None else {"server": rule.spec.server}
    turn = [
        {"tool": rule.spec.name, **server, **({"args": dict(args)} if args else {})}
        for args in rule.examples
    ]
    expect = [_expected(call) for call in calls]
    return {"name": rule.spec.name, "cwd": _FOLDER, "turn": turn, "expect": expect}


def _expected(call: CallPlan) -> dict[str, Any]:
    made: dict[str, Any] = {"verdict": call.verdict.kind}
    if call.verdict.status is not None:
        made["status"] = call.verdict.status
    for side, found in (("reads", call.reads), ("writes", call.writes)):
        if found is not None:
            made[side] = list(found)
    if call.ask is not None:
        made["ask"] = call.ask
    return made
