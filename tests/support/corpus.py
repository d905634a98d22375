"""Where the recorded turns of other people lie, for tests that read them in place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


def corpus_dir(*parts: str) -> Path:
    """The folder of recorded turns (or a path below it); skips the test where it is absent.

    It is the value of ``TOOLFLOW_CORPUS``, else ``shared/corpus`` beside the checkout.
    """
    default = Path(__file__).parents[3] / "shared" / "corpus"
    path = Path(os.environ.get("TOOLFLOW_CORPUS", default)).joinpath(*parts)
    if not path.exists():
        pytest.skip(
            f"the recorded turns are not here ({path.name} is missing; set TOOLFLOW_CORPUS)"
        )
    return path
