"""Paths on other machines: spellings of one file have one key, without a look at any disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolflow import file_key
from toolflow.errors import UsageError
from toolflow.model.keys import covers
from toolflow.model.turn import Call, Turn
from toolflow.policy import dir_key, load_policy
from toolflow.policy.remotepaths import is_odd, local_path, remote_key

ONE = [
    "ssh://build.example/srv/app/main.py",
    "ssh://me@BUILD.example:22/srv//app/./main.py",
    "SSH://me:secret@build.example./srv/app/lib/../main.py",
    "sftp://build.example/srv/app/main.py",
    "scp://build.example/srv/app/main.py",
    "ssh://build.example/srv/app/main%2Epy",
    "build.example:/srv/app/main.py",
    "me@build.example:/srv/app/main.py",
    "you@build.example:/srv/app/lib/../main.py",
]


@pytest.mark.parametrize("path", ONE)
@pytest.mark.parametrize("cwd", ["/one", "/another"])
def test_spellings_of_one_remote_file_have_one_key(path: str, cwd: str) -> None:
    assert file_key(path, cwd=cwd) == "ssh://build.example/srv/app/main.py"


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("ssh://h:2222/x", "ssh://h:2222/x"),
        ("me@h:x", "ssh://h/~/x"),
        ("hh:~/x", "ssh://hh/~/x"),
        ("hh:~bob/x", "ssh://hh/~bob/x"),
        ("git@github.com:org/repo.git", "ssh://github.com/~/org/repo.git"),
        ("me@[::1]:/x", "ssh://[::1]/x"),
        ("s3://Bucket/a/b.csv", "s3://bucket/a/b.csv"),
        ("s3://bucket/a?versionId=1", "s3://bucket/a"),
        ("gs://bucket/a#part", "gs://bucket/a"),
        ("s3://bucket/../../a", "s3://bucket/a"),
        ("s3://bucket", "s3://bucket/"),
        ("hdfs:///user/x", "hdfs:///user/x"),
        ("https://example.com:443/a", "https://example.com/a"),
        ("\\\\SERVER\\Share\\Dir\\..\\x", "//server/share/x"),
        ("file://elsewhere/x", "file://elsewhere/x"),
    ],
)
def test_remote_paths_are_normalised_as_they_are_spelled(path: str, key: str) -> None:
    assert file_key(path) == key


@pytest.mark.parametrize(
    "path", ["a:b", "host:x", "x:/y", "./host:/x", "a/me@h:x", "@h:x", ":x", "me@:x", "a b:/c"]
)
def test_a_colon_elsewhere_is_a_character_like_any_other(path: str, tmp_path: Path) -> None:
    assert remote_key(path) is None
    assert file_key(path, cwd=tmp_path) == str(tmp_path / path)


@pytest.mark.parametrize(
    "path",
    ["file:///a/b", "FILE:/a/b", "file://localhost/a/b", "file:///a/%62", "file:///a/c/../b"],
)
def test_a_file_address_of_this_machine_is_the_file(path: str) -> None:
    assert file_key(path) == "/a/b"


def test_a_file_address_follows_links_and_has_the_identity_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    (tmp_path / "link").symlink_to("a")
    address = (tmp_path / "link").as_uri()
    assert file_key(address) == str(tmp_path / "a")
    assert file_key(address, inode=True) == file_key(tmp_path / "a", inode=True)


def test_a_key_with_a_colon_does_not_change_when_such_a_file_is_written(tmp_path: Path) -> None:
    before = file_key("me@h:x", cwd=tmp_path)
    (tmp_path / "me@h:x").write_text("x")
    assert file_key("me@h:x", cwd=tmp_path) == before


def test_remote_trees_cover_what_is_in_them() -> None:
    tree = dir_key("ssh://me@hh/srv/")
    assert tree == "ssh://hh/srv/**"
    assert covers(tree, file_key("hh:/srv/a/b"))
    assert not covers(tree, file_key("hh:/srv2/a"))
    assert covers(dir_key("s3://b"), file_key("s3://b/k"))
    assert covers(dir_key("\\\\s\\d"), file_key("\\\\S\\D\\x"))


def test_options_reach_remote_paths() -> None:
    assert file_key("s3://b/K", case="fold") == file_key("s3://b/k", case="fold")
    assert file_key("s3://b/K") != file_key("s3://b/k")
    accents = "s3://b/e\u0301", "s3://b/\u00e9"
    assert file_key(accents[0]) == file_key(accents[1])
    assert file_key(accents[0], unicode="keep") != file_key(accents[1], unicode="keep")
    assert file_key("s3://b/k", inode=True) == "s3://b/k"


@pytest.mark.parametrize("path", ["ssh://[::1/x", "ssh://h:x/y", "s3://b/a%00", "file:///a%00"])
def test_what_cannot_be_read_fails_its_call_and_nothing_else(path: str) -> None:
    with pytest.raises(UsageError):
        file_key(path)
    policy = load_policy(
        "version: 1\nrules:\n  - {tool: t, writes: ['file:{{ args.path | file_key }}']}\n"
    )
    turn = Turn("t", (Call(0, "a", "t", {"path": path}), Call(1, "b", "t", {"path": "s3://b/k"})))
    bad, good = policy.classify(turn).calls
    assert (bad.verdict.status, good.verdict.kind) == ("failed", "exclusive")


@given(st.text(max_size=60))
def test_any_text_has_a_stable_remote_key_or_none(text: str) -> None:
    try:
        key = remote_key(text)
    except UsageError:
        return
    if key is None:
        return
    assert is_odd(text) or text.startswith("//")
    assert "\0" not in key or "\0" in text


@given(st.from_regex(r"[a-z]{2,5}://[a-z@.:0-9]{0,12}/[a-zA-Z0-9%./?#~ -]{0,30}", fullmatch=True))
def test_the_key_of_a_key_is_the_key(address: str) -> None:
    try:
        key = remote_key(address)
    except UsageError:
        return
    assert key is not None
    assert local_path(address) == address or address.startswith("file:")
    if not set("%?#") & set(key):
        assert remote_key(key) == key
