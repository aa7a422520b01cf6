"""Quick tests for text that the compiler cannot refuse, so that it need not be parsed.

The compiler complains about some words, and about names that occur twice. Most new text in a statement has
neither. Long lines that only assign data to a name are never refused. To parse one would take a millisecond
for each kilobyte, at each question about a text with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_LONGEST_WORD = 12
_LONGEST_NAME = 200
_FOLLOWING = 200
_WHOLE = re.compile(
    rb"__debug__|:=|\b(?:global|nonlocal|case|__future__)\b|\b(?:type|class)\s(?:(?!\b(?:type|class)\s)[^(=.:\[])*\["
    rb"|\b(?:yield|await|async)\b(?:(?!\b(?:yield|await|async)\b)[^\r\n])*\bfor\b|\bimport\s*\*"
)
_FOR, _AS = re.compile(rb"\bfor\b"), re.compile(rb"\bas\b")
_FAR_IN = 6
_IN_AT_END = re.compile(rb"\bin\b.{0,4}\Z", re.DOTALL)
_NOT_A_TARGET = re.compile(rb"[=:()\[\]{}]")
_SIGN = re.compile(rb"[=:]")
_STATEMENT_END = re.compile(rb"[\r\n;]")
_FUNCTION = re.compile(rb"\b(?:lambda|def)\b")
_MORE_THAN_NAMES = re.compile(rb"\basync\b|\btype\b|\[")
_NEAR = re.compile(rb"\b(?:yield|await|return)\b")
_NAMED_NEXT = re.compile(rb",\s*([A-Za-z_\x80-\xff][\w\x80-\xff]*)\s+\Z")
_KEYWORD = re.compile(rb"(?<![\w\x80-\xff])([\w\x80-\xff]+)\s*=(?!=)")
_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_CONSTANTS = re.compile(rb"(?:[\d\s,:()\[\]{}.+-]|'[^'\\\r\n{]*'|\"[^\"\\\r\n{]*\")*")
_WITHIN_WORD = re.compile(rb"[^\W\d][\d\x80-\xff]*[\w\x80-\xff'\"]\Z|['\"\x80-\xff]['\"\w\x80-\xff]\Z")
_GOES_ON = re.compile(rb"[\w\x80-\xff'\"=]")
_BRACKET = re.compile(rb"(?P<opens>[(\[{])|(?P<closes>[)\]}])|'[^']*'|\"[^\"]*\"")
_PATTERN = re.compile(rb"\bcase\b")
_DECLARING = (b"global", b"nonlocal")
_DECLARATION = re.compile(rb"\b(?:global|nonlocal)\s+([\w\x80-\xff,][\w\x80-\xff, \t\f]*)(?:[;\r\n#]|$)")


def may_be_wrong(statement: bytes, fresh: int, right: bytes) -> bool:
    """True if the last *fresh* bytes of *statement*, before *right*, can have made it a refused one."""
    if _WHOLE.search(statement) or _NEAR.search(statement, max(0, len(statement) - fresh - _LONGEST_WORD)):
        return True
    if _FUNCTION.search(statement) and (_MORE_THAN_NAMES.search(statement) or _repeats_name(statement)):
        return True
    if statement.count(b"*") > 1 and _has_starred_targets(statement):
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
    """True if the last *fresh* bytes of *statement* add only numbers and strings, in brackets of their own.

    The compiler accepts these. Exceptions are patterns, stars, a word that they separate from its
    continuation in *right*, and a colon that becomes `:=` with that.
    """
    start = len(statement) - fresh
    if (
        _GOES_ON.match(right) is not None
        or _CONSTANTS.fullmatch(statement, start) is None
        or _WITHIN_WORD.search(statement, max(0, start - _LONGEST_NAME), start + 1)
    ):
        return False
    depth = 0
    for mark in _BRACKET.finditer(statement, start):
        depth += 1 if mark.lastgroup == "opens" else -1 if mark.lastgroup == "closes" else 0
        if depth < 0:
            return False
    return not depth and b"*" not in statement and _PATTERN.search(statement) is None


def _has_starred_targets(statement: bytes) -> bool:
    """True if targets at the end of *statement*, or after an `as`, may have two stars."""
    end = _IN_AT_END.search(statement, max(0, len(statement) - _FAR_IN))
    return (
        _has_stars_after(_FOR, _NOT_A_TARGET.split(statement)[-1])
        or (end is not None and _has_stars_after(_FOR, _SIGN.split(statement[: end.start()])[-1]))
        or any(_has_stars_after(_AS, part) for part in statement.split(b":"))
    )


def _has_stars_after(word: re.Pattern[bytes], text: bytes) -> bool:
    found = word.search(text)
    return found is not None and text.count(b"*", found.end()) > 1


def _is_argument(name: bytes, statement: bytes) -> bool:
    """True if *name* is that of an argument, or has a default, in *statement*."""
    return re.search(rb"[(,]\s*%s\s*=(?!=)" % re.escape(name), statement) is not None


def _annotates_element(statement: bytes) -> bool:
    """True if *statement* may start with an annotated element that has a star in its index."""
    sign = _SIGN.search(statement)
    if sign is None or sign.group() == b"=":
        return False
    target = statement[: sign.start()].rstrip()
    return target.endswith(b"]") and b"*" in target


def _repeats_name(statement: bytes) -> bool:
    """True if a name is twice in *statement*, as a parameter of a function must not be."""
    names = _NAME.findall(statement)
    return len(names) > len(set(names)) or not statement.isascii()


def uses_declared(statement: bytes, around: tuple[bytes, bytes]) -> bool:
    """True if *statement* has a name that is declared `global` or `nonlocal` somewhere *around*."""
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
    """The text after *word* in each declaration; a search for the word first is thirty times as fast."""
    offset = text.find(word)
    while offset >= 0:
        declaration = _DECLARATION.match(text, offset)
        if declaration is not None:
            yield declaration[1]
        offset = text.find(word, offset + len(word))


_LONG = 1_000
_DATA_HEAD = re.compile(rb"[ \t]*[A-Za-z_][\w.]*[ \t]*=[ \t]*(?:[A-Za-z_][\w.]*)?(?=[(\[{])")
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
_REFUSABLE = re.compile(rb"(?<![A-Za-z_])(?:lambda|for|yield|await|async|__debug__)\b")
_DEPTH = {b"(": 1, b"[": 1, b"{": 1, b")": -1, b"]": -1, b"}": -1}
_LINE_ENDS = (b"\r", b"\n")


def end_of_data(data: bytes, start: int) -> int | None:
    """The end of the logical line at *start* if it is long and only assigns data to a name; else None.

    *data* is a valid file, so only brackets and strings have to be followed. Code that can be refused, such
    as a named argument or an f-string, makes it an ordinary line. O(length), some 30 ms for each megabyte.
    """
    head = _DATA_HEAD.match(data, start)
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
        if sign in _DEPTH:
            depth += _DEPTH[sign]
            position += 1
        else:
            other = _COMMENT_OR_STRING.match(data, position)
            if other is None:
                return None
            position = other.end()


def _has_word(data: bytes, start: int, end: int) -> bool:
    """True if a word that can make an ordinary line is in that text, outside strings and comments."""
    if _REFUSABLE.search(data, start, end) is None:
        return False
    return _REFUSABLE.search(_COMMENT_OR_STRING.sub(b" ", data[start:end])) is not None
