r"""Expressions of ECMA-262, which JSON Schema uses, in the notation of Python's `re`.

Classes of ECMA-262 differ from Python's: `\d` and `\w` are ASCII, `\s` and `.` know more line ends. So each
class is written as its ranges. `^` and `$` are the ends of the whole text.
"""

from __future__ import annotations

import re

from fimlsp.languages.custom.patterns import PatternError
from fimlsp.languages.custom.unicode_classes import UnknownClassError, characters_of
from fimlsp.lexing.automata.regex import Range, ascending

_LAST = 0x10FFFF
_LINE_ENDS = ((10, 10), (13, 13), (0x2028, 0x2029))
_CLASSES: dict[str, tuple[Range, ...]] = {
    "d": ((0x30, 0x39),),
    "w": ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)),
    "s": (
        (9, 13),
        (32, 32),
        (0xA0, 0xA0),
        (0x1680, 0x1680),
        (0x2000, 0x200A),
        (0x2028, 0x2029),
        (0x202F, 0x202F),
        (0x205F, 0x205F),
        (0x3000, 0x3000),
        (0xFEFF, 0xFEFF),
    ),
}
_CONTROL = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13, "0": 0}
_TOKEN = re.compile(
    r"\\(?:[pP]\{(?P<property>[^{}]*)\}|c(?P<control>[A-Za-z])|x(?P<two>[0-9A-Fa-f]{2})"
    r"|u(?P<four>[0-9A-Fa-f]{4})|u\{(?P<braced>[0-9A-Fa-f]{1,6})\}|(?P<escaped>.))"
    r"|(?P<group>\(\?(?:[:=!]|<[=!]|(?P<name><\w+>)))|(?P<count>\{[0-9]+(?:,[0-9]*)?\})|(?P<other>.)",
    re.DOTALL,
)


def in_python(pattern: str) -> str:
    """The expression *pattern* for Python's parser, to be found anywhere in a text.

    Raises:
        PatternError: ECMA-262 has no such expression, or it needs more than an automaton.
    """
    written: list[str] = []
    at = 0
    while at < len(pattern):
        if pattern[at] == "[":
            ranges, at = _bracketed(pattern, at + 1)
            written.append(_written(ranges))
            continue
        token = _token(pattern, at)
        at = token.end()
        written.append(_outside(token))
    return "".join(written)


def is_at_start(pattern: str) -> bool:
    """True if *pattern* starts with `^` in all of its alternatives, as far as is easy to see."""
    at, depth = 0, 0
    while at < len(pattern):
        if pattern[at] == "[":
            at = _bracketed(pattern, at + 1)[1]
            continue
        token = _token(pattern, at)
        depth += {"(": 1, ")": -1}.get(token.group()[0], 0)
        if token.group() == "|" and not depth:
            return False
        at = token.end()
    return pattern.startswith("^") and not pattern.startswith(("^*", "^?", "^{"))


def _token(pattern: str, at: int) -> re.Match[str]:
    token = _TOKEN.match(pattern, at)
    if token is None:
        raise PatternError("ends with a backslash")
    return token


def _outside(token: re.Match[str]) -> str:
    text = token.group()
    if token["count"] or (token["group"] and not token["name"]):
        return text
    if token["name"]:
        return "(?:"
    if token["other"]:
        return _OUTSIDE.get(text, text)
    escaped = token["escaped"] or ""
    if escaped in ("b", "B"):
        return f"(?a:\\{escaped})"
    if escaped in ("k", *"123456789"):
        raise PatternError("refers back to a group")
    return _written(_class(token))


def _class(token: re.Match[str]) -> tuple[Range, ...]:
    """The characters that a token stands for within brackets, or as an escape outside of them."""
    if token["property"] is not None:
        try:
            ranges = characters_of(token["property"])
        except UnknownClassError as error:
            raise PatternError(str(error)) from error
        return ascending(ranges, is_negated=token.group()[1] == "P")
    digits = token["two"] or token["four"] or token["braced"]
    if digits:
        return _one(min(int(digits, 16), _LAST))
    if token["control"]:
        return _one(ord(token["control"]) % 32)
    escaped = token["escaped"]
    if escaped is None:
        return _one(ord(token.group()))
    if escaped in _CONTROL:
        return _one(_CONTROL[escaped])
    if escaped.lower() in _CLASSES:
        return ascending(_CLASSES[escaped.lower()], is_negated=escaped.isupper())
    if escaped.isalnum():
        raise PatternError(f"has the escape \\{escaped}, which ECMA-262 lacks")
    return _one(ord(escaped))


def _one(code: int) -> tuple[Range, ...]:
    return ((code, code),)


def _bracketed(pattern: str, at: int) -> tuple[tuple[Range, ...], int]:
    """The characters of a class that starts at *at*, after its bracket, and the place after it."""
    is_negated = pattern.startswith("^", at)
    at += is_negated
    ranges: list[Range] = []
    while not pattern.startswith("]", at):
        if at >= len(pattern):
            raise PatternError("has a bracket that is not closed")
        members, at = _member(pattern, at)
        if pattern.startswith("-", at) and at + 1 < len(pattern) and pattern[at + 1] != "]":
            last, at = _member(pattern, at + 1)
            if len(members) > 1 or len(last) > 1 or last[0][0] < members[0][0]:
                raise PatternError("has a range that does not ascend")
            members = ((members[0][0], last[0][0]),)
        ranges += members
    return ascending(ranges, is_negated=is_negated), at + 1


def _member(pattern: str, at: int) -> tuple[tuple[Range, ...], int]:
    if pattern[at] != "\\":
        return _one(ord(pattern[at])), at + 1
    token = _token(pattern, at)
    if token["escaped"] == "b":
        return _one(8), token.end()
    return _class(token), token.end()


def _written(ranges: tuple[Range, ...]) -> str:
    """A class of *ranges* in Python's notation."""
    if not ranges:
        return "(?!)"
    return f"[{''.join(f'{_code(low)}-{_code(high)}' for low, high in ranges)}]"


def _code(code: int) -> str:
    return f"\\U{code:08x}"


_OUTSIDE = {
    "^": r"\A",
    "$": r"\Z",
    "{": r"\{",
    "}": r"\}",
    "]": r"\]",
    ".": _written(ascending(_LINE_ENDS, is_negated=True)),
}
"""Signs that stand alone, outside of brackets."""
