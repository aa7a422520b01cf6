"""Finds where a text waits or yields within expressions, judging by its words alone; quick."""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORDS = (b"await", b"yield", b"async")
_ASYNCHRONOUS = re.compile(rb"async\s+(?:for\b|(?:fo?)?\Z)")
_STATEMENT = re.compile(rb"(?:^|[\r\n;])[ \t\f]*\Z")
_NEXT_STATEMENT = re.compile(rb"^[^\s#)\]}][^\r\n]*", re.MULTILINE)
_FUNCTION = re.compile(rb"^([ \t]*)(?:async[ \t]+)?def\b", re.MULTILINE)
_LOOKED_AT = 60


def any_within(text: bytes) -> bool:
    """Whether something in *text* may wait or yield within an expression."""
    return _has_word(text) and any(True for _ in _places(text, len(text)))


def any_exposed(right: bytes) -> bool:
    """Whether what stands before the text *right* may decide about something that waits or yields in it.

    It may not if that is in a function that begins in *right*, or behind a line that belongs to no block.
    """
    if not _has_word(right):
        return False
    following = _NEXT_STATEMENT.search(right, right.find(b"\n") + 1)
    return any(
        not _is_in_function(right, at) for at in _places(right, following.end() if following else len(right))
    )


def _has_word(text: bytes) -> bool:
    return b"await" in text or b"yield" in text or b"async" in text


def _places(text: bytes, end: int) -> Iterator[int]:
    """Where something before *end* may wait or yield within an expression."""
    for word in _WORDS:
        at = text.find(word, 0, end)
        while at >= 0:
            if word == b"await" or _is_within(text, at, word):
                yield at
            at = text.find(word, at + 1, end)


def _is_within(text: bytes, at: int, word: bytes) -> bool:
    if word == b"async":
        return _ASYNCHRONOUS.match(text, at) is not None
    return _STATEMENT.search(text, max(0, at - _LOOKED_AT), at) is None


def _is_in_function(text: bytes, at: int) -> bool:
    """Whether the nearest header of a function above *at* is one whose body *at* is in."""
    above = text.rfind(b"def", 0, at)
    if above < 0:
        return False
    start = max(text.rfind(b"\n", 0, above), text.rfind(b"\r", 0, above)) + 1
    header = _FUNCTION.match(text, start)
    if header is None or start == 0:
        return False
    lines = text[start:at].splitlines()[1:]
    return bool(lines) and all(_is_deeper(line, len(header[1])) for line in lines)


def _is_deeper(line: bytes, column: int) -> bool:
    code = line.lstrip(b" \t\f")
    return not code or code[:1] in b"#)]}" or len(line) - len(code) > column
