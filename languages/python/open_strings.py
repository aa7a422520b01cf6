"""Finds the f-strings that may be open at a cursor, from the text after it.

A bracket, field or string that the text closes without having opened it was opened before the cursor. The
part around that is unknown, so every possibility is tried, and those with which the text is invalid are
dropped. A string may be in ordinary code or in a field of another string. A field may be in the text of a
string of any style, or in one of its format specifications.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from fimlsp.languages.python.mode_stack import (
    DEBUG_FIELD,
    F_STRING_STYLES,
    OPENING,
    QUOTES,
    SOME_BRACKET,
    FieldRules,
    PythonModes,
    outer_part,
    sealed_by,
    unknown_bottom,
)
from fimlsp.lexing.interruption import EVERY, checkpoint
from fimlsp.lexing.lexer_tables import longest_match
from fimlsp.lexing.nesting import ModeStack, has_none
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
    """Reads the *text* after a cursor in f-strings of *styles*, from each offset once per mode stack."""

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
        """The mode stacks in f-strings around the cursor that are possible, as unknown bottoms."""
        if not self.styles:
            return []
        shapes = [f"{part}:{style}" for style in self.styles for part in ("text", "spec", "respec")]
        bottoms = self._bottoms(self.cursor, *shapes, _FIELD, _PLAIN, _TAIL, SOME_BRACKET)
        return [modes for modes in bottoms if not self._is_dead_text(modes)]

    def _is_dead_text(self, modes: PythonModes) -> bool:
        """True if the text in *modes* is invalid after any lexeme that starts before the cursor."""
        if modes.mode != modes.shape or self._starts_with_quote(modes.shape):
            return False
        plain = _plain_text(modes.shape).match(self.data, self.cursor)
        if plain is None or plain.end() - self.cursor < _LONGEST_ESCAPE:
            return False
        in_name = self.data[plain.end() : plain.end() + 1] == b"}"
        return not in_name and not self._from(modes, self.cursor)

    def tails(self, place: ModeStack, kind: int | None, position: int) -> list[StringTail]:
        """The ways to read on from *position*, after a lexeme of *kind* (if any) that started in *place*."""
        assert isinstance(place, PythonModes)
        if place.in_code and kind not in self.lexical.mode_changers:
            return [StringTail((), position, ())]
        if kind is None:
            tails = self._from(place, position)
        else:
            tails = [*self._after(place, kind, self.cursor, position)]
        own = place.opened if place.shape != SOME_BRACKET else ()
        return [
            tail
            if tail.opened[:1] == (DEBUG_FIELD,)
            else StringTail(tail.kinds, tail.end, (*own, *tail.opened[len(own) :]))
            for tail in tails
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
        """As `_from`. Recursive only where the text closes a part that it did not open."""
        lexical = self.lexical
        kinds: list[int] = []
        brackets: list[str] = []
        while not modes.in_code:
            if len(kinds) % EVERY == EVERY - 1:
                checkpoint()
            start, position = position, self._skip_text(modes, position, kinds)
            match = longest_match(lexical, lexical.dfa.starts[modes.mode], self.data, position)
            if match is None or not self._put(kinds, match[0]):
                return
            kind, end = match
            if not modes.permits(self.data[start:end]):
                return
            if kind in lexical.mode_changers:
                lexeme = lexical.kinds[kind]
                if modes.shape == SOME_BRACKET and lexeme in OPENING:
                    brackets.append(OPENING[lexeme])
                    outside = self._bottoms(end, _FIELD, _PLAIN, undecodable=modes.undecodable)
                    tails = (tail for outer in outside for tail in self._from(outer, end, level))
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
        """Append *kind* to *kinds*. Returns True if it may follow. Adjacent texts are one grammar symbol."""
        if kind not in self.lexical.skipped and (kind != self._text or kinds[-1:] != [kind]):
            kinds.append(kind)
        return self._may_stand(kinds[-2:])

    def _continued(
        self, kinds: list[int], brackets: list[str], tails: Iterable[StringTail]
    ) -> Iterator[StringTail]:
        """The *tails*, each after the *kinds* and *brackets* read before it."""
        for tail in tails:
            if self._may_stand([*kinds[-1:], *tail.kinds[:1]]):
                yield StringTail((*kinds, *tail.kinds), tail.end, (*brackets, *tail.opened))

    def _may_stand(self, kinds: list[int]) -> bool:
        """True if *kinds*, at most two, may be adjacent."""
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
                    self.rules, f"field:{style}", undecodable=modes.undecodable, is_debug=modes.is_debug
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
            for outer in self._around(modes, lexeme, position, end, level):
                for tail in self._from(outer, end, level):
                    yield StringTail(tail.kinds, tail.end, (*closed, *tail.opened))

    def _closed_below(self, modes: PythonModes, lexeme: str) -> tuple[str, ...]:
        """The parts opened before the cursor that *lexeme* closes; empty if it cannot close any."""
        if modes.parent is not None:  # a format specification of a field at the bottom
            at_bottom = modes.parent.parent is None and lexeme == "FIELD_CLOSE"
            is_of_field = at_bottom and modes.parent.shape.startswith(("field", "plain"))
            return (DEBUG_FIELD if modes.parent.is_debug else "field",) if is_of_field else ()
        part = outer_part(modes.shape)
        if lexeme == "FSTRING_END" and part.startswith("text:"):
            return (part,)
        if lexeme == "FIELD_CLOSE" and part in ("field", "spec", "tail"):
            if part == "field":
                return (DEBUG_FIELD if modes.is_debug else part,)
            return (part, "field")
        return (OPENING[lexeme],) if part == SOME_BRACKET and lexeme in OPENING else ()

    def _around(
        self, modes: PythonModes, lexeme: str, position: int, end: int, level: int
    ) -> Iterator[PythonModes]:
        """The possible mode stacks outside the part that *lexeme* closes."""
        if lexeme == "FSTRING_END":
            yield unknown_bottom(self.rules)
        if lexeme != "FIELD_CLOSE":
            yield from self._bottoms(end, _FIELD, _PLAIN, SOME_BRACKET, undecodable=modes.undecodable)
            return
        part, _, style = modes.shape.partition(":")
        field = part
        if part in ("spec", "respec", "tail"):
            field = modes.parent.shape.partition(":")[0] if modes.parent else ""
        if field == "plain" or (not field and part == "tail"):
            yield from self._bottoms(end, f"tail:{style}", undecodable=modes.undecodable)
        if field == "plain":
            return
        field_modes = modes.parent or modes
        is_undecodable = field_modes.is_debug and field_modes.undecodable
        spec = "respec" if self.rules.reopens else "spec"
        for outer in (style,) if style else self.styles:
            if part != "field" or self._is_unsealed(outer, position):
                specs = (f"{spec}:{outer}",) if level < self.rules.deepest else ()
                texts = () if is_undecodable and not outer.startswith("r") else (f"text:{outer}",)
                yield from self._bottoms(end, *texts, *specs, undecodable=modes.undecodable)

    def _bottoms(self, position: int, *shapes: str, undecodable: bool = False) -> Iterator[PythonModes]:
        """The unknown bottoms of *shapes* that exist in this version and may be closed after *position*."""
        for shape in shapes:
            modes = unknown_bottom(self.rules, shape, undecodable=undecodable)
            if modes.mode in self.lexical.dfa.starts and self._may_close(shape, position):
                yield modes

    def _may_close(self, shape: str, position: int) -> bool:
        """True if delimiters that close *shape* occur after *position*."""
        part, _, style = shape.partition(":")
        if part == "text":
            if position == self.cursor and self._starts_with_quote(shape):
                return True
            quote = style.removeprefix("r").encode()
            after_escape = (0, 1, 2) if position == self.cursor else (0,)
            return any(_reaches_end(quote)(self.data, position + size) for size in after_escape)
        brace = self.data.find(b"}", position)
        if brace < 0:
            return False
        end = self.cursor if part in ("spec", "respec", "tail") else self._first_end(position, brace)
        styles = (style,) if style else self.styles
        fitting = [known.removeprefix("r").encode() for known in styles if self._is_unsealed(known, end)]
        return any(self.data.find(quote, brace) >= 0 for quote in fitting)

    def _first_end(self, position: int, brace: int) -> int:
        """The earliest end of the code of the field around *position*; *brace* is the next closing brace."""
        colon = self.data.find(b":", position, brace)
        return brace if colon < 0 else colon

    def _starts_with_quote(self, shape: str) -> bool:
        """True if a quote of *shape* is right after the cursor, as closing quotes may straddle the cursor."""
        quote = shape.partition(":")[2].removeprefix("r").encode()
        return self.data.startswith(quote[:1], self.cursor)

    def _is_unsealed(self, style: str, end: int) -> bool:
        """True if a field of a string of this *style* may contain the text from the cursor to *end*."""
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
def _reaches_end(quote: bytes) -> Callable[[bytes, int], bool]:
    """A function: True if an f-string text with *quote* reaches its end, or a field, from an offset."""
    if len(quote) == 3:
        return lambda data, position: data.find(quote, position) >= 0
    pattern = re.compile(rb"(?:[^\\\r\n{%s]|\\(?:\r\n|[^{])|\\(?=\{))*[{%s]" % (quote, quote), re.DOTALL)
    return lambda data, position: pattern.match(data, position) is not None


_ESCAPED = (b"'", b'"', b"\\", b"\r", b"\n")
"""The bytes that mean something else after a backslash, in the text of a string."""


def styles_at(text: TextAfterCursor, rules: FieldRules) -> tuple[str, ...]:
    """The possible styles of f-strings around the cursor, and of those that may enclose them."""
    styles = tuple(s for s in F_STRING_STYLES if text.kept is None or f"text:{s}" in text.kept)
    if not styles or not rules.sealed:
        return styles
    ends = {quote: _string_ends(text.data, text.cursor, quote) for quote in QUOTES}
    quotes: list[str] = []
    for quote in sorted(QUOTES, key=lambda quote: -max(ends[quote], default=0)):
        in_other = any(max(ends[other]) > min(ends[quote], default=0) for other in quotes)
        if in_other or any(text.is_rest_of_line(end) for end in ends[quote]):
            quotes += [quote] * bool(ends[quote])
    return tuple(style for style in styles if style.removeprefix("r") in quotes)


def _string_ends(data: bytes, cursor: int, quote: str) -> list[int]:
    """The possible ends of a sealed string with *quote* that is open at *cursor*."""
    escaped = [0]
    if data[cursor : cursor + 1] in _ESCAPED:  # a backslash before the cursor may escape this
        escaped.append(2 if data.startswith(b"\r\n", cursor) else 1)
    ends = {_closing_quote(data, cursor + size, quote) for size in escaped} - {None}
    if len(quote) == 3:  # the closing quotes may straddle the cursor
        ends |= {cursor + k for k in (1, 2) if data.startswith(quote[:k].encode(), cursor)}
    return [end for end in ends if end is not None]


def _closing_quote(data: bytes, cursor: int, quote: str) -> int | None:
    """The end of an f-string with *quote* that is open at *cursor*; None if it has none."""
    plain = quote.removeprefix("r").encode()
    if len(plain) == 1:
        match = _ON_ONE_LINE[plain].match(data, cursor)
        return match.end() if match else None
    start = data.find(plain, cursor)
    while start >= 0:
        checkpoint()
        if _n_backslashes(data, cursor, start) % 2 == 0:
            return start + len(plain)
        start = data.find(plain, start + 1)
    return None


def _n_backslashes(data: bytes, first: int, end: int) -> int:
    """The number of backslashes at the end of `data[first:end]`."""
    start = end
    while start > first and data.startswith(b"\\", start - 1):
        start -= 1
    return end - start


_ON_ONE_LINE = {
    quote: re.compile(rb"(?:[^\\\r\n%s]|\\(?:\r\n|.))*%s" % (quote, quote), re.DOTALL)
    for quote in (b"'", b'"')
}
