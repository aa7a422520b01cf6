"""Decides quickly, by words alone, where the finer grammar of expressions is needed, and which one.

It is needed where code waits or yields within an expression. There are three: for files with annotations that
are evaluated, with those that are not, and for files of which that is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_IDLE = rb"(?:[ \t\f\r\n;]|#[^\r\n]*(?=[\r\n]))*"
_STRING = (
    rb"[rRuU]?(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\""
    rb"|'(?:[^'\\\r\n]|\\.)+'|\"(?:[^\"\\\r\n]|\\.)+\")"
)
_END = rb"[ \t\f]*(?=[\r\n;#])"
_BEFORE_IMPORTS = re.compile(rb"(?:\xef\xbb\xbf)?%s(?:%s%s%s)?" % (_IDLE, _STRING, _END, _IDLE), re.DOTALL)
_FUTURE_IMPORT = re.compile(
    rb"from[ \t]+__future__[ \t]+import\b([\w, \t\f]*|[ \t]*\([\w,\s]*\)[ \t\f]*)(?=[\r\n;#])%s" % _IDLE
)
_MAY_BECOME_IMPORT = re.compile(rb"(?:f|fr|fro|from|from[\s\\]+\w*)\Z|from[\s\\]+__future__\b")
_MAY_BE_DOCSTRING = re.compile(rb"[(\s]*(?:[rRuU]?(?:['\"]|\Z)|[\\#])|\xef\xbb?\Z")


def are_evaluated(beginning: bytes) -> bool | None:
    """True if annotations are evaluated in files with this *beginning*; False if it imports the feature.

    None if later text may decide it, or if it is unclear.
    """
    before = _BEFORE_IMPORTS.match(beginning)
    assert before is not None
    offset = before.end()
    while (statement := _FUTURE_IMPORT.match(beginning, offset)) is not None:
        names = re.findall(rb"\w+", statement[1])
        if b"as" in names:
            return None
        if b"annotations" in names:
            return False
        offset = statement.end()
    is_open = _MAY_BECOME_IMPORT.match(beginning, offset) or _MAY_BE_DOCSTRING.match(beginning, offset)
    return None if is_open else True


_WORDS = (b"await", b"yield", b"async")
_ASYNCHRONOUS = re.compile(rb"async\s+(?:for\b|(?:fo?)?\Z)")
_STATEMENT = re.compile(rb"(?:^|[\r\n;])[ \t\f]*\Z")
_NEXT_STATEMENT = re.compile(rb"^[^\s#)\]}][^\r\n]*", re.MULTILINE)
_FUNCTION = re.compile(rb"^([ \t]*)(?:async[ \t]+)?def\b", re.MULTILINE)
_BEFORE_WORD = 60
"""Bytes before a word in which the start of its statement is searched."""


def any_within(text: bytes) -> bool:
    """True if some code in *text* may wait or yield within an expression."""
    return _has_word(text) and any(True for _ in _offsets(text, len(text)))


def any_exposed(right: bytes) -> bool:
    """True if code in *right* may wait or yield within an expression, and text before it decides about that.

    Text before it does not if the code is in a function of *right*, or after a line outside all blocks.
    """
    if not _has_word(right):
        return False
    following = _NEXT_STATEMENT.search(right, right.find(b"\n") + 1)
    return any(
        not _is_in_function(right, offset)
        for offset in _offsets(right, following.end() if following else len(right))
    )


def _has_word(text: bytes) -> bool:
    return b"await" in text or b"yield" in text or b"async" in text


def _offsets(text: bytes, end: int) -> Iterator[int]:
    """The offsets before *end* at which code may wait or yield within an expression."""
    for word in _WORDS:
        offset = text.find(word, 0, end)
        while offset >= 0:
            if word == b"await" or _is_in_expression(text, offset, word):
                yield offset
            offset = text.find(word, offset + 1, end)


def _is_in_expression(text: bytes, offset: int, word: bytes) -> bool:
    if word == b"async":
        return _ASYNCHRONOUS.match(text, offset) is not None
    return _STATEMENT.search(text, max(0, offset - _BEFORE_WORD), offset) is None


def _is_in_function(text: bytes, offset: int) -> bool:
    """True if *offset* is in the body of the nearest function above it."""
    above = text.rfind(b"def", 0, offset)
    if above < 0:
        return False
    start = max(text.rfind(b"\n", 0, above), text.rfind(b"\r", 0, above)) + 1
    header = _FUNCTION.match(text, start)
    if header is None or start == 0:
        return False
    lines = text[start:offset].splitlines()[1:]
    return bool(lines) and all(_is_deeper(line, len(header[1])) for line in lines)


def _is_deeper(line: bytes, column: int) -> bool:
    """True if *line* is blank, or its code starts after *column*, or it goes on within brackets."""
    code = line.lstrip(b" \t\f")
    return not code or code[:1] in b"#)]}" or len(line) - len(code) > column
