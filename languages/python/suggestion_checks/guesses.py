"""Checks of guesses that nothing at the cursor supports: a result of `bool`, and more digits of a number.

A small model copies the annotation of the method above: `def to_row(self) ->` gets the `bool` of `is_read`.
Of 51,599 annotated functions in 3,821 files, 4,309 return `bool`. By the first word of their names:

| first word | functions | return `bool` |
|---|---|---|
| to, as, build, copy, create, decode, encode, new, render, split | 1,947 | 0 |
| find, from, generate, make | 1,722 | 5 |

It also goes on with a number that is finished: `end = 2` becomes `end = 256`.
"""

from __future__ import annotations

import re

from fimlsp.languages.suggested_lines import suggested_lines

LONGEST_NUMBER = 50
"""Bytes before the cursor in which its number is searched."""

_MAKES_BOOL = re.compile(
    rb"[ \t]*(?:async[ \t]+)?def[ \t]+_*"
    rb"(?:as|build|copy|create|decode|encode|find|from|generate|make|new|render|split|to)(?:_\w*)?"
    rb"[ \t]*\(.*\)[ \t]*->[ \t]*(?P<type>bool)[ \t]*(?::|\Z)"
)
_NUMBER = re.compile(rb"(?<![\w.\x80-\xff])(?:\d[\w.]{0,40})?\d\Z")
_GOES_ON = re.compile(rb"\w")


def first_made_bool(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text* of the first `bool` as the result of a function that makes something, or None.

    One that starts before *text* is intended. O(len(text)).
    """
    context = suggested_lines(left, text, right)
    for line in context.lines:
        header = _MAKES_BOOL.match(line.text)
        if header is None:
            continue
        if b"\n" in text[: line.offset + 1]:
            return line.offset
        start = header.start("type") - len(context.head)
        if start >= 0:
            return start
    return None


def first_longer_number(left: bytes, text: bytes, right: bytes) -> int | None:
    """0 if *text* goes on with the digits of a number at the end of *left*, else None. O(1)."""
    del right
    return 0 if _GOES_ON.match(text) and _NUMBER.search(left[-LONGEST_NUMBER:]) else None
