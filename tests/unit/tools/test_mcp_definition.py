"""How servers are named and reached, and what their last words look like."""

from __future__ import annotations

import pytest

from toolflow.errors import UsageError
from toolflow.tools.mcp import HttpServer, McpServers, StdioServer
from toolflow.tools.mcp.life import LOST, Life, clean_line


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: StdioServer(command=""), "command is ''. Use the name of a program."),
        (lambda: StdioServer(command="x", args="y"), "args is 'y'. Use a list of texts."),
        (lambda: StdioServer(command="x", args=[1]), "args is [1]. Use a list of texts."),
        (lambda: StdioServer(command="x", env={"A": 1}), "env holds 'A': 1. Use texts by name."),
        (
            lambda: StdioServer(command="x", start_timeout=float("nan")),
            "start_timeout is nan. Use a number of seconds of at least 0.",
        ),
        (
            lambda: StdioServer(command="x", grace=-1),
            "grace is -1. Use a number of seconds of at least 0.",
        ),
        (
            lambda: StdioServer(command="x", protocol="new"),
            "protocol is 'new'. Use 'auto' or 'initialize'.",
        ),
        (
            lambda: HttpServer(url="ftp://x"),
            "url is 'ftp://x'. Use an address that begins with https:// or http://.",
        ),
        (
            lambda: HttpServer(url="https://x", headers={"": "x"}),
            "headers holds '': 'x'. Use texts by name.",
        ),
        (
            lambda: McpServers({"a b": StdioServer(command="x")}),
            (
                "the name of a server is 'a b'. Use at most 64 letters, digits, '_', '-' and '.', "
                "with a letter or a digit first."
            ),
        ),
        (
            lambda: McpServers({"a": "npx"}),
            "server 'a' is 'npx'. Use a StdioServer or HttpServer.",
        ),
    ],
)
def test_what_is_not_allowed_is_told(make, said):
    with pytest.raises(UsageError) as caught:
        make()
    assert str(caught.value) == said


def test_the_last_lines_of_stderr_are_kept_and_few_are_told():
    life = Life()
    for number in range(100):
        life.take_errors(f"line {number}\nrest".encode())
    assert len(life.errors) == 21
    assert life.last_words == " It wrote last: restline 98 | restline 99 | rest"


def test_a_flood_without_line_ends_is_kept_in_part():
    life = Life()
    for _ in range(100):
        life.take_errors(b"x" * 65_536)
    assert len("".join(life.errors)) <= 500


def test_what_a_server_writes_is_harmless_on_a_terminal():
    assert clean_line(b"\x1b[31mred\x1b[0m \x1b]0;title\x07\x07\xff\r") == "red  \ufffd"
    assert clean_line(b"x" * 1000) == "x" * 497 + "..."


def test_an_odd_line_is_told_where_stderr_says_nothing():
    life = Life()
    life.take_odd(b"Usage: x")
    assert (life.odd, life.last_words) == (1, " It wrote, which is no message: Usage: x")


def test_the_first_reason_counts():
    life = Life()
    life.going("it ended with exit code 1")
    life.end("it was closed")
    assert life.explain("later") == "it ended with exit code 1"
    assert life.why == "it ended with exit code 1"
    assert life.gone.is_set()


def test_why_a_connection_was_lost_is_told_when_it_is_known():
    life = Life()
    life.end(LOST)
    assert life.explain("no route") == "no route"
    assert life.why == "its connection was lost (no route)"
