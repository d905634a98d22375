"""`git add`, then `git commit`: a real repository, five turns at once (spec 7.5).

Keys that are held per call keep the two commands of one turn apart from those of others, but not
together: what others have added meanwhile goes into the commit. A lease of the turn keeps them
together. Real processes in real time; what must hold does not depend on times.
"""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import anyio
import pytest
from git_turns import AGENTS, commits, repository, share_repository

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs the program git")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_with_a_lease_of_the_turn_every_commit_holds_exactly_its_own_file(
    backend: str, tmp_path: Path
) -> None:
    repo = repository(tmp_path / "repo")
    found = anyio.run(partial(share_repository, repo, "turn", 5), backend=backend)
    assert found == {"own": 5 * AGENTS, "failed": 0}
    assert len({subject for subject, _ in commits(repo)}) == 5 * AGENTS


def test_with_keys_per_call_one_commit_takes_what_all_have_added_and_the_others_fail(
    tmp_path: Path,
) -> None:
    repo = repository(tmp_path / "repo")
    found = anyio.run(share_repository, repo, "call", 2)
    assert found == {"other": 2, "failed": 2 * (AGENTS - 1)}
    assert [len(files) for _, files in commits(repo)] == [AGENTS, AGENTS]
