from __future__ import annotations

import base64
import gzip
import json
import zlib

import pytest

from toolflow.formats.session.bodies import MAX_UNPACKED, UNREAD, body_of

VALUE = {"a": "é"}
TEXT = json.dumps(VALUE, ensure_ascii=False)
EVENTS = 'event: x\ndata: {"n": 1}\n\ndata: {"n": 2}\n\ndata: [DONE]\n\n'


def packed(data: bytes) -> str:
    return base64.b64encode(data).decode()


@pytest.mark.parametrize(
    "side",
    [
        {"parsed_body": VALUE},
        {"body": TEXT},
        {"body": {"string": TEXT}},
        {"body": {"encoding": "utf-8", "string": TEXT}},
        {"body": {"base64_string": packed(TEXT.encode())}},
        {"body": {"base64_string": packed(gzip.compress(TEXT.encode(), mtime=0))}},
        {"body": {"string": packed(TEXT.encode())}},
        {"body": {"string": packed(gzip.compress(TEXT.encode(), mtime=0))}},
        {"body": {"string": gzip.compress(TEXT.encode(), mtime=0).decode("latin-1")}},
        {"body": {"string": zlib.compress(TEXT.encode()).decode("latin-1")}},
        {"content": TEXT},
        {"body": VALUE},
    ],
    ids=lambda side: str(side)[:40],
)
def test_a_body_is_read_in_every_shape(side):
    assert body_of(side) == VALUE


def test_a_stream_is_the_list_of_its_chunks():
    chunks = [{"n": 1}, {"n": 2}]
    assert body_of({"body": {"string": EVENTS}}) == chunks
    assert body_of({"body": packed(gzip.compress(EVENTS.encode(), mtime=0))}) == chunks
    assert body_of({"body": '{"n": 1}\n{"n": 2}\n'}) == chunks


@pytest.mark.parametrize(
    "body",
    [None, "", "<html>", "{", '{"a": 1}\n{', {"string": None}, {"base64_string": "?"}, "\ud800"],
)
def test_what_cannot_be_read_is_no_body(body):
    assert body_of({"body": body}) is UNREAD


def test_a_torn_or_a_huge_packed_body_is_no_body():
    whole = gzip.compress(TEXT.encode(), mtime=0)
    assert body_of({"body": {"base64_string": packed(whole[:-9])}}) is UNREAD
    bomb = gzip.compress(b" " * (MAX_UNPACKED + 1), mtime=0)
    assert body_of({"body": {"base64_string": packed(bomb)}}) is UNREAD
