"""Gives a suggested text the form of its document: its line ends, and no white space at the end of a line."""

from __future__ import annotations

import re

from fimlsp.quotient.states.protocol import State

_LINE_END = re.compile(rb"\r\n?|\n")
_BLANK_REST = re.compile(rb"[ \t]*(?:[\r\n]|\Z)")


def line_end_of(left: bytes, right: bytes) -> bytes:
    """The line end of the document: that of the line above, else the first one below the cursor."""
    at = left.rfind(b"\n")
    side, at = (left, at) if at >= 0 else (right, right.find(b"\n"))
    return b"\r\n" if at > 0 and side[at - 1 : at] == b"\r" else b"\n"


def in_document_form(left: bytes, text: bytes, right: bytes, start: State) -> bytes:
    """*text* with the line ends of the document, and without white space before the end of the line.

    Unchanged where the constraint *start* refuses that.
    """
    formed = _LINE_END.sub(line_end_of(left, right), text)
    if _BLANK_REST.match(right):
        formed = formed.rstrip() or formed
    if formed == text:
        return text
    state = start.feed(formed)
    return formed if state is not None and state.complete else text
