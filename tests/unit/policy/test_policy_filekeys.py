"""File keys: one key for all spellings of a file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from toolflow.errors import UsageError
from toolflow.model.keys import covers
from toolflow.policy import dir_key, file_key, host_key
from toolflow.policy.filekeys import FileKeys
from toolflow.policy.filesystem import folds_case
from toolflow.policy.pathoptions import PathOptions
from toolflow.policy.spelling import Speller

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="spellings of POSIX paths")


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("a", "/nowhere/a"),
        ("", "/nowhere"),
        (".", "/nowhere"),
        ("..", "/"),
        ("../../..", "/"),
        ("a/../b", "/nowhere/b"),
        ("a//b/", "/nowhere/a/b"),
        ("/", "/"),
        ("//a", "/a"),
        ("~/a", "/nowhere/~/a"),
        ("a b\n", "/nowhere/a b\n"),
        ("é", "/nowhere/é"),
    ],
)
def test_a_file_that_is_not_there_is_normalised(path: str, key: str) -> None:
    assert file_key(path, cwd="/nowhere", case="keep") == key
    assert file_key(Path(path) if path else path, cwd="/nowhere", case="keep") == key


def test_dots_after_a_link_lead_to_where_the_link_leads(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "link").symlink_to("deep/er")
    assert file_key("link/../f", cwd=tmp_path) == str(tmp_path / "deep" / "f")


def test_a_circle_of_links_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    said = r"The links of the path '{}' run in a circle\. Mend the links\."
    for path in ("a", "a/x", "a/x/y", "missing/../a"):
        with pytest.raises(UsageError, match=said.format(path)):
            file_key(path, cwd=tmp_path)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("a\0b", "holds a NUL character"),
        ("a\ud800", "holds a lone surrogate"),
        (3, "The path is 3. Use text."),
        (None, "The path is None. Use text."),
        (b"a", "The path is b'a'. Use text."),
        (["a"], r"The path is \['a'\]. Use text."),
        ("a" * 40_000, "is too long. Use at most 32,768 characters."),
    ],
)
def test_what_is_no_path_is_told(path: object, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        file_key(path)  # type: ignore[arg-type]


def test_long_and_deep_paths_have_keys() -> None:
    deep = "d/" * 5000 + "f"
    assert file_key(deep, cwd="/nowhere") == f"/nowhere/{deep}"
    assert file_key("n" * 5000, cwd="/nowhere") == f"/nowhere/{'n' * 5000}"


def test_a_tree_key_covers_the_folder_and_what_is_in_it(tmp_path: Path) -> None:
    tree = dir_key(tmp_path / "src")
    assert tree == f"{tmp_path}/src/**"
    assert covers(tree, file_key(tmp_path / "src"))
    assert covers(tree, file_key(tmp_path / "src" / "a" / "b.c"))
    assert not covers(tree, file_key(tmp_path / "src2" / "a"))
    assert dir_key("/") == "/**"


def test_a_file_named_like_a_tree_is_no_tree() -> None:
    key = file_key("/nowhere/**", case="keep")
    assert not key.endswith("/**")
    assert covers(dir_key("/nowhere", case="keep"), key)
    assert covers(dir_key("/nowhere/**", case="keep"), key)
    assert not covers(key, file_key("/nowhere/x", case="keep"))


def test_folders_are_remembered_only_while_one_turn_is_classified(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "link").symlink_to("a")
    keys = FileKeys(tmp_path)
    assert keys.file("link/f") == str(tmp_path / "a" / "f")
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("b")
    assert FileKeys(tmp_path).file("link/f") == str(tmp_path / "b" / "f")


def test_a_folder_that_is_gone_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(UsageError, match="The current folder is gone"):
        file_key("a")
    assert file_key("a", cwd=tmp_path) == str(tmp_path / "a")


def test_this_file_system_is_probed(tmp_path: Path) -> None:
    (tmp_path / "Letters").mkdir()
    folds = (tmp_path / "lETTERS").exists()
    assert folds_case(str(tmp_path)) == folds
    assert folds_case(str(tmp_path / "Letters" / "not" / "there")) == folds


def test_a_hard_link_of_the_other_case_is_not_taken_for_folding(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    if (tmp_path / "X").exists():
        pytest.skip("this folder folds case")
    (tmp_path / "X").hardlink_to(tmp_path / "x")
    assert not folds_case(str(tmp_path))


@pytest.mark.parametrize(
    ("options", "spelled"),
    [
        (PathOptions("keep", "keep"), "/A/E\u0301.md"),
        (PathOptions("keep", "nfc"), "/A/\u00c9.md"),
        (PathOptions("fold", "keep"), "/a/e\u0301.md"),
        (PathOptions("fold", "auto"), "/a/\u00e9.md"),
        (PathOptions("fold", "nfc"), "/a/\u00e9.md"),
    ],
)
def test_names_are_spelled_in_one_way(options: PathOptions, spelled: str) -> None:
    assert Speller(options).spell("/A/E\u0301.md") == spelled


def test_the_spelling_of_a_folder_begins_the_spelling_of_what_is_in_it() -> None:
    speller = Speller(PathOptions("fold", "nfc"))
    for path in ("/", "/A", "/A/B", "/A/B/C", "C:/X", "C:/X/Y", "//Server/X"):
        folder = path.rpartition("/")[0]
        assert speller.spell(path).startswith(speller.spell(folder).rstrip("/"))
    assert speller.spell("C:/X/Y") == "c:/x/y"
    assert speller.spell("//Server/X") == "//server/x"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://Example.com/path?q#f", "example.com:443"),
        ("http://example.com", "example.com:80"),
        ("example.com", "example.com:443"),
        ("example.com:8080/x", "example.com:8080"),
        ("HTTPS://user:secret@EXAMPLE.com.:443/", "example.com:443"),
        ("http://[::1]:80/", "[::1]:80"),
        ("ws://a", "a:80"),
        ("//a/b", "a:443"),
        ("redis://cache", "cache:6379"),
        ("odd://a", "a:odd"),
        ("https://bücher.example", "xn--bcher-kva.example:443"),
        ("https://127.0.0.1", "127.0.0.1:443"),
        ("http://127.1", "127.0.0.1:80"),
        ("http://0x7f.0.0.1", "127.0.0.1:80"),
        ("http://2130706433", "127.0.0.1:80"),
        ("http://[0:0::0001]/", "[::1]:80"),
        ("http://[::FFFF:1.2.3.4]/", "1.2.3.4:80"),
        ("[fe80::1%25eth0]:3", "[fe80::1%25eth0]:3"),
        ("cafe", "cafe:443"),
        ("1.2.3.4.5", "1.2.3.4.5:443"),
        ("bücher。example。", "xn--bcher-kva.example:443"),
        (" example.com\n", "example.com:443"),
        ("example.com/a//b", "example.com:443"),
        ("localhost:3000/x?next=http://other", "localhost:3000"),
        ("https://a:", "a:443"),
        ("me:secret@a:1", "a:1"),
    ],
)
def test_a_host_has_one_spelling(url: str, key: str) -> None:
    assert host_key(url) == key


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "names no host"),
        ("https:///x", "names no host"),
        ("https://a:x/", "cannot be read"),
        ("https://a:99999/", "cannot be read"),
        ("https://[::1", "cannot be read"),
        ("https://" + "é" * 70, "cannot be read"),
        (3, "The address is 3"),
    ],
)
def test_what_is_no_address_is_told(url: object, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        host_key(url)  # type: ignore[arg-type]
