"""Lines of JSON, as servers write them, however they do."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_servers import needs_mcp

from toolflow.tools.mcp.wire import Lines, TooLong, read_line, refusal, write_line

pytestmark = needs_mcp


@given(st.binary(), st.lists(st.integers(0, 40)))
def test_lines_do_not_depend_on_how_they_come(data, cuts):
    whole = data.split(b"\n")[:-1]
    reader, found, rest = Lines(), [], data
    for cut in cuts:
        found += reader.feed(rest[:cut])
        rest = rest[cut:]
    found += reader.feed(rest)
    assert found == whole


def test_a_line_that_never_ends_is_refused():
    reader = Lines(10)
    assert list(reader.feed(b"0123456789\n01234")) == [b"0123456789"]
    with pytest.raises(TooLong):
        list(reader.feed(b"567890"))


@pytest.mark.parametrize(
    "line",
    [
        b"Listening on port 3",
        b"",
        b"{broken",
        b"[1, 2]",
        b"null",
        b"\xff\xfe",
        b"[" * 10_000,
        b'{"jsonrpc":"2.0","id":true,"result":{}}',
        b'{"jsonrpc":"2.0","result":{}}',
        b'{"jsonrpc":"2.0","id":1,"method":5}',
        b'{"result":{"id":7}',
        b'{"jsonrpc":"2.0","method":"x","id":1' + b"[" * 10_000,
    ],
)
def test_a_line_that_is_no_message_is_passed_over(line):
    assert read_line(line) is None


@pytest.mark.parametrize(
    "line",
    [
        b'{"id":7,"result":[]}',
        b'{"jsonrpc":"2.0","id":7,"result":"text"}',
        b'{"jsonrpc":"2.0","id":7,"error":"text"}',
        b'{"jsonrpc":"2.0","id":7,"result":' + b'{"a":' * 10_000,
        b'{"result":' + b'{"a":' * 9_999 + b"1" + b"}" * 9_999 + b', "jsonrpc": "2.0", "id": 7 }',
        b'{"jsonrpc": "2.0", "id": "7", "result": {broken',
    ],
)
def test_an_answer_that_cannot_be_read_answers_all_the_same(line):
    message = read_line(line).message
    assert str(message.id) == "7"
    assert message.error.message == "its answer cannot be read"


def test_an_id_inside_a_result_that_cannot_be_read_blames_no_other_call():
    assert read_line(b'{"jsonrpc":"2.0","result":{"id":7,broken}}') is None


def test_lone_surrogates_and_endless_numbers_are_made_harmless():
    line = b'{"jsonrpc":"2.0","id":1,"result":{"\\ud83d":"\\ud83d", "n":%s}}' % (b"9" * 5000)
    assert read_line(line).message.result == {"\ufffd": "\ufffd", "n": "9" * 5000}


def test_what_cannot_be_written_is_refused_by_its_id():
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCNotification, JSONRPCRequest

    bad = {"arguments": {"text": "\ud83d"}}
    request = SessionMessage(JSONRPCRequest(jsonrpc="2.0", id=4, method="tools/call", params=bad))
    with pytest.raises(ValueError, match="surrogates"):
        write_line(request)
    answer = refusal(request, "no")
    assert (answer.message.id, answer.message.error.message) == (4, "no")
    assert refusal(SessionMessage(JSONRPCNotification(jsonrpc="2.0", method="x")), "no") is None


def test_a_message_is_one_line():
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCRequest

    params = {"name": "a\nb", "none": None}
    request = JSONRPCRequest(jsonrpc="2.0", id=4, method="tools/call", params=params)
    line = write_line(SessionMessage(request))
    assert line.count(b"\n") == 1
    assert json.loads(line) == {"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": params}
