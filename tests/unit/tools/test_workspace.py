"""The tools of a workspace, on real files."""

from __future__ import annotations

import os
import stat
from dataclasses import replace

import anyio
import pytest

from toolflow.errors import UsageError
from toolflow.model.keys import keys_meet
from toolflow.runtime.results import ToolFailure, outcome_of
from toolflow.tools.files import MAX_BYTES
from toolflow.tools.workspace import workspace

posix = pytest.mark.skipif(os.name != "posix", reason="links and modes are POSIX matters")


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    folder.mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret")
    return folder


@pytest.fixture
def tools(root):
    return workspace(root)


def call(tools, name, **args):
    """What a run does with a call: parse, work out the keys, enter the body."""
    tool = tools.get(name)
    parsed = tool.spec.parse(args)
    keys(tools, name, **args)
    if tool.is_async:
        return anyio.run(lambda: tool.call(parsed, None))
    return tool.call(parsed, None)


def keys(tools, name, **args):
    spec = tools.find(name)
    parsed = spec.parse(args)
    return tuple(
        tuple(declared(parsed)) if callable(declared) else declared
        for declared in (spec.reads, spec.writes)
    )


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def text(tools, name, **args):
    return outcome_of(call(tools, name, **args)).text


def test_the_tools_and_their_verdicts(tools):
    assert {tool.spec.name: tool.spec.safe for tool in tools} == {
        "read_file": True,
        "list_files": True,
        "glob": True,
        "grep": True,
        "write_file": True,
        "edit_file": True,
        "delete_file": True,
        "run_command": False,
    }


def test_a_read_only_workspace_has_no_tool_that_changes_something(root):
    assert workspace(root, read_only=True).names() == ("glob", "grep", "list_files", "read_file")
    assert "run_command" not in workspace(root, commands=False)


def test_what_starts_a_process_may_take_a_scarce_resource(root):
    tools = workspace(root, uses={"subprocess": 1})
    users = [tool.spec.name for tool in tools if tool.spec.uses == {"subprocess": 1}]
    assert users == ["grep", "run_command"]


def test_a_root_that_is_no_folder_is_refused(root):
    (root / "f").write_text("")
    for bad in (root / "f", root / "missing", "\0"):
        with pytest.raises(UsageError, match="is no folder"):
            workspace(bad)


# ---- reading ----


@pytest.mark.parametrize(
    "written", [b"", b"a\r\nb\rc\n", b"\xef\xbb\xbfbom", "ü😀\u2028x".encode()]
)
def test_text_is_read_exactly(tools, root, written):
    (root / "f").write_bytes(written)
    assert call(tools, "read_file", path="f").encode() == written


def test_some_lines_are_read(tools, root):
    (root / "f").write_bytes(b"1\r\n2\n3\n4")
    assert call(tools, "read_file", path="f", offset=2, limit=2) == "2\n3\n"
    assert call(tools, "read_file", path="f", limit=1) == "1\r\n"
    assert call(tools, "read_file", path="f", offset=4) == "4"
    assert call(tools, "read_file", path="f", offset=9) == ""


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("missing", "missing is not there"),
        ("folder", "folder is a folder"),
        ("binary", "binary is no UTF-8 text (byte 1 is 0xff)"),
        ("f/below", "leads through something that is no folder"),
        ("x" * 300, "is too long a name"),
        (".", ". is a folder"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_sentence(tools, root, path, words):
    (root / "folder").mkdir()
    (root / "f").write_text("")
    (root / "binary").write_bytes(b"a\xff")
    with pytest.raises(ToolFailure) as told:
        call(tools, "read_file", path=path)
    assert words in str(told.value)
    assert "\n" not in str(told.value)


def test_offset_and_limit_start_at_one(tools, root):
    (root / "f").write_text("")
    with pytest.raises(ToolFailure, match="offset is 0"):
        call(tools, "read_file", path="f", offset=0)


def test_a_file_too_large_is_refused_and_some_lines_of_it_are_read(tools, root):
    with (root / "big").open("wb") as file:
        file.write(b"first\n")
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(ToolFailure, match="more than"):
        call(tools, "read_file", path="big")
    assert call(tools, "read_file", path="big", limit=1) == "first\n"
    with pytest.raises(ToolFailure, match="smaller limit"):
        call(tools, "read_file", path="big", limit=2)


@posix
def test_a_pipe_is_refused_without_waiting_for_its_other_end(tools, root):
    os.mkfifo(root / "pipe")
    with pytest.raises(ToolFailure, match="no regular file"):
        call(tools, "read_file", path="pipe")
    with pytest.raises(ToolFailure, match="no regular file"):
        call(tools, "write_file", path="pipe", text="x")
    assert text(tools, "grep", pattern="x") == "(no match)"


# ---- writing ----


def test_a_file_is_written_with_its_folders(tools, root):
    assert text(tools, "write_file", path="a/b/c.txt", text="x\r\n") == (
        "Created a/b/c.txt (3 characters)."
    )
    assert (root / "a/b/c.txt").read_bytes() == b"x\r\n"
    assert text(tools, "write_file", path="a/b/c.txt", text="") == "Wrote a/b/c.txt (0 characters)."
    assert names(root / "a/b") == ["c.txt"]


@posix
def test_a_written_file_keeps_its_mode_and_a_new_one_has_the_usual(tools, root):
    (root / "run.sh").write_text("old")
    (root / "run.sh").chmod(0o751)
    call(tools, "write_file", path="run.sh", text="new")
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) == 0o751
    call(tools, "write_file", path="new", text="new")
    (root / "usual").write_text("x")
    assert (root / "new").stat().st_mode == (root / "usual").stat().st_mode


@posix
def test_a_read_only_file_is_not_replaced(tools, root):
    (root / "f").write_text("old")
    (root / "f").chmod(0o444)
    with pytest.raises(ToolFailure, match="f is read-only"):
        call(tools, "write_file", path="f", text="new")
    assert (root / "f").read_text() == "old"


@posix
def test_writing_through_a_link_changes_its_target_and_keeps_the_link(tools, root):
    (root / "real").write_text("old")
    (root / "link").symlink_to("real")
    call(tools, "write_file", path="link", text="new")
    assert (root / "real").read_text() == "new"
    assert (root / "link").is_symlink()


@posix
def test_readers_of_the_old_file_keep_the_old_text_whole(tools, root):
    (root / "f").write_text("old" * 1000)
    with (root / "f").open() as reader:
        assert reader.read(3) == "old"
        call(tools, "write_file", path="f", text="n")
        assert reader.read() == "old" * 999


@pytest.mark.parametrize("name", ["write_file", "edit_file"])
def test_text_with_a_lone_surrogate_is_refused_and_nothing_changes(tools, root, name):
    (root / "f").write_text("old")
    args = {"text": "\ud800"} if name == "write_file" else {"old": "old", "new": "\ud800"}
    with pytest.raises(ToolFailure, match="lone surrogate at character 0"):
        call(tools, name, path="f", **args)
    assert (root / "f").read_text() == "old"


def test_a_folder_is_not_written_over(tools, root):
    (root / "d").mkdir()
    with pytest.raises(ToolFailure, match="d is a folder"):
        call(tools, "write_file", path="d", text="x")
    assert names(root) == ["d"]


# ---- editing and deleting ----


def test_an_edit_replaces_the_one_place(tools, root):
    (root / "f").write_bytes(b"a\r\nb\r\nc")
    assert text(tools, "edit_file", path="f", old="b\r\n", new="B\n") == "Replaced 1 place in f."
    assert (root / "f").read_bytes() == b"a\r\nB\nc"


@pytest.mark.parametrize(
    ("content", "old", "new", "words"),
    [
        (b"abc", "x", "y", "old is not in f"),
        (b"abab", "ab", "y", "more than once"),
        (b"aaa", "aa", "y", "more than once"),
        (b"abc", "", "y", "old is empty"),
        (b"abc", "a", "a", "equal to new"),
        (b"a\r\nb", "a\nb", "y", "Its lines end in CR LF"),
        (b"a\xff", "a", "b", "no UTF-8"),
    ],
)
def test_an_edit_that_does_not_fit_changes_nothing(tools, root, content, old, new, words):
    (root / "f").write_bytes(content)
    with pytest.raises(ToolFailure, match=words):
        call(tools, "edit_file", path="f", old=old, new=new)
    assert (root / "f").read_bytes() == content


def test_all_places_are_replaced_when_asked(tools, root):
    (root / "f").write_text("a-a-a")
    edited = text(tools, "edit_file", path="f", old="a", new="aa", replace_all=True)
    assert edited == "Replaced 3 places in f."
    assert (root / "f").read_text() == "aa-aa-aa"


def test_a_file_is_deleted_and_a_folder_is_not(tools, root):
    (root / "d").mkdir()
    (root / "d" / "f").write_text("")
    assert text(tools, "delete_file", path="d/f") == "Deleted d/f."
    for path, words in (("d", "d is a folder"), ("d/f", "d/f is not there"), (".", "is a folder")):
        with pytest.raises(ToolFailure, match=words):
            call(tools, "delete_file", path=path)
    assert names(root) == ["d"]


@posix
def test_deleting_a_link_leaves_its_target(tools, root):
    (root / "real").write_text("x")
    (root / "link").symlink_to("real")
    (root / "dangling").symlink_to("nowhere")
    call(tools, "delete_file", path="link")
    call(tools, "delete_file", path="dangling")
    assert names(root) == ["real"]


# ---- keys ----


@posix
def test_every_spelling_of_a_file_gives_the_same_key(tools, root):
    (root / "d").mkdir()
    (root / "d" / "f").write_text("x")
    (root / "link").symlink_to("d")
    (root / "direct").symlink_to("d/f")
    spellings = ["d/f", "./d//f", "d/../d/f", str(root / "d" / "f"), "link/f", "direct"]
    assert len({keys(tools, "edit_file", path=p, old="a", new="b") for p in spellings}) == 1
    assert len({keys(tools, "read_file", path=p) for p in spellings}) == 1


def test_a_file_keeps_its_key_when_it_is_made(tools):
    before = keys(tools, "write_file", path="new/f", text="")
    call(tools, "write_file", path="new/f", text="")
    assert keys(tools, "write_file", path="new/f", text="") == before


def test_a_search_meets_every_change_below_its_folder_and_no_other(tools, root):
    (root / "a").mkdir()
    (tree,) = keys(tools, "grep", pattern="x", path="a")[0]
    for path, meets in (("a/new/f", True), ("a", True), ("ab/f", False), ("f", False)):
        (write,) = keys(tools, "write_file", path=path, text="")[1]
        assert keys_meet(tree, write) is meets, path
    for name in ("glob", "list_files"):
        args = {"pattern": "*"} if name == "glob" else {}
        assert keys(tools, name, path="a", **args) == ((tree,), ())


@posix
def test_deleting_a_link_writes_the_link_and_what_it_leads_to(tools, root):
    (root / "real").write_text("x")
    (root / "link").symlink_to("real")
    (real,) = keys(tools, "read_file", path="real")[0]
    deleted = keys(tools, "delete_file", path="link")[1]
    assert real in deleted
    assert len(deleted) == 2


def test_a_command_declares_no_keys(tools):
    assert keys(tools, "run_command", command="x") == (None, None)


def test_parsed_paths_are_real_paths_so_that_a_policy_makes_the_same_keys(tools, root):
    parsed = tools.find("read_file").parse({"path": "d/../f"})
    assert parsed["path"] == str(root.resolve() / "f")


# ---- confinement ----


@posix
@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret.txt",
        "d/../../outside/secret.txt",
        "missing/../../outside/secret.txt",
        "out/secret.txt",
        "file",
        "up/outside/secret.txt",
        "/etc/passwd",
        "../root-twin/f",
    ],
)
def test_paths_that_lead_outside_are_refused_by_every_tool(tools, root, path):
    (root / "d").mkdir()
    (root / "out").symlink_to("../outside")
    (root / "file").symlink_to("../outside/secret.txt")
    (root / "up").symlink_to("..")
    (root.parent / "root-twin").mkdir()
    more = {
        "write_file": {"text": "x"},
        "edit_file": {"old": "secret", "new": "x"},
        "glob": {"pattern": "*"},
        "grep": {"pattern": "secret"},
    }
    for tool in tools:
        name = tool.spec.name
        args = {"path": path, **more.get(name, {})}
        if name == "run_command":
            args = {"command": "pwd", "cwd": path}
        with pytest.raises(ValueError, match=r"^path .* lies outside the workspace"):
            tool.spec.parse(args)
        with pytest.raises(ToolFailure, match="lies outside the workspace"):
            call(workspace_without_parse(tools), name, **args)
    assert (root.parent / "outside" / "secret.txt").read_text() == "secret"


def workspace_without_parse(tools):
    """The bodies by themselves must be confined too."""
    bare = type(tools)()
    for tool in tools:
        bare.add(replace(tool, spec=replace(tool.spec, parse=dict, reads=None, writes=None)))
    return bare


@posix
def test_a_link_to_itself_is_told(tools, root):
    (root / "loop").symlink_to("loop")
    with pytest.raises(ValueError, match="run in a circle"):
        tools.find("read_file").parse({"path": "loop"})
    for path, words in (("loop", "circle"), ("loop/below", "no folder")):
        with pytest.raises(ToolFailure, match=words):
            tools.get("read_file").body(path=path)
    assert call(tools, "delete_file", path="loop") == "Deleted loop."


@pytest.mark.parametrize("path", ["", "a\0b", "\ud800"])
def test_paths_that_are_no_paths_are_refused(tools, path):
    with pytest.raises(ValueError, match="path"):
        tools.find("read_file").parse({"path": path})
    with pytest.raises(ToolFailure, match="not usable"):
        tools.get("read_file").body(path=path)


@posix
def test_a_link_put_there_after_planning_is_refused(tools, root):
    (root / "d").mkdir()
    (root / "d" / "secret.txt").write_text("mine")
    tool = tools.get("write_file")
    parsed = tool.spec.parse({"path": "d/secret.txt", "text": "overwritten"})
    (root / "d").rename(root / "old")
    (root / "d").symlink_to("../outside")
    with pytest.raises(ToolFailure, match="outside"):
        tool.call(parsed, None)
    (root / "d").unlink()
    (root / "d").symlink_to("old")
    with pytest.raises(ToolFailure, match="leads elsewhere than when the call was planned"):
        tool.call(parsed, None)
    assert (root.parent / "outside" / "secret.txt").read_text() == "secret"
    assert (root / "old" / "secret.txt").read_text() == "mine"


@posix
def test_searches_never_go_through_links(tools, root):
    (root / "out").symlink_to("../outside")
    (root / "file").symlink_to("../outside/secret.txt")
    assert text(tools, "grep", pattern="secret") == "(no match)"
    assert text(tools, "glob", pattern="**/*") == "file\nout"
    assert text(tools, "list_files") == "file\nout"


# ---- narrower views ----


@pytest.fixture
def view(tools, root):
    (root / "sub").mkdir()
    (root / "sub" / "f").write_text("inner")
    (root / "other").mkdir()
    (root / "other" / "f").write_text("other")
    return tools.restrict(root="sub")


def test_a_view_sees_its_folder_as_the_root(view, root):
    assert call(view, "read_file", path="f") == "inner"
    assert call(view, "read_file", path=str(root / "sub" / "f")) == "inner"
    assert text(view, "list_files") == "f"
    assert text(view, "grep", pattern="inner") == "f:1:inner"
    assert text(view, "glob", pattern="*") == "f"
    assert text(view, "write_file", path="new", text="x") == "Created new (1 character)."
    assert (root / "sub" / "new").read_text() == "x"


def test_a_view_does_not_reach_the_rest_of_the_workspace(view, root):
    if os.name == "posix":
        (root / "sub" / "link").symlink_to("../other")
    for path in ("../other/f", str(root / "other" / "f"), "link/f", ".."):
        if path == "link/f" and os.name != "posix":
            continue
        with pytest.raises(ValueError, match="outside"):
            view.find("read_file").parse({"path": path})
        with pytest.raises(ToolFailure, match="outside"):
            view.get("read_file").body(path=path)


def test_a_view_makes_the_keys_of_the_workspace(view, tools):
    for name, args in (
        ("read_file", {}),
        ("write_file", {"text": ""}),
        ("edit_file", {"old": "a", "new": "b"}),
        ("delete_file", {}),
    ):
        assert keys(view, name, path="f", **args) == keys(tools, name, path="sub/f", **args)
    assert keys(view, "grep", pattern="x") == keys(tools, "grep", pattern="x", path="sub")


def test_a_view_keeps_what_was_declared_and_put_around_the_tool(tools, root):
    (root / "sub").mkdir()
    (root / "sub" / "f").write_text("inner")
    original = tools.get("read_file")
    seen = []

    def wrapped(**args):
        seen.append(args["path"])
        return original.body(**args) + "!"

    spec = replace(original.spec, safe=lambda args: args["path"].endswith("f"), timeout=3.0)
    tools.add(replace(original, spec=spec, body=wrapped), replace=True)
    view = tools.restrict(root="sub")
    assert call(view, "read_file", path="f") == "inner!"
    assert seen == [str(root.resolve() / "sub" / "f")]
    spec = view.find("read_file")
    assert spec.safe(spec.parse({"path": "f"})) is True
    assert spec.timeout == 3.0
    assert spec.uses == original.spec.uses


def test_views_of_views_get_narrower(view, root):
    (root / "sub" / "deep").mkdir()
    (root / "sub" / "deep" / "f").write_text("deepest")
    for deep in (view.restrict(root="deep"), view.restrict(root=root / "sub" / "deep")):
        assert call(deep, "read_file", path="f") == "deepest"
        with pytest.raises(ValueError, match="outside"):
            deep.find("read_file").parse({"path": "../f"})


@pytest.mark.parametrize("wider", ["..", ".", "../other", "missing"])
def test_a_view_is_never_wider(view, wider):
    if wider == ".":
        assert view.restrict(root=".").names() == view.names()
        return
    with pytest.raises(UsageError, match=r"outside|no folder"):
        view.restrict(root=wider)


def test_a_tool_that_took_the_place_of_a_bound_one_is_confined_in_a_view(tools, root):
    (root / "sub").mkdir()
    (root / "f").write_text("x")

    @tools.tool(replace=True)
    def read_file(path: str) -> str:
        return f"reads {path}"

    view = tools.restrict(root="sub")
    with pytest.raises(ValueError, match="outside"):
        view.find("read_file").parse({"path": "../f"})


def test_commands_of_a_view_start_in_its_folder(view, root):
    assert text(view, "run_command", command=["pwd", "-P"]).strip() == os.path.realpath(
        root / "sub"
    )
