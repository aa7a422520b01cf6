"""Recognises long lines that only give a table or the like to a name: the compiler refuses nothing in them.

To read one as other lines are read takes a millisecond a kilobyte, at each question about a text within it.
"""

from __future__ import annotations

import re

_LONG = 1_000
_HEAD = re.compile(rb"[ \t]*[A-Za-z_][\w.]*[ \t]*=[ \t]*(?:[A-Za-z_][\w.]*)?(?=[(\[{])")
_SIGNS = rb"[\w \t\f,.:+*/%&|^~<>@-]*"
_SIGNS_INSIDE = rb"[\w \t\f\r\n,.:+*/%&|^~<>@-]*"
_UNFORMATTED = rb"(?<![fFtT])(?<![fFtT][rR])"  # the fields of the others are expressions
_ON_ONE_LINE = rb"'(?!'')[^\\'\r\n]*(?:\\.[^\\'\r\n]*)*'|\"(?!\"\")[^\\\"\r\n]*(?:\\.[^\\\"\r\n]*)*\""
_ON_SEVERAL = rb"'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\""
_FLAT = rb"%s(?:%s(?:%s)%s)*" % (_SIGNS_INSIDE, _UNFORMATTED, _ON_ONE_LINE, _SIGNS_INSIDE)
_ROW = rb"\(%s\)|\[%s\]|\{%s\}" % (_FLAT, _FLAT, _FLAT)
_PLAIN = re.compile(_SIGNS)
_PLAIN_INSIDE = re.compile(rb"%s(?:(?:%s|#[^\r\n]*)%s)*" % (_FLAT, _ROW, _FLAT), re.DOTALL)
_COMMENT_OR_STRING = re.compile(
    rb"#[^\r\n]*|%s(?:%s|%s)" % (_UNFORMATTED, _ON_SEVERAL, _ON_ONE_LINE), re.DOTALL
)
_WORDS = re.compile(rb"(?<![A-Za-z_])(?:lambda|for|yield|await|async|__debug__)\b")
_BRACKETS = {b"(": 1, b"[": 1, b"{": 1, b")": -1, b"]": -1, b"}": -1}
_LINE_ENDS = (b"\r", b"\n")


def end_of_data(data: bytes, start: int) -> int | None:
    """Where the logical line at *start* ends if it only gives data to a name, and is long; else None.

    *data* is a valid file, so only brackets and strings have to be followed. What may be refused, such as an
    argument with a name or an f-string, makes it an ordinary line. O(length), some 30 ms a megabyte.
    """
    head = _HEAD.match(data, start)
    if head is None or _has_word(data, start, head.end()):
        return None
    position, depth = head.end(), 0
    while True:
        plain = (_PLAIN_INSIDE if depth else _PLAIN).match(data, position)
        assert plain is not None
        if _has_word(data, position, plain.end()):
            return None
        position = plain.end()
        sign = data[position : position + 1]
        if sign in _LINE_ENDS:
            end = position + 1 + data.startswith(b"\r\n", position)
            return end if end - start > _LONG else None
        if sign in _BRACKETS:
            depth += _BRACKETS[sign]
            position += 1
        else:
            other = _COMMENT_OR_STRING.match(data, position)
            if other is None:
                return None
            position = other.end()


def _has_word(data: bytes, start: int, end: int) -> bool:
    """Whether one of `_WORDS` stands there, outside strings and comments."""
    if _WORDS.search(data, start, end) is None:
        return False
    return _WORDS.search(_COMMENT_OR_STRING.sub(b" ", data[start:end])) is not None
