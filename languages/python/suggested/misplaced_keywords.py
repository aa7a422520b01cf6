"""Finds `return`, `await` and the like in a suggestion that is in no function, or in no `async` one.

The grammar allows them anywhere; the compiler refuses them.
"""

from __future__ import annotations

import re

_KEYWORD = re.compile(rb"(?<![\w.])(?:(await\b|async\s+(?:for|with)\b)|return\b|yield\b)")
_SCOPE = re.compile(rb"\s*(?:((async\s+)?def)|class)\b")
_HARD_TO_TELL = re.compile(rb"\b(?:def|lambda)\b|[\"'#]")


def first_misplaced_keyword(left: bytes, text: bytes) -> int | None:
    """The offset of the first keyword in *text*, behind *left*, that the compiler would refuse there.

    None if there is none, or where a string, a comment or a function of its own makes it hard to tell.
    O(len(left)) if there is such a keyword at all.
    """
    keywords = [*_KEYWORD.finditer(text)]
    if not keywords:
        return None
    line, scope = left[left.rfind(b"\n") + 1 :], _enclosing_scope(left)
    if scope is None and line[:1] in (b" ", b"\t"):  # a text in several lines hides it
        return None
    for keyword in keywords:
        if _HARD_TO_TELL.search(line + text[: keyword.start()]):
            return None
        if scope is None or not scope[1] or (keyword[1] and not scope[2]):
            return keyword.start()
    return None


def _enclosing_scope(left: bytes) -> re.Match[bytes] | None:
    """The innermost function or class that the end of *left* is in, by indentation; see `_SCOPE`."""
    *above, line = left.split(b"\n")
    column = len(line) - len(line.lstrip())
    for each in reversed(above):
        indentation = len(each) - len(each.lstrip())
        if each.strip() and indentation < column:
            column = indentation + each.lstrip().startswith((b")", b"]", b"}"))
            scope = _SCOPE.match(each)
            if scope is not None:
                return scope
    return None
