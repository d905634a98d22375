"""Which process it is, where its number alone would not tell."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from toolflow.locks.identity import own_identity, program_name, still_runs

needs_proc = pytest.mark.skipif(not own_identity(), reason="this system does not tell")


@needs_proc
def test_a_running_process_is_known():
    assert still_runs(os.getpid(), own_identity()) is True


@needs_proc
def test_a_process_that_ended_is_known_before_its_parent_has_seen_it():
    child = subprocess.Popen([sys.executable, "-c", "pass"], stdout=subprocess.PIPE)
    identity = own_identity().rpartition(" ")[0] + f" {child.pid}:1"
    child.stdout.read()  # until it ends
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert still_runs(child.pid, identity) is False
    child.wait()
    child.stdout.close()
    assert still_runs(child.pid, identity) is False


@needs_proc
def test_a_later_process_with_the_same_number_is_another_one():
    boot, names, this = own_identity().split(" ")
    earlier = f"{boot} {names} {this.partition(':')[0]}:1"
    assert still_runs(os.getpid(), earlier) is False


@needs_proc
def test_nothing_lives_through_a_new_start_of_the_machine():
    assert still_runs(os.getpid(), "another " + own_identity().partition(" ")[2]) is False


@needs_proc
def test_of_a_process_of_another_container_nothing_is_known():
    boot, _, this = own_identity().split(" ")
    assert still_runs(os.getpid(), f"{boot} 1 {this}") is None


@pytest.mark.parametrize("identity", ["", "x", "a b c d"])
def test_of_a_process_without_identity_nothing_good_is_known(identity):
    assert still_runs(os.getpid(), identity) is not True


@pytest.mark.parametrize(("argv", "name"), [(["/x/agent.py"], "agent.py"), (["a" * 99], "a" * 40)])
def test_a_program_is_called_by_its_file(argv, name, monkeypatch):
    monkeypatch.setattr(sys, "argv", argv)
    assert program_name() == name


@pytest.mark.parametrize("argv", [[], [""], ["-c"], ["-m"]])
def test_a_program_without_file_is_called_by_its_interpreter(argv, monkeypatch):
    monkeypatch.setattr(sys, "argv", argv)
    assert "python" in program_name()
