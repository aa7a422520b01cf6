"""The log on standard error: faults of this program keep their tracebacks."""

from __future__ import annotations

import sys

import pytest
from pygls.exceptions import JsonRpcInvalidParams

from fimlsp.lsp_server.protocol.serving import PlainFormatter
from fimlsp.lsp_server.text_positions import encode


def fail_in_this_program():
    encode(None)


def fail_in_a_library():
    int("first")


def refuse():
    raise JsonRpcInvalidParams.of("no such command")


CASES = [
    (fail_in_this_program, True, "encode"),
    (fail_in_a_library, False, "first"),
    (refuse, False, "no such command"),
]


@pytest.mark.parametrize(("fail", "has_traceback", "words"), CASES)
def test_tracebacks(fail, has_traceback, words):
    try:
        fail()
    except Exception:
        said = PlainFormatter().formatException(sys.exc_info())
    assert ("Traceback" in said, words in said) == (has_traceback, True)
