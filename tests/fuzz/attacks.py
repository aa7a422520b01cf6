"""Texts on which a regular expression may backtrack: parts of its matches, repeated, and an end."""

from __future__ import annotations

import itertools
import re
import sys

if sys.version_info >= (3, 11):
    from re import _constants as codes
    from re import _parser as parser
else:
    import sre_constants as codes
    import sre_parse as parser

ANY = " a0_.,:;=()[]{}'\"\\#\n\r\t-+*/@\0\x80"
ENDS = "", "\0", "!"
_REPEATS = {codes.MAX_REPEAT, codes.MIN_REPEAT, getattr(codes, "POSSESSIVE_REPEAT", None)}
_ATOMIC = getattr(codes, "ATOMIC_GROUP", None)
_CLASSES = {
    "DIGIT": r"\d",
    "NOT_DIGIT": r"\D",
    "SPACE": r"\s",
    "NOT_SPACE": r"\S",
    "WORD": r"\w",
    "NOT_WORD": r"\W",
}


def attacks(pattern, most_pumps):
    """Texts as a beginning, a piece to repeat, and an end."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.LOCALE)
    pieces = list(dict.fromkeys(filter(None, itertools.chain(_pieces(tree), _characters(tree)))))
    pairs = ("".join(pair) for pair in itertools.permutations(pieces[:9], 2))
    pumps = list(dict.fromkeys([*pieces[:24], *pairs]))[:most_pumps]
    beginnings = list(dict.fromkeys(["", *_beginnings(tree)]))
    starts = [beginning + end for beginning in beginnings[1:24] for end in ("", " ", "\n")][: 3 * most_pumps]
    ends = [*ENDS, *list(dict.fromkeys(_excluded(tree)))[:3]]
    return [*itertools.product(beginnings[:6], pumps, ends), *itertools.product([""], starts, ends)]


def _pieces(tree):
    """What each repeated part matches."""
    for code, argument in tree:
        if code in _REPEATS:
            yield _sample(argument[2])
        for inner in _inside(code, argument):
            yield from _pieces(inner)


def _beginnings(tree):
    """What stands before each repeated part, and the whole of a match."""
    for number, (code, argument) in enumerate(tree):
        if code in _REPEATS:
            yield _sample(tree[:number])
        for inner in _inside(code, argument):
            yield from (_sample(tree[:number]) + beginning for beginning in _beginnings(inner))
    yield _sample(tree)


def _characters(tree):
    """Representatives of the characters that a pattern mentions."""
    for code, argument in tree:
        if code is codes.LITERAL:
            yield chr(argument)
        elif code is codes.IN:
            yield _member(argument)
            yield from (chr(value) for kind, value in argument if kind is codes.LITERAL)
        for inner in _inside(code, argument):
            yield from _characters(inner)


def _excluded(tree):
    """The characters that some part does not match."""
    for code, argument in tree:
        if code is codes.NOT_LITERAL:
            yield chr(argument)
        elif code is codes.IN and argument[0][0] is codes.NEGATE:
            yield from (chr(value) for kind, value in argument if kind is codes.LITERAL)
        for inner in _inside(code, argument):
            yield from _excluded(inner)


def _inside(code, argument):
    if code is codes.SUBPATTERN:
        return [argument[3]]
    if code is codes.BRANCH:
        return argument[1]
    if code in (codes.ASSERT, codes.ASSERT_NOT):
        return [argument[1]]
    if code in _REPEATS:
        return [argument[2]]
    return [argument] if code is _ATOMIC else []


def _sample(tree):
    """A text that a part matches, as short as is simple."""
    return "".join(_one(code, argument) for code, argument in tree)


def _one(code, argument):
    if code is codes.LITERAL:
        return chr(argument)
    if code is codes.NOT_LITERAL:
        return next(each for each in "a0 " if ord(each) != argument)
    if code is codes.IN:
        return _member(argument)
    if code is codes.ANY:
        return "a"
    if code in _REPEATS:
        return _sample(argument[2]) * min(argument[0], 50)
    if code is codes.BRANCH:
        return _sample(argument[1][0])
    return _sample(argument[3] if code is codes.SUBPATTERN else argument) if _is_group(code) else ""


def _is_group(code):
    return code in (codes.SUBPATTERN, _ATOMIC)


def _member(items):
    expression = re.compile("[" + "".join(_written(*item) for item in items) + "]")
    return next((each for each in "a0 _.\n(\"'" + ANY if expression.match(each)), "\xe9")


def _written(kind, value):
    if kind is codes.NEGATE:
        return "^"
    if kind is codes.LITERAL:
        return re.escape(chr(value))
    if kind is codes.RANGE:
        return re.escape(chr(value[0])) + "-" + re.escape(chr(value[1]))
    return _CLASSES[str(value).removeprefix("CATEGORY_").removeprefix("UNI_")]
