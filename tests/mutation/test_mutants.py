"""The short form of the mutation check; the long form is ``python tests/mutation/mutants.py``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest


def load() -> ModuleType:
    path = Path(__file__).with_name("mutants.py")
    spec = importlib.util.spec_from_file_location("mutants", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["mutants"] = module
    spec.loader.exec_module(module)
    return module


mutants = load()


def test_every_mutant_still_changes_exactly_one_place() -> None:
    for mutant in mutants.MUTANTS:
        path = mutants.ROOT / "toolflow" / "scheduler" / f"{mutant.module}.py"
        text = path.read_text(encoding="utf-8")
        assert text.count(mutant.old) == 1, mutant.name
        compile(text.replace(mutant.old, mutant.new), mutant.name, "exec")
    assert len({mutant.name for mutant in mutants.MUTANTS}) == len(mutants.MUTANTS)


@pytest.mark.parametrize(
    "name", ["nothing-handed-on", "permit-is-lost", "reported-barrier-is-over"]
)
def test_a_planted_fault_is_noticed(name: str) -> None:
    (mutant,) = [mutant for mutant in mutants.MUTANTS if mutant.name == name]
    assert mutants.killer(mutant, mutants.QUICK)


def test_without_a_planted_fault_the_tests_pass() -> None:
    assert mutants.killer(None, mutants.QUICK) == ""
