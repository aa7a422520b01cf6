"""Tells quickly whether a statement being written may have become one that the compiler refuses.

Most of what is written cannot: the compiler complains about some words, and about names that occur twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_LONGEST_WORD = 12
_LONGEST_NAME = 200
_FOLLOWING = 200
_WHOLE = re.compile(
    rb"__debug__|:=|\b(?:global|nonlocal|case|__future__)\b|\b(?:type|class)\s[^(=.:\[]*\["
    rb"|\b(?:yield|await|async)\b[^\r\n]*\bfor\b|\bimport\s*\*"
)
_TWO_STARS = re.compile(
    rb"\bfor\b[^=:()\[\]{}]*\*[^=:()\[\]{}]*\*[^=:()\[\]{}]*\Z|\bfor\b[^=:]*\*[^=:]*\*[^=:]*\bin\b.{0,4}\Z"
    rb"|\bas\b[^:]*\*[^:]*\*",
    re.DOTALL,
)
_SIGN = re.compile(rb"[=:]")
_STATEMENT_END = re.compile(rb"[\r\n;]")
_FUNCTION = re.compile(rb"\b(?:lambda|def)\b")
_MORE_THAN_NAMES = re.compile(rb"\basync\b|\btype\b|\[")
_NEAR = re.compile(rb"\b(?:yield|await|return)\b")
_NAMED_NEXT = re.compile(rb",\s*([A-Za-z_\x80-\xff][\w\x80-\xff]*)\s+\Z")
_KEYWORD = re.compile(rb"([\w\x80-\xff]+)\s*=(?!=)")
_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_CONSTANTS = re.compile(rb"(?:[\d\s,:()\[\]{}.+-]|'[^'\\\r\n{]*'|\"[^\"\\\r\n{]*\")*")
_WITHIN_WORD = re.compile(rb"[^\W\d][\w\x80-\xff]*[\w\x80-\xff'\"]\Z|['\"\x80-\xff]['\"\w\x80-\xff]\Z")
_GOES_ON = re.compile(rb"[\w\x80-\xff'\"=]")
_BRACKET = re.compile(rb"(?P<opens>[(\[{])|(?P<closes>[)\]}])|'[^']*'|\"[^\"]*\"")
_PATTERN = re.compile(rb"\bcase\b")
_DECLARING = (b"global", b"nonlocal")
_DECLARATION = re.compile(rb"\b(?:global|nonlocal)\s+([\w\x80-\xff,\s]+?)\s*(?:[;\r\n#]|$)")


def may_be_wrong(statement: bytes, fresh: int, right: bytes) -> bool:
    """Whether the last *fresh* bytes of *statement*, before *right*, may have made it one that is refused."""
    if _WHOLE.search(statement) or _NEAR.search(statement, max(0, len(statement) - fresh - _LONGEST_WORD)):
        return True
    if _FUNCTION.search(statement) and (_MORE_THAN_NAMES.search(statement) or _repeats_name(statement)):
        return True
    if statement.count(b"*") > 1 and _TWO_STARS.search(statement):
        return True
    written = statement[-fresh - 1 :]
    if b"*" in statement and _STATEMENT_END.search(written) and _annotates_element(statement):
        return True
    if b"=" not in written:
        following = _NAMED_NEXT.search(statement, max(0, len(statement) - _LONGEST_NAME))
        return following is not None and _is_argument(following[1], statement)
    if statement.count(b"*") > 1:
        return True
    names = _KEYWORD.findall(statement) + _KEYWORD.findall(right, 0, _FOLLOWING)
    return len(names) > len(set(names)) or not statement.isascii()


def adds_constants(statement: bytes, fresh: int, right: bytes) -> bool:
    """Whether the last *fresh* bytes of *statement* add numbers and strings alone, in brackets of their own.

    The compiler has nothing against these, but in patterns, beside stars, and where they part a word from
    what goes on with it in *right* or make `:=` with that.
    """
    begin = len(statement) - fresh
    if (
        _GOES_ON.match(right) is not None
        or _CONSTANTS.fullmatch(statement, begin) is None
        or _WITHIN_WORD.search(statement, max(0, begin - _LONGEST_NAME), begin + 1)
    ):
        return False
    depth = 0
    for mark in _BRACKET.finditer(statement, begin):
        depth += 1 if mark.lastgroup == "opens" else -1 if mark.lastgroup == "closes" else 0
        if depth < 0:
            return False
    return not depth and b"*" not in statement and _PATTERN.search(statement) is None


def _is_argument(name: bytes, statement: bytes) -> bool:
    """Whether an argument, or a default, is given to *name* in *statement*."""
    return re.search(rb"[(,]\s*%s\s*=(?!=)" % re.escape(name), statement) is not None


def _annotates_element(statement: bytes) -> bool:
    """Whether *statement* may begin with an element of something, a star in its index, and its annotation."""
    sign = _SIGN.search(statement)
    if sign is None or sign.group() == b"=":
        return False
    target = statement[: sign.start()].rstrip()
    return target.endswith(b"]") and b"*" in target


def _repeats_name(statement: bytes) -> bool:
    """Whether a name is twice in *statement*, as a parameter of a function may not be."""
    names = _NAME.findall(statement)
    return len(names) > len(set(names)) or not statement.isascii()


def uses_declared(statement: bytes, around: tuple[bytes, bytes]) -> bool:
    """Whether *statement* has a name that is declared `global` or `nonlocal` somewhere *around*."""
    declared = _declared(around[0]) | _declared(around[1])
    if not declared:
        return False
    return not declared.isdisjoint(_NAME.findall(statement))


@lru_cache(maxsize=64)
def _declared(text: bytes) -> frozenset[bytes]:
    """The names that are declared in *text*."""
    return frozenset(
        name for word in _DECLARING for part in _declarations(text, word) for name in _NAME.findall(part)
    )


def _declarations(text: bytes, word: bytes) -> Iterator[bytes]:
    """What stands behind *word* where it declares; looking for the word first is thirty times as fast."""
    at = text.find(word)
    while at >= 0:
        declaration = _DECLARATION.match(text, at)
        if declaration is not None:
            yield declaration[1]
        at = text.find(word, at + len(word))
