"""Gives a suggested text the form of its document: line ends, indentation, nothing blank at its end.

The indentation of a block inside another one is that of the outer block, by the engine. Here it is that of
the file, if the cursor is in no block.
"""

from __future__ import annotations

import re

from fimlsp.quotient.states.protocol import State

_LINE_END = re.compile(rb"\r\n?|\n")
_HEADER = rb"[:{][ \t]*\r?\n"
_FIRST_BLOCK = re.compile(rb"^[^\s#].*" + _HEADER + rb"([ \t]+)\S", re.M)
_BLOCK = re.compile(rb"[^\s].*" + _HEADER + rb"([ \t]+)")
_INDENTATION = re.compile(rb"^[ \t]+", re.M)
_NEAR = 20_000
"""Bytes on either side of the cursor in which a block shows the indentation of the file."""

_BLANK_REST = re.compile(rb"[ \t]*(?:[\r\n]|\Z)")


def line_end_of(left: bytes, right: bytes) -> bytes:
    """The line end of the document: that of the line above, else the first one below the cursor."""
    at = left.rfind(b"\n")
    side, at = (left, at) if at >= 0 else (right, right.find(b"\n"))
    return b"\r\n" if at > 0 and side[at - 1 : at] == b"\r" else b"\n"


def with_indentation(left: bytes, text: bytes, right: bytes) -> bytes:
    """*text* with the indentation of the file's blocks, if it has a block and the cursor is in none."""
    head = left[left.rfind(b"\n") + 1 :]
    block = _BLOCK.match(head + text)
    known = _FIRST_BLOCK.search(left[-_NEAR:]) or _FIRST_BLOCK.search(right[:_NEAR])
    if block is None or known is None or block[1] == known[1]:
        return text

    def indented(match: re.Match[bytes]) -> bytes:
        steps, rest = divmod(len(match[0]), len(block[1]))
        return match[0] if rest or match[0].strip(block[1][:1]) else known[1] * steps

    return _INDENTATION.sub(indented, text)


def in_document_form(left: bytes, text: bytes, right: bytes, start: State) -> bytes:
    """*text* with line ends and indentation of the document, and without white space at the end of a line.

    Unchanged where the constraint *start* refuses that.
    """
    formed = with_indentation(left, _LINE_END.sub(b"\n", text), right)
    formed = formed.replace(b"\n", line_end_of(left, right))
    if _BLANK_REST.match(right):
        formed = formed.rstrip() or formed
    if formed == text:
        return text
    state = start.feed(formed)
    return formed if state is not None and state.complete else text
