"""Gives a suggested text the form of its document: line ends, indentation, nothing blank at its end.

Small models know few indentations: in a file of tabs they write blocks far too deep. The engine takes any.
"""

from __future__ import annotations

import re

from fimlsp.quotient.states.protocol import State

_LINE_END = re.compile(rb"\r\n?|\n")
_HEADER = rb"[:{][ \t]*\r?\n"
_FIRST_BLOCK = re.compile(rb"^[^\s#].*" + _HEADER + rb"([ \t]+)\S", re.M)
_HEADER_END = re.compile(rb"[:{][ \t]*\Z")
_NEAR = 20_000
"""Bytes on either side of the cursor in which a block shows the indentation of the file."""

_BLANK_REST = re.compile(rb"[ \t]*(?:[\r\n]|\Z)")


def line_end_of(left: bytes, right: bytes) -> bytes:
    """The line end of the document: that of the line above, else the first one below the cursor."""
    at = left.rfind(b"\n")
    side, at = (left, at) if at >= 0 else (right, right.find(b"\n"))
    return b"\r\n" if at > 0 and side[at - 1 : at] == b"\r" else b"\n"


def with_indentation(left: bytes, text: bytes, right: bytes) -> bytes:
    """*text* with the indentation of the file's blocks in each block that it opens.

    Unchanged if the file shows no indentation. Lines that continue others keep their distance from these.
    """
    known = _FIRST_BLOCK.search(left[-_NEAR:]) or _FIRST_BLOCK.search(right[:_NEAR])
    if known is None or b"\n" not in text:
        return text
    first, *lines = text.split(b"\n")
    previous = left[left.rfind(b"\n") + 1 :] + first
    own = previous[: len(previous) - len(previous.lstrip())]
    blocks, formed = [(own, own)], [first]
    for line in lines:
        code = line.lstrip(b" \t")
        if code:
            margin = line[: len(line) - len(code)]
            written, wanted = blocks[-1]
            if _HEADER_END.search(previous) and margin.startswith(written) and margin != written:
                blocks.append((margin, wanted + known[1]))
            while len(blocks) > 1 and not margin.startswith(blocks[-1][0]):
                blocks.pop()
            written, wanted = blocks[-1]
            if margin.startswith(written):
                line = wanted + line[len(written) :]
            previous = line
        formed.append(line)
    return b"\n".join(formed)


def in_document_form(left: bytes, text: bytes, right: bytes, start: State, body: bytes = b"") -> bytes:
    """*text* with line ends and indentation of the document, and without white space at the end of a line.

    Unchanged where the constraint *start* refuses that, followed by *body*.
    """
    formed = with_indentation(left, _LINE_END.sub(b"\n", text), right)
    formed = formed.replace(b"\n", line_end_of(left, right))
    if _BLANK_REST.match(right):
        formed = formed.rstrip() or formed
    if formed == text:
        return text
    state = start.feed(formed + body)
    return formed if state is not None and state.complete else text
