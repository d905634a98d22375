"""Which lock store is meant by a word or a path."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from toolflow.errors import LockStoreError, UsageError
from toolflow.locks import FileStore, default_store, machine_path, open_store


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("where", [None, "memory"])
def test_memory_is_the_store_of_this_process(where):
    assert open_store(where) is default_store()


def test_machine_is_a_file_in_the_state_folder_for_its_user_only(state):
    path = machine_path()
    assert path.parent == state / "toolflow"
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with open_store("machine") as store:
        assert store.path == path
    assert path == machine_path()


def test_without_a_state_folder_it_is_in_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", "relative/is/ignored")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert machine_path().parent == tmp_path / ".local" / "state" / "toolflow"


def test_a_folder_that_others_may_write_to_is_refused(state):
    (state / "toolflow").mkdir()
    (state / "toolflow").chmod(0o777)
    with pytest.raises(LockStoreError, match="others may write to this folder"):
        machine_path()


def test_a_state_folder_that_cannot_be_made_is_an_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    with pytest.raises(LockStoreError, match=r"Not a directory|File exists"):
        machine_path()


@pytest.mark.parametrize("where", ["machin", "MEMORY", ""])
def test_a_word_that_is_no_path_is_taken_for_a_mistake(where):
    with pytest.raises(UsageError, match="there is none of this name"):
        open_store(where)


def test_a_path_gives_one_store_to_all_of_a_process_until_it_is_closed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path)
    first = open_store("./locks.db")
    assert isinstance(first, FileStore)
    assert open_store(tmp_path / "locks.db") is first
    assert open_store(tmp_path / "link" / "locks.db") is first
    first.close()
    with open_store("./locks.db") as second:
        assert second is not first


def test_a_system_without_named_pipes_is_told_so(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "mkfifo")
    with pytest.raises(LockStoreError, match="needs named pipes, which this system does not have"):
        open_store(tmp_path / "locks.db")
