"""Python's regular expressions as programs of `lexing.automata.program`.

Python's own parser reads them, and Python's own matcher lists the characters of a class. So the meaning
of flags and classes is defined in one place.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, TypeAlias

from fimlsp.lexing.automata.leftmost_first import (
    Again,
    Ahead,
    Behind,
    Bytes,
    Done,
    LookBehind,
    Program,
    ProgramTooLargeError,
    Split,
)
from fimlsp.lexing.automata.regex import Range, ascending
from fimlsp.lexing.automata.whole_texts import first_bytes

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
    sre.GROUPREF_EXISTS: "depends on a group",
    getattr(sre, "ATOMIC_GROUP", None): "has an atomic group",
    getattr(sre, "POSSESSIVE_REPEAT", None): "has a possessive repetition",
}
_MOST_COPIES = 2_000
_MOST_TEXTS = 64
"""Texts of a group to which an expression refers back."""
_MOST_STEPS_OF_GROUP = 20_000
_ALPHABETS = re.ASCII | re.UNICODE


class PatternError(ValueError):
    """An expression that no automaton can decide; the message is a predicate: 'depends on a group'."""

    def __init__(self, message: str, remedy: str = "write it without that") -> None:
        super().__init__(message)
        self.remedy = remedy


Listed = Callable[[str], tuple[str, ...] | None]
"""The texts to which a named group is restricted; None if it is not."""


class PatternCompiler:
    """Compiles expressions into *program*.

    A reference back to a group is a choice: the rest of the expression is compiled once for each text of the
    group. If these have no end, *listed* restricts them. In expressions that are parts of a larger one,
    where numbers of groups differ, only names of groups refer back.
    """

    def __init__(self, program: Program, listed: Listed = lambda _: None, *, are_parts: bool = False) -> None:
        self._program = program
        self._listed = listed
        self._are_parts = are_parts
        self._flags = 0
        self._in_look_around = False
        self._referenced: dict[int, str] = {}
        self._bound: dict[int, str] = {}

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
        names = {number: name for name, number in parsed.state.groupdict.items()}
        self._referenced = {number: names.get(number, "") for number in _references(parsed)}
        if self._are_parts and "" in self._referenced.values():
            raise PatternError(
                "refers back to a group by its number, which Lark counts over all terminals",
                "name the group: (?P<NAME>…) and (?P=NAME)",
            )
        return self._sequence(parsed, target)

    def literal(self, text: str, *, any_case: bool, target: int) -> int:
        """The first step of *text*, taken literally."""
        self._flags = re.UNICODE | (re.IGNORECASE if any_case else 0)
        return self._sequence(_literals(text), target)

    def _sequence(self, items: Items, target: int) -> int:
        listed = list(items)
        for at, (code, operand) in enumerate(listed):
            if code is sre.SUBPATTERN and operand[0] in self._referenced:
                target = self._repeated_later(operand, listed[at + 1 :], target)
                listed = listed[:at]
                break
        for code, operand in reversed(listed):
            target = self._item(code, operand, target)
        return target

    def _repeated_later(self, group: Operand, rest: Items, target: int) -> int:
        """The *group* and the *rest* of its sequence, which refers back to it: a choice of its texts."""
        number, *_, body = group
        texts = self._texts([(sre.SUBPATTERN, group)])
        restricted = texts is None
        if texts is None:
            texts = self._listed_texts(self._referenced[number], body)
        ways: list[int] = []
        for text in texts:
            outside = self._bound
            self._bound = {**outside, number: text}
            follows = self._sequence(rest, target)
            self._bound = outside
            if restricted and first_bytes(self._program, follows) & self._bytes_of(body):
                raise PatternError(
                    "refers back to a group whose texts may go on with the text after it",
                    "let a delimiter follow the group",
                )
            ways.append(self._sequence(_literals(text), follows))
        return self._program.choice(ways)

    def _listed_texts(self, name: str, body: Operand) -> list[str]:
        """The texts to which the group *name* is restricted, so that a longer one is tried first."""
        listed = self._listed(name) if name else None
        if listed is None:
            how = f'list the usual ones in a comment, such as // {name or "NAME"} = ["EOF", "EOT"]'
            raise PatternError(
                "refers back to a group that has texts without end",
                how if name else f"name the group, (?P<NAME>…) and (?P=NAME), and {how}",
            )
        own = sre_compile.compile(sre_parse.SubPattern(body.state, list(body)), self._flags)
        for text in listed:
            found = own.match(text)
            if found is None or found.group() != text:
                raise PatternError(
                    f"has a group {name} that does not match the listed {text!r}", "list others"
                )
        return sorted(listed, key=len, reverse=True)

    def _bytes_of(self, body: Items) -> int:
        """The bytes that texts of *body* may have, as a bit set."""
        program = Program(_MOST_STEPS_OF_GROUP)
        compiler = PatternCompiler(program)
        compiler._flags = self._flags
        compiler._sequence(body, program.add(Done()))
        return sum({1 << byte for step in program.steps if isinstance(step, Bytes) for byte in step.table})

    def _texts(self, items: Items) -> list[str] | None:
        """The texts that *items* match, in the order in which a matcher tries them; None if they are many."""
        found = [""]
        for code, operand in items:
            own = self._texts_of(code, operand)
            if own is None or len(found) * len(own) > _MOST_TEXTS:
                return None
            found = [one + other for one in found for other in own]
        return found

    def _texts_of(self, code: Operand, operand: Operand) -> list[str] | None:
        if code in (sre.LITERAL, sre.IN):
            ranges = self._characters(code, operand)
            if sum(last - first + 1 for first, last in ranges) > _MOST_TEXTS:
                return None
            return [chr(point) for first, last in ranges for point in range(first, last + 1)]
        if code is sre.BRANCH:
            ways = [self._texts(branch) for branch in operand[1]]
            return None if None in ways else [text for way in ways for text in way or ()]
        if code is sre.SUBPATTERN and not (operand[1] or operand[2]):
            return self._texts(operand[3])
        if code in (sre.MAX_REPEAT, sre.MIN_REPEAT) and operand[1] <= _MOST_TEXTS:
            least, most, body = operand
            found = [""]
            for count in range(int(most), 0, -1):
                more = self._texts(body)
                if more is None or len(more) * len(found) > _MOST_TEXTS:
                    return None
                longer = [one + other for one in more for other in found]
                stop = [] if count <= least else [""]
                found = [*longer, *stop] if code is sre.MAX_REPEAT else [*stop, *longer]
            return found
        return None

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
        if code is sre.GROUPREF:
            if operand not in self._bound:
                raise PatternError("refers back to a group of another branch or repetition")
            return self._sequence(_literals(self._bound[operand]), target)
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


def _literals(text: str) -> Items:
    return [(sre.LITERAL, ord(character)) for character in text]


def _references(items: Operand) -> Iterator[int]:
    """The groups that *items* refer back to."""
    waiting: list[Operand] = [items]
    while waiting:
        one = waiting.pop()
        if isinstance(one, tuple) and one and one[0] is sre.GROUPREF:
            yield one[1]
        elif isinstance(one, (tuple, list)) or hasattr(one, "data"):
            waiting += list(one)


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
