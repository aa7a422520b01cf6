"""Python's regular expressions as programs of `lexing.automata.program`.

Python's own parser reads them, and Python's own matcher lists the characters of a class. So the meaning
of flags and classes is defined in one place.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import cache
from typing import Any, TypeAlias

from fimlsp.lexing.automata.leftmost_first import (
    Again,
    Ahead,
    Behind,
    Done,
    LookBehind,
    Program,
    ProgramTooLargeError,
    Split,
)
from fimlsp.lexing.automata.regex import Range, ascending

if sys.version_info >= (3, 11):
    from re import _compiler as sre_compile  # type: ignore[attr-defined]  # unlike the other two
    from re import _constants as sre
    from re import _parser as sre_parse
else:
    import sre_compile
    import sre_constants as sre
    import sre_parse

Operand: TypeAlias = Any
"""A value that Python's parser makes of an expression; it has no public type."""

Items = Iterable[tuple[Any, Any]]
"""The result of Python's parser: pairs of a code and its operands."""

_EVERY = "".join(map(chr, range(sys.maxunicode + 1)))
_LAST = sys.maxunicode
WIDEST = int(getattr(sre_parse, "MAXWIDTH", sre.MAXREPEAT))
"""The length of an expression that has no longest text."""

_WORD = [(sre.CATEGORY, sre.CATEGORY_WORD)]
_ANYTHING: tuple[Range, ...] = ((0, _LAST),)
_LINE_FEED = ord("\n")
_UNSUPPORTED = {
    sre.GROUPREF: "refers back to a group",
    sre.GROUPREF_EXISTS: "depends on a group",
    getattr(sre, "ATOMIC_GROUP", None): "has an atomic group",
    getattr(sre, "POSSESSIVE_REPEAT", None): "has a possessive repetition",
}
_MOST_COPIES = 2_000
_ALPHABETS = re.ASCII | re.UNICODE


class PatternError(ValueError):
    """An expression that no automaton can decide; the message is a predicate, such as 'refers back to …'."""


class PatternCompiler:
    """Compiles expressions into *program*."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._flags = 0
        self._in_look_around = False

    def compiled(self, pattern: str, target: int) -> int:
        """The first step of *pattern*, after which the program continues at *target*.

        Raises:
            PatternError: no automaton can decide it.
            ProgramTooLargeError: it has too many steps.
        """
        try:
            parsed = sre_parse.parse(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            raise PatternError(f"cannot be read by Python ({error})") from error
        self._flags = parsed.state.flags
        return self._sequence(parsed, target)

    def literal(self, text: str, *, any_case: bool, target: int) -> int:
        """The first step of *text*, taken literally."""
        self._flags = re.UNICODE | (re.IGNORECASE if any_case else 0)
        return self._sequence([(sre.LITERAL, ord(character)) for character in text], target)

    def _sequence(self, items: Items, target: int) -> int:
        for code, operand in reversed(list(items)):
            target = self._item(code, operand, target)
        return target

    def _item(self, code: Operand, operand: Operand, target: int) -> int:
        if code in _UNSUPPORTED:
            raise PatternError(_UNSUPPORTED[code])
        if code in (sre.LITERAL, sre.NOT_LITERAL, sre.ANY, sre.IN):
            return self._program.character(self._characters(code, operand), target)
        if code is sre.BRANCH:
            return self._program.choice([self._sequence(branch, target) for branch in operand[1]])
        if code is sre.SUBPATTERN:
            return self._group(operand, target)
        if code in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            least, most, body = operand
            return self._repeated(least, most, body, target, lazy=code is sre.MIN_REPEAT)
        if code in (sre.ASSERT, sre.ASSERT_NOT):
            direction, body = operand
            look = self._ahead if direction > 0 else self._behind
            return look(body, code is sre.ASSERT_NOT, target)
        if code is sre.AT:
            return self._position(operand, target)
        if code is sre.FAILURE:
            return self._program.choice(())
        raise PatternError(f"uses {str(code).lower()}")

    def _group(self, operand: Operand, target: int) -> int:
        _, added, removed, body = operand
        outside = self._flags
        kept = outside & ~_ALPHABETS if added & _ALPHABETS else outside
        self._flags = (kept | added) & ~removed
        first = self._sequence(body, target)
        self._flags = outside
        return first

    def _repeated(self, least: Operand, most: Operand, body: Operand, target: int, *, lazy: bool) -> int:
        endless = most is sre.MAXREPEAT or most == sre.MAXREPEAT
        copies = int(least) + (0 if endless else int(most) - int(least))
        if copies > _MOST_COPIES:
            raise PatternError(f"repeats something {copies} times")
        if endless:
            target = self._loop(body, target, lazy=lazy)
        else:
            end = target
            for _ in range(int(most) - int(least)):
                ways = (end, self._sequence(body, target)) if lazy else (self._sequence(body, target), end)
                target = self._program.choice(ways)
        for _ in range(int(least)):
            target = self._sequence(body, target)
        return target

    def _loop(self, body: Operand, target: int, *, lazy: bool) -> int:
        """*body* any number of times. The end of the loop refers to its head, which is made after it."""
        steps = self._program.steps
        end = self._program.choice(())
        first = self._sequence(body, end)
        head = self._program.choice((target, first) if lazy else (first, target))
        steps[end] = Again(head, target)
        return head

    def _ahead(self, body: Operand, negative: bool, target: int) -> int:
        return self._program.add(Ahead(self._body(body)[0], negative, target))

    def _behind(self, body: Operand, negative: bool, target: int) -> int:
        low, high = body.getwidth()
        if low != high:
            raise PatternError("looks behind at something of no fixed width")
        return self._behind_body(body, int(low), negative, target)

    def _behind_body(self, body: Operand, width: int, negative: bool, target: int) -> int:
        if not width:
            matches = not list(body)
            return target if matches != negative else self._program.choice(())
        first, end = self._body(body)
        self._program.look_behinds.append(LookBehind(width, first, end))
        return self._program.add(Behind(len(self._program.look_behinds) - 1, negative, target))

    def _body(self, body: Items) -> tuple[int, int]:
        """The first and the last step of the body of a look-around."""
        if self._in_look_around:
            raise PatternError("has a look-around within a look-around")
        self._in_look_around = True
        try:
            end = self._program.add(Done())
            return self._sequence(body, end), end
        finally:
            self._in_look_around = False

    def _position(self, at: Operand, target: int) -> int:
        """The starts and ends of text, line and word, as look-arounds."""
        anything, line_end = [(sre.IN, [(sre.RANGE, (0, _LAST))])], [(sre.LITERAL, _LINE_FEED)]
        in_line = [(sre.NOT_LITERAL, _LINE_FEED)]
        multiline = bool(self._flags & re.MULTILINE)
        if at in (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING):
            before = in_line if multiline and at is sre.AT_BEGINNING else anything
            return self._behind_body(before, 1, True, target)
        if at is sre.AT_END and multiline:
            return self._ahead(in_line, True, target)
        if at is sre.AT_END:
            more = [(sre.BRANCH, (None, [in_line, [*line_end, *anything]]))]
            return self._ahead(more, True, target)
        if at is sre.AT_END_STRING:
            return self._ahead(anything, True, target)
        if at in (sre.AT_BOUNDARY, sre.AT_NON_BOUNDARY):
            word = [(sre.IN, _WORD)]
            differs = at is sre.AT_BOUNDARY
            ways = [
                self._behind_body(word, 1, False, self._ahead(word, differs, target)),
                self._behind_body(word, 1, True, self._ahead(word, not differs, target)),
            ]
            return self._program.add(Split(tuple(ways)))
        raise PatternError(f"uses {str(at).lower()}")

    def _characters(self, code: Operand, operand: Operand) -> tuple[Range, ...]:
        key = tuple(map(_hashable, operand)) if code is sre.IN else operand
        return _characters(code, key, self._flags & (re.IGNORECASE | re.DOTALL | re.ASCII | re.UNICODE))


def _hashable(item: Operand) -> Operand:
    code, operand = item
    return code, operand


@cache
def _characters(code: Operand, operand: Operand, flags: int) -> tuple[Range, ...]:
    """The characters that one item matches, as ascending ranges. Python tries every character."""
    plain = not flags & re.IGNORECASE
    if code is sre.LITERAL and plain:
        return ((operand, operand),)
    if code is sre.IN and plain and (ranges := _listed(operand)) is not None:
        return ranges
    state = sre_parse.State()
    state.flags = flags
    item = (code, list(operand) if code is sre.IN else operand)
    one = sre_parse.SubPattern(state, [item])
    several = sre_parse.SubPattern(state, [(sre.MAX_REPEAT, (1, sre.MAXREPEAT, one))])
    runs = sre_compile.compile(several, flags).finditer(_EVERY)
    return tuple((run.start(), run.end() - 1) for run in runs)


def _listed(items: Operand) -> tuple[Range, ...] | None:
    """The characters of a class that lists them, as ascending ranges; None if it names categories."""
    ranges: list[Range] = []
    for code, operand in items:
        if code is sre.LITERAL:
            ranges.append((operand, operand))
        elif code is sre.RANGE:
            ranges.append(operand)
        elif code is not sre.NEGATE:
            return None
    return ascending(ranges, is_negated=bool(items) and items[0][0] is sre.NEGATE)


__all__ = ["PatternCompiler", "PatternError", "ProgramTooLargeError", "sre"]
