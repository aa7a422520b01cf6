"""Finds out from the beginning of a file whether its annotations are evaluated; quick."""

from __future__ import annotations

import re

_IDLE = rb"(?:[ \t\f\r\n;]|#[^\r\n]*(?=[\r\n]))*"
_STRING = (
    rb"[rRuU]?(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\""
    rb"|'(?:[^'\\\r\n]|\\.)+'|\"(?:[^\"\\\r\n]|\\.)+\")"
)
_END = rb"[ \t\f]*(?=[\r\n;#])"
_BEFORE_IMPORTS = re.compile(rb"(?:\xef\xbb\xbf)?%s(?:%s%s%s)?" % (_IDLE, _STRING, _END, _IDLE), re.DOTALL)
_IMPORT = re.compile(rb"from[ \t]+__future__[ \t]+import\b([\w, \t]*|[ \t]*\([\w,\s]*\))%s%s" % (_END, _IDLE))
_MAY_BECOME_IMPORT = re.compile(rb"(?:f|fr|fro|from|from[\s\\]+\w*)\Z|from[\s\\]+__future__\b")
_MAY_BE_DOCSTRING = re.compile(rb"[(\s]*(?:[rRuU]?(?:['\"]|\Z)|[\\#])|\xef\xbb?\Z")


def are_evaluated(beginning: bytes) -> bool | None:
    """Whether annotations are evaluated in files with this *beginning*, which import no feature against it.

    None if what follows may decide it, or if this is not clear at a glance.
    """
    before = _BEFORE_IMPORTS.match(beginning)
    assert before is not None
    at = before.end()
    while (found := _IMPORT.match(beginning, at)) is not None:
        names = re.findall(rb"\w+", found[1])
        if b"as" in names:
            return None
        if b"annotations" in names:
            return False
        at = found.end()
    is_open = _MAY_BECOME_IMPORT.match(beginning, at) or _MAY_BE_DOCSTRING.match(beginning, at)
    return None if is_open else True
