"""Finds the f-strings that may be open at a cursor, from the text after it.

What that text closes without having opened it was opened before the cursor: a bracket in a field, a field, a
string. What encloses that in turn is unknown, so every possibility is tried, and those with which the text is
invalid are dropped. A string may be in ordinary code or in a field of another string. A field may be in the
text of a string of any style, or in one of its format specifications.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from fimlsp.languages.python.fstrings.mode_stack import (
    OPENING,
    SOME_BRACKET,
    TOLD,
    FieldRules,
    PythonModes,
    outer_part,
    sealed_by,
    unknown_bottom,
)
from fimlsp.lexing.interruption import EVERY, checkpoint
from fimlsp.lexing.longest_match import longest_match
from fimlsp.lexing.modes import ModeStack, has_none
from fimlsp.quotient.language.contract import OpenModes, StringTail, TextAfterCursor

_FIELD, _PLAIN, _TAIL = "field:", "plain:", "tail:"  # in a string of unknown style
_LONGEST_ESCAPE = len(rb"\U0010ffff")
_DEEPEST_GUESS = 50
_BEYOND_ASCII = (
    rb"[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]"
    rb"|\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}"
)
"""One character in well-formed UTF-8 (Unicode 15, table 3-7)."""


class OpenStrings(OpenModes):
    """Reads the *text* after a cursor in f-strings of *styles*; each offset once per mode stack."""

    def __init__(self, text: TextAfterCursor, rules: FieldRules, styles: Iterable[str]) -> None:
        self.lexical = text.lexical
        self.rules = rules
        self.data = text.data
        self.cursor = text.cursor
        self.styles = tuple(styles)
        self._may_follow = text.may_follow
        self._text = self.lexical.kinds.index("FSTRING_TEXT")
        self._depth = 0
        self._tails: dict[tuple[PythonModes, int, int], list[StringTail]] = {}

    def places(self) -> list[ModeStack]:
        """The mode stacks in f-strings that the cursor may be in, as unknown bottoms."""
        if not self.styles:
            return []
        shapes = [f"{part}:{style}" for style in self.styles for part in ("text", "spec", "respec")]
        places = self._bottoms(self.cursor, *shapes, _FIELD, _PLAIN, _TAIL, SOME_BRACKET)
        return [place for place in places if not self._is_dead_text(place)]

    def _is_dead_text(self, place: PythonModes) -> bool:
        """Whether the text at *place* is invalid whatever lexeme begins before the cursor."""
        if place.mode != place.shape or self._begins_with_quote(place.shape):
            return False
        plain = _plain_text(place.shape).match(self.data, self.cursor)
        if plain is None or plain.end() - self.cursor < _LONGEST_ESCAPE:
            return False
        in_name = self.data[plain.end() : plain.end() + 1] == b"}"
        return not in_name and not self._from(place, self.cursor)

    def tails(self, place: ModeStack, kind: int | None, position: int) -> list[StringTail]:
        """The ways to read on from *position*, after a lexeme of *kind* (if any) begun inside *place*."""
        assert isinstance(place, PythonModes)
        if place.in_code and kind not in self.lexical.mode_changers:
            return [StringTail((), position, ())]
        at_cursor = self.cursor
        found = self._from(place, position) if kind is None else self._after(place, kind, at_cursor, position)
        own = place.opened if place.shape != SOME_BRACKET else ()
        return [
            tail
            if tail.opened[:1] == (TOLD,)
            else StringTail(tail.kinds, tail.end, (*own, *tail.opened[len(own) :]))
            for tail in found
        ]

    def _from(self, modes: PythonModes, position: int, level: int = 0) -> list[StringTail]:
        """The ways to read on from *position*; *level* fields of the outermost string were closed before.

        Cached.
        """
        key = modes, position, level
        if key not in self._tails:
            self._tails[key] = []  # in case the recursion gets too deep
            if self._depth < _DEEPEST_GUESS:
                self._depth += 1
                self._tails[key] = list(self._read(modes, position, level))
                self._depth -= 1
        return self._tails[key]

    def _read(self, modes: PythonModes, position: int, level: int) -> Iterator[StringTail]:
        """As `_from`. Recursive only where the text closes something that it did not open."""
        lexical = self.lexical
        kinds: list[int] = []
        brackets: list[str] = []
        while not modes.in_code:
            if len(kinds) % EVERY == EVERY - 1:
                checkpoint()
            begin, position = position, self._skip_text(modes, position, kinds)
            found = longest_match(lexical, lexical.dfa.starts[modes.mode], self.data, position)
            if found is None or not self._put(kinds, found[0]):
                return
            if not modes.permits(self.data[begin : found[1]]):
                return
            kind, end = found
            if kind in lexical.mode_changers:
                lexeme = lexical.kinds[kind]
                if modes.shape == SOME_BRACKET and lexeme in OPENING:
                    brackets.append(OPENING[lexeme])
                    outside = self._bottoms(end, _FIELD, _PLAIN, spoilt=modes.spoilt)
                    tails = (tail for place in outside for tail in self._from(place, end, level))
                    yield from self._continued(kinds, brackets, tails)
                else:
                    of_any_style = modes.shape == _FIELD and lexeme == "FIELD_COLON"
                    following = None if of_any_style else modes.after(lexeme)
                    if following is None:
                        after = self._after(modes, kind, position, end, level)
                        yield from self._continued(kinds, brackets, after)
                        return
                    modes = following
            position = end
        yield StringTail(tuple(kinds), position, tuple(brackets))

    def _skip_text(self, modes: PythonModes, position: int, kinds: list[int]) -> int:
        """The end of the plain text at *position*, which is added to *kinds* as one lexeme."""
        if modes.mode != modes.shape:
            return position
        plain = _plain_text(modes.shape).match(self.data, position)
        if plain is None:
            return position
        self._put(kinds, self._text)
        return plain.end()

    def _put(self, kinds: list[int], kind: int) -> bool:
        """Append *kind* to *kinds*; whether it may follow. Adjacent texts are one symbol to the grammar."""
        if kind not in self.lexical.skipped and (kind != self._text or kinds[-1:] != [kind]):
            kinds.append(kind)
        return self._may_stand(kinds[-2:])

    def _continued(
        self, kinds: list[int], brackets: list[str], tails: Iterable[StringTail]
    ) -> Iterator[StringTail]:
        """The *tails*, each preceded by what was read before it."""
        for tail in tails:
            if self._may_stand([*kinds[-1:], *tail.kinds[:1]]):
                yield StringTail((*kinds, *tail.kinds), tail.end, (*brackets, *tail.opened))

    def _may_stand(self, kinds: list[int]) -> bool:
        """Whether *kinds*, at most two, may be adjacent."""
        return self.lexical.bad not in kinds and self._may_follow(kinds)

    def _after(
        self, modes: PythonModes, kind: int, position: int, end: int, level: int = 0
    ) -> Iterator[StringTail]:
        """The ways to read on from *end*, after a lexeme of *kind* at *position*."""
        if kind not in self.lexical.mode_changers:
            yield from self._from(modes, end, level)
            return
        lexeme = self.lexical.kinds[kind]
        if modes.parent is None and modes.shape == _FIELD and lexeme == "FIELD_COLON":
            for style in self.styles:
                inside = unknown_bottom(
                    self.rules, f"field:{style}", spoilt=modes.spoilt, told=modes.told
                ).push(f"spec:{style}")
                if inside is not None and self._is_unsealed(style, position):
                    yield from self._from(inside, end, level)
            return
        if modes.parent is None and lexeme == "SPEC_NL":
            style = modes.shape.partition(":")[2]
            inside = unknown_bottom(self.rules, f"field:{style}").push(f"tail:{style}")
            assert inside is not None
            yield from (
                StringTail(tail.kinds, tail.end, ("spec", *tail.opened))
                for tail in self._from(inside, end, level)
            )
            return
        inside = modes.after(lexeme)
        if inside is not None:
            yield from self._from(inside, end, level)
            return
        closed = self._closed_below(modes, lexeme)
        if closed:
            level = 0 if lexeme == "FSTRING_END" else level + (lexeme == "FIELD_CLOSE")
            for place in self._around(modes, lexeme, position, end, level):
                for tail in self._from(place, end, level):
                    yield StringTail(tail.kinds, tail.end, (*closed, *tail.opened))

    def _closed_below(self, modes: PythonModes, lexeme: str) -> tuple[str, ...]:
        """What *lexeme* closes that was opened before the cursor; nothing if it cannot close anything."""
        if modes.parent is not None:  # a format specification of a field at the bottom
            at_bottom = modes.parent.parent is None and lexeme == "FIELD_CLOSE"
            is_of_field = at_bottom and modes.parent.shape.startswith(("field", "plain"))
            return (TOLD if modes.parent.told else "field",) if is_of_field else ()
        part = outer_part(modes.shape)
        if lexeme == "FSTRING_END" and part.startswith("text:"):
            return (part,)
        if lexeme == "FIELD_CLOSE" and part in ("field", "spec", "tail"):
            if part == "field":
                return (TOLD if modes.told else part,)
            return (part, "field")
        return (OPENING[lexeme],) if part == SOME_BRACKET and lexeme in OPENING else ()

    def _around(
        self, modes: PythonModes, lexeme: str, position: int, end: int, level: int
    ) -> Iterator[PythonModes]:
        """The mode stacks that may be outside what *lexeme* closes."""
        if lexeme == "FSTRING_END":
            yield unknown_bottom(self.rules)
        if lexeme != "FIELD_CLOSE":
            yield from self._bottoms(end, _FIELD, _PLAIN, SOME_BRACKET, spoilt=modes.spoilt)
            return
        part, _, style = modes.shape.partition(":")
        field = part
        if part in ("spec", "respec", "tail"):
            field = modes.parent.shape.partition(":")[0] if modes.parent else ""
        if field == "plain" or (not field and part == "tail"):
            yield from self._bottoms(end, f"tail:{style}", spoilt=modes.spoilt)
        if field == "plain":
            return
        field_modes = modes.parent or modes
        is_undecodable = field_modes.told and field_modes.spoilt
        spec = "respec" if self.rules.reopens else "spec"
        for each in (style,) if style else self.styles:
            if part != "field" or self._is_unsealed(each, position):
                specs = (f"{spec}:{each}",) if level < self.rules.deepest else ()
                texts = () if is_undecodable and not each.startswith("r") else (f"text:{each}",)
                yield from self._bottoms(end, *texts, *specs, spoilt=modes.spoilt)

    def _bottoms(self, position: int, *shapes: str, spoilt: bool = False) -> Iterator[PythonModes]:
        """The unknown bottoms of *shapes* that exist in this version and may be closed after *position*."""
        for shape in shapes:
            place = unknown_bottom(self.rules, shape, spoilt=spoilt)
            if place.mode in self.lexical.dfa.starts and self._may_close(shape, position):
                yield place

    def _may_close(self, shape: str, position: int) -> bool:
        """Whether delimiters that close *shape* occur after *position*."""
        part, _, style = shape.partition(":")
        if part == "text":
            if position == self.cursor and self._begins_with_quote(shape):
                return True
            quote = style.removeprefix("r").encode()
            after_escape = (0, 1, 2) if position == self.cursor else (0,)
            return any(_goes_on(quote)(self.data, position + taken) for taken in after_escape)
        brace = self.data.find(b"}", position)
        if brace < 0:
            return False
        end = self.cursor if part in ("spec", "respec", "tail") else self._first_end(position, brace)
        styles = (style,) if style else self.styles
        fitting = [each.removeprefix("r").encode() for each in styles if self._is_unsealed(each, end)]
        return any(self.data.find(quote, brace) >= 0 for quote in fitting)

    def _first_end(self, position: int, brace: int) -> int:
        """Where the field around *position* may end its code at the earliest; *brace* is the next brace."""
        colon = self.data.find(b":", position, brace)
        return brace if colon < 0 else colon

    def _begins_with_quote(self, shape: str) -> bool:
        """Whether a quote of *shape* is right after the cursor: closing quotes may straddle the cursor."""
        quote = shape.partition(":")[2].removeprefix("r").encode()
        return self.data.startswith(quote[:1], self.cursor)

    def _is_unsealed(self, style: str, end: int) -> bool:
        """Whether a field of a string of this *style* may contain the text from the cursor to *end*."""
        if not self.rules.sealed:
            return True
        return has_none(self.data[self.cursor : end], *sealed_by(style))


@cache
def _plain_text(shape: str) -> re.Pattern[bytes]:
    """A pattern for the text of an f-string up to a brace, an escape, a line end or its closing quotes."""
    quote = shape.partition(":")[2].removeprefix("r").encode()
    if len(quote) == 1:
        return re.compile(rb"(?:[^{}\\\r\n\0%s\x80-\xff]+|%s)+" % (quote, _BEYOND_ASCII))
    ordinary = rb"[^{}\\\0%s\x80-\xff]+|%s" % (quote[:1], _BEYOND_ASCII)
    return re.compile(rb"(?:%s|%s(?!%s))+" % (ordinary, quote[:1], quote[1:]))


@cache
def _goes_on(quote: bytes) -> Callable[[bytes, int], bool]:
    """A function: does the text of an f-string with *quote* reach its end, or a field, from an offset?"""
    if len(quote) == 3:
        return lambda data, position: data.find(quote, position) >= 0
    pattern = re.compile(rb"(?:[^\\\r\n{%s]|\\(?:\r\n|[^{])|\\(?=\{))*[{%s]" % (quote, quote), re.DOTALL)
    return lambda data, position: pattern.match(data, position) is not None
