r"""The spellings of characters in JSON strings, as steps of a program.

In a string with a condition a character is spelled as usual programs write it: as itself, or, outside of
ASCII, also as `\uXXXX`. So `\u0061` for `a` is no such spelling. Other strings are all of RFC 8259.
"""

from __future__ import annotations

import string
from collections.abc import Iterable, Sequence
from functools import cache

from fimlsp.languages.custom.patterns import PatternCompiler, sre
from fimlsp.lexing.automata.leftmost_first import Again, Ahead, Behind, Bytes, Done, Program, Split
from fimlsp.lexing.automata.regex import (
    EMPTY,
    Choice,
    Many,
    OneByte,
    Range,
    Regex,
    ascending,
    character_but,
    choice,
    code_points,
    exactly,
    many,
    maybe,
    one_of,
    sequence,
    some,
)
from fimlsp.lexing.automata.regex import Sequence as Concatenation

QUOTE = ord('"')
_LAST = 0x10FFFF
_CONTROLS = "".join(map(chr, range(0x20)))
_SHORT = {8: "b", 9: "t", 10: "n", 12: "f", 13: "r", QUOTE: '"', ord("/"): "/", ord("\\"): "\\"}
_DIGIT = one_of(string.digits)

ANY_STRING = sequence(
    '"',
    many(
        choice(
            character_but('"\\' + _CONTROLS),
            sequence("\\", choice(one_of('"\\/bfnrt'), sequence("u", exactly(4, one_of(string.hexdigits))))),
        )
    ),
    '"',
)
INTEGER = sequence(maybe("-"), choice("0", sequence(one_of("123456789"), many(_DIGIT))))
NUMBER = sequence(
    INTEGER, maybe(".", some(_DIGIT)), maybe(sequence(one_of("eE"), maybe(one_of("+-")), some(_DIGIT)))
)


@cache
def spelled(ranges: tuple[Range, ...]) -> Regex:
    """The spellings of any one character of the ascending *ranges*."""
    plain = _within(ranges, ((0x20, 0x21), (0x23, 0x5B), (0x5D, 0xD7FF), (0xE000, _LAST)))
    options: list[Regex] = [code_points(plain)] if plain else []
    short = [letter for code, letter in _SHORT.items() if _within(ranges, ((code, code),))]
    if short:
        options.append(sequence("\\", one_of("".join(short))))
    in_hex = _within(ranges, ((0, 0x1F), (0x80, 0xD7FF), (0xE000, 0xFFFF)))
    if in_hex:
        options.append(sequence("\\u", _hexadecimal(in_hex, 12)))
    beyond = _within(ranges, ((0x10000, _LAST),))
    if beyond:
        options.append(_pairs(tuple((low - 0x10000, high - 0x10000) for low, high in beyond)))
    return Choice(tuple(options))


def _pairs(ranges: tuple[Range, ...]) -> Regex:
    """Two escapes for a character, which is given by its number beyond 16 bits."""
    firsts: dict[tuple[Range, ...], list[Range]] = {}
    for top in sorted({top for low, high in ranges for top in range(low >> 10, (high >> 10) + 1)}):
        inside = _within(ranges, ((top << 10, (top << 10) + 0x3FF),))
        seconds = tuple((0xDC00 + (low & 0x3FF), 0xDC00 + (high & 0x3FF)) for low, high in inside)
        firsts.setdefault(seconds, []).append((0xD800 + top, 0xD800 + top))
    return choice(
        *(
            sequence(
                "\\u", _hexadecimal(ascending(first, is_negated=False), 12), "\\u", _hexadecimal(second, 12)
            )
            for second, first in firsts.items()
        )
    )


@cache
def _hexadecimal(ranges: tuple[Range, ...], shift: int) -> Regex:
    """The numbers of *ranges* in hexadecimal digits. The first stands for the bits from *shift* on."""
    digits: dict[tuple[Range, ...], str] = {}
    for digit in range(16):
        first = digit << shift
        inside = _within(ranges, ((first, first + (1 << shift) - 1),))
        below = tuple((low - first, high - first) for low, high in inside)
        if below:
            digits[below] = digits.get(below, "") + f"{digit:x}"
    return choice(
        *(
            sequence(one_of(own + own.upper()), _hexadecimal(below, shift - 4) if shift else EMPTY)
            for below, own in digits.items()
        )
    )


def _within(ranges: Iterable[Range], windows: Sequence[Range]) -> tuple[Range, ...]:
    clipped = [(max(low, first), min(high, last)) for low, high in ranges for first, last in windows]
    return tuple((low, high) for low, high in clipped if low <= high)


class SpellingProgram(Program):
    """A program whose characters are read in their spellings."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._spelled: dict[tuple[Sequence[Range], int], int] = {}

    def character(self, ranges: tuple[Range, ...], target: int) -> int:
        """As in `Program`."""
        key = ranges, target
        if key not in self._spelled:
            self._spelled[key] = self._shared(spelled(ranges), target, {})
        return self._spelled[key]

    def text(self, target: int) -> tuple[int, int]:
        """The first step of any characters before *target*, and the step after each of them."""
        end = self.choice(())
        head = self.choice((self.character(((0, _LAST),), end), target))
        self.steps[end] = Again(head, target)
        return head, end

    def plain(self, regex: Regex, target: int) -> int:
        """The first step of *regex*, whose bytes are read as they are."""
        return self._shared(regex, target, {})

    def _shared(self, regex: Regex, target: int, known: dict[tuple[int, int], int]) -> int:
        """As `plain`; equal parts before the same step, which are *known*, share their steps."""
        key = id(regex), target
        if key not in known:
            known[key] = self._made(regex, target, known)
        return known[key]

    def _made(self, regex: Regex, target: int, known: dict[tuple[int, int], int]) -> int:
        match regex:
            case OneByte(members):
                return self.add(Bytes(dict.fromkeys(members, target)))
            case Concatenation(parts):
                for part in reversed(parts):
                    target = self._shared(part, target, known)
                return target
            case Choice(options):
                return self.choice([self._shared(option, target, known) for option in options])
            case Many(body):
                end = self.choice(())
                head = self.choice((target, self._shared(body, end, known)))
                self.steps[end] = Again(head, target)
                return head
        raise AssertionError(regex)


class SpelledPatterns(PatternCompiler):
    """Compiles expressions for the text of a string, up to its closing quote."""

    _start: int | None = None
    """The look-behind for any character."""

    def _position(self, at: object, target: int) -> int:
        """As in `PatternCompiler`, with few steps for the ends of the text."""
        if at is sre.AT_END_STRING:
            ends = self._ends(target)
            if ends is not None:
                return self._program.choice(ends)
        elif at is sre.AT_BEGINNING_STRING and not self._in_look_around:
            if self._start is None:
                self._start = len(self._program.look_behinds)
                return super()._position(at, target)
            return self._program.add(Behind(self._start, True, target))
        return super()._position(at, target)

    def _ends(self, target: int) -> list[int] | None:
        """Steps that go on from *target* only if the text ends; None if a loop or a look-around is there."""
        ends: list[int] = []
        seen, waiting = {target}, [target]
        while waiting:
            number = waiting.pop()
            step = self._program.steps[number]
            match step:
                case Bytes(table) if QUOTE in table:
                    ends.append(self._program.add(Bytes({QUOTE: table[QUOTE]})))
                case Done():
                    ends.append(self._program.add(Bytes({QUOTE: number})))
                case Split(()) | Again() | Ahead() | Behind():
                    return None
                case Split(targets):
                    fresh = set(targets) - seen
                    seen |= fresh
                    waiting += fresh
        return ends
