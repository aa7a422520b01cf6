"""Messages between the two processes: as they were sent, one after the other, and none where one is cut."""

from __future__ import annotations

import io
import pickle

import pytest

from fimlsp.languages.python import Python
from fimlsp.lsp_server.messages import (
    Answer,
    Cancel,
    Completion,
    DocumentId,
    Edit,
    Open,
    Ready,
    read_report,
    read_request,
)
from fimlsp.quotient.contexts.replacement import Replacement

A = DocumentId(1, "a")
REQUESTS = [
    Open(A, 1, b"x = 1\n" * 20_000, Python()),
    Edit(A, 2, Replacement(4, 5, b"\xc3\xa9")),
    Cancel(7),
]
REPORTS = [Ready("bundled"), Answer(7, Completion(("a",), complete=True), 1.5)]


@pytest.mark.parametrize(("messages", "read"), [(REQUESTS, read_request), (REPORTS, read_report)])
def test_what_is_sent_is_what_comes(messages, read):
    stream = io.BufferedReader(io.BytesIO(b"".join(map(pickle.dumps, messages))), 16)
    assert list(iter(lambda: read(stream), None)) == messages


def test_a_message_that_is_cut_is_none():
    whole = pickle.dumps(REPORTS[1])
    assert [end for end in range(len(whole)) if read_report(io.BytesIO(whole[:end])) is not None] == []
