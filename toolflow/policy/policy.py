"""The policy: loaded once, then asked for every turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from toolflow.errors import PolicyError, UsageError
from toolflow.model import Batch, CallPlan, Catalog, Limits, Turn, call_names
from toolflow.model.digest import digest
from toolflow.policy.bases import Member, members_of, with_bases
from toolflow.policy.classify import Classifier
from toolflow.policy.identify import faulty_ids, renumbered
from toolflow.policy.settings import Settings, settings_of
from toolflow.policy.shelf import is_shipped, shipped_text
from toolflow.policy.terms import SharedTerms
from toolflow.policy.together import together_problems
from toolflow.yamlio import Document, load, load_file, of_value

if TYPE_CHECKING:
    from toolflow.policy.redact import Redactor
    from toolflow.policy.schema import CasePart

_STAYS = "it was exclusive before it was changed, and stays so"
PolicySource = str | Path | Mapping[str, Any] | Document | None


class Policy:
    """The rules of one policy file, ready to classify turns. Make one with `load_policy`.

    Attributes:
        source: The file's name, or a word such as ``<policy>``.
        text: The policy as YAML text, or ``None`` for the empty policy.
        digest: A name for what it says; comments and layout do not change it.
        settings: What it says, as values.
        members: The policy file, then its bases, as they were read.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        source: str = "<none>",
        text: str | None = None,
        digest: str = "",
        members: Sequence[Member] = (),
    ) -> None:
        self.settings = settings or Settings()
        self.source = source
        self.text = text
        self.digest = digest
        self.members = tuple(members)
        self._terms = SharedTerms(self.settings)

    @property
    def cases(self) -> tuple[CasePart, ...]:
        """Its own tests; those of its bases are theirs."""
        return tuple(self.members[0].file.cases) if self.members else ()

    def place_of(self, base: str | None, line: int | None) -> str:
        """Where people find a line: ``policy.yaml:3``.

        Args:
            base: The base that it stands in, or ``None`` for the policy itself.
            line: The line, counted from 1, or ``None``.
        """
        sources = {member.name: member.document.source for member in self.members}
        source = sources.get(base, self.source)
        return source if line is None else f"{source}:{line}"

    @property
    def limits(self) -> Limits:
        """Bounds of a run."""
        return self.settings.limits

    @property
    def ids(self) -> Literal["strict", "renumber"]:
        """What happens to empty and doubled call ids."""
        return self.settings.ids

    @property
    def approvals(self) -> Literal["inline", "first"]:
        """When questions are asked."""
        return self.settings.approvals

    @property
    def redactor(self) -> Redactor:
        """What masks the secrets that the policy names."""
        return self.settings.redactor

    def classify(
        self, turn: Turn, catalog: Catalog | None = None, *, cwd: str | None = None
    ) -> Batch:
        """Decide about every call of a turn.

        Args:
            turn: The turn.
            catalog: The tools that are there. ``None`` means that nobody knows which there are,
                as with a log: then no call is settled as unknown.
            cwd: The folder that relative paths start from; the process's own by default.

        Returns:
            The batch: each call with its verdict, keys and terms, in call order.

        Raises:
            UsageError: If the current folder is gone and no other is given.
        """
        names = call_names(turn.calls)
        faults = faulty_ids(turn)
        ids = [call.id for call in turn.calls]
        classifier = Classifier(self.settings, turn, catalog, cwd, self._terms)
        if faults and self.ids == "renumber":
            faults = {}
            ids, notices = renumbered(turn.calls, names)
            classifier.notices += notices
        calls = tuple(
            classifier.classify(call, name, call_id, faults.get(call.index))
            for call, name, call_id in zip(turn.calls, names, ids, strict=True)
        )
        notices_made = tuple(classifier.notices)
        redactor = self.redactor or None
        return Batch(turn, calls, self.limits, self.approvals, self.digest, notices_made, redactor)

    def reclassify(
        self,
        call: CallPlan,
        turn: Turn,
        args: Mapping[str, Any],
        catalog: Catalog | None = None,
        *,
        cwd: str | None = None,
    ) -> CallPlan:
        """Decide again about a call whose arguments, or the tools, changed (spec 6.4).

        Id, tool and name stay. An exclusive call stays exclusive, a settled one settled.

        Args:
            call: The call as classified before.
            turn: Its turn.
            args: Its arguments now.
            catalog: The tools that are there now.
            cwd: The folder that relative paths start from.

        Returns:
            The call with its new verdict, keys and terms.

        Raises:
            UsageError: As `classify`.
        """
        if call.verdict.kind == "settled":
            return call
        classifier = Classifier(self.settings, turn, catalog, cwd, self._terms)
        new = classifier.again(call, args)
        if call.verdict.kind == "exclusive" and new.verdict.kind == "safe":
            return replace(new, verdict=replace(new.verdict, kind="exclusive", reason=_STAYS))
        return new


def load_policy(source: PolicySource | Policy, *, folder: str | Path | None = None) -> Policy:
    """Load a policy.

    Args:
        source: A file; ``shipped:NAME`` for a policy of the package; YAML text (it holds a line
            feed, or begins with ``{``); a mapping; a document; or ``None`` for the empty policy,
            under which every call is exclusive that its tool does not declare safe. A policy is
            given back as it is.
        folder: The folder that paths under ``extends`` start from; that of the file by default.
            Without either, a policy extends no files.

    Returns:
        The policy.

    Raises:
        PolicyError: With every problem of the file and its bases, each with its line and column.
        UsageError: If the source is none of these.
    """
    if isinstance(source, Policy):
        return source
    if source is None:
        return Policy(digest=digest({"version": 1}))
    document, own_folder = _document(source)
    members = members_of(document, own_folder if folder is None else Path(folder))
    if problems := together_problems(members):
        raise PolicyError(problems)
    value, text = with_bases(members)
    return Policy(
        settings_of(members),
        source=document.source,
        text=text,
        digest=digest(value),
        members=members,
    )


def _document(source: object) -> tuple[Document, Path | None]:
    """A policy as a document, and the folder that it lies in."""
    if isinstance(source, Document):
        return source, None
    if isinstance(source, Mapping):
        return of_value(source, source="<policy>", error=PolicyError), None
    if isinstance(source, str | Path) and is_shipped(source):
        return load(shipped_text(str(source)), source=str(source), error=PolicyError), None
    if isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{")):
        return load(source, source="<policy>", error=PolicyError), None
    if isinstance(source, str | Path):
        return load_file(source, error=PolicyError), Path(source).parent
    kind = type(source).__name__
    raise UsageError(f"The policy is of type {kind}. Use a path, YAML text, a mapping, or None.")
