"""The lock keys of one call: its rule's, else its tool's (spec 4.1, 4.2); none of them a secret."""

from __future__ import annotations

from typing import Final, Literal

from toolflow.errors import ToolflowError
from toolflow.model import ToolSpec
from toolflow.model.tool import Args
from toolflow.policy.expressions import Names
from toolflow.policy.keys import declared_keys, template_keys
from toolflow.policy.redact import Redactor
from toolflow.policy.rules import Rule
from toolflow.policy.settled import Settled, settle

Keys = tuple[tuple[str, ...] | None, tuple[str, ...] | None]
_TELLS: Final = (
    "Could not tell what the call changes: its keys are made of a value under a name that the "
    "policy's redact holds, and keys are shown. Make them of other arguments."
)


def keys_of(rule: Rule | None, spec: ToolSpec | None, parsed: Args, names: Names) -> Keys:
    """The keys of a call: those read and those written; a key that is both is written.

    Args:
        rule: The rule that matched, or ``None``.
        spec: The tool's declaration, or ``None``.
        parsed: The arguments as parsed.
        names: What the names in the rule stand for.

    Raises:
        Settled: If one cannot be worked out (spec 4.2).
    """
    by_rule = rule is not None and not (rule.reads is None and rule.writes is None)
    if not by_rule and (spec is None or (spec.reads is None and spec.writes is None)):
        return None, None
    try:
        reads = _one_side("reads", rule, spec, parsed, names)
        writes = _one_side("writes", rule, spec, parsed, names)
    except ToolflowError as error:
        said = f"Could not tell what the call changes: {str(error).rstrip('.')}."
        raise Settled("failed", said, rule) from error
    if reads and writes:
        written = frozenset(writes)
        reads = tuple(key for key in reads if key not in written)
    return reads, writes


def check_secrets(
    redactor: Redactor,
    keys: Keys,
    *,
    rule: Rule | None,
    spec: ToolSpec | None,
    parsed: Args,
    names: Names,
) -> None:
    """Refuse keys that tell a secret: plans, events and lock stores show them.

    A key made of the mask instead would no longer meet the key of the same thing that another
    argument names, so the call does not run.

    Args:
        redactor: What the policy names.
        keys: What `keys_of` gave.
        rule: As for `keys_of`.
        spec: As for `keys_of`.
        parsed: As for `keys_of`.
        names: As for `keys_of`.

    Raises:
        Settled: If they are other ones where the secrets are masked.
    """
    masked = redactor.masked(parsed)
    if _alike(masked, parsed):
        return
    try:
        tell = keys_of(rule, spec, masked, {**names, "args": masked}) != keys
    except Settled:
        tell = True
    if tell:
        settle("failed", _TELLS, rule)


def _alike(masked: object, parsed: object) -> bool:
    try:
        return bool(masked == parsed)
    except Exception:  # noqa: BLE001 - values of any kind, which compare as they like
        return False


def _one_side(
    side: Literal["reads", "writes"],
    rule: Rule | None,
    spec: ToolSpec | None,
    parsed: Args,
    names: Names,
) -> tuple[str, ...] | None:
    if rule is not None:
        templates = rule.reads if side == "reads" else rule.writes
        if templates is not None:
            return template_keys(templates, names)
    if spec is None:
        return None
    return declared_keys(spec.reads if side == "reads" else spec.writes, parsed)
