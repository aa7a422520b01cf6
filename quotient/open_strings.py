"""F-strings that are open at a cursor, as far as the text after it tells.

What is closed after the cursor without being opened there was opened before: a bracket in a field, a field, a
string. What that was in turn opened in is not known, so each place that may lie around it is tried, and those
where the text does not go on validly are dropped: a string may stand in ordinary code, or in a field of
another string; a field in the text of a string of any style, or in one of its format specifications.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from fimlsp.lexing.munching import longest_lexeme
from fimlsp.lexing.nesting import SOME_BRACKET, Nesting, outer_part, sealed_by, unknown_bottom
from fimlsp.quotient.language import Language

_FIELD, _PLAIN, _TAIL = "field:", "plain:", "tail:"  # of a string of any style
_OPENERS = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Rest:
    """One reading of the text after a cursor up to ordinary code.

    `kinds` are its lexemes, `end` is where code begins, `opened` what it closes (as `Nesting.opened`).
    """

    kinds: tuple[int, ...]
    end: int
    opened: tuple[str, ...]


class OpenStrings:
    """Reads the text after one cursor in strings of *styles*; each place of it once."""

    def __init__(self, language: Language, data: bytes, cursor: int, styles: Iterable[str]) -> None:
        self.language = language
        self.lexicon = language.lexicon
        self.data = data
        self.cursor = cursor
        self.styles = tuple(styles)
        self._rests: dict[tuple[Nesting, int], list[Rest]] = {}

    def places(self) -> list[Nesting]:
        """The places in f-strings where the cursor may be, as unknown bottoms."""
        if not self.styles:
            return []
        shapes = [f"{part}:{style}" for style in self.styles for part in ("text", "spec", "respec")]
        return list(self._bottoms(self.cursor, *shapes, _FIELD, _PLAIN, _TAIL, SOME_BRACKET))

    def rests(self, place: Nesting, kind: int | None, position: int) -> list[Rest]:
        """The readings from *position* on, after a lexeme of *kind* that was begun inside *place*, if any."""
        at_cursor = self.cursor
        found = self._from(place, position) if kind is None else self._after(place, kind, at_cursor, position)
        own = place.opened if place.shape != SOME_BRACKET else ()
        return [Rest(rest.kinds, rest.end, (*own, *rest.opened[len(own) :])) for rest in found]

    def _from(self, nesting: Nesting, position: int) -> list[Rest]:
        """The readings from *position* on."""
        key = nesting, position
        if key not in self._rests:
            self._rests[key] = self._read(nesting, position)
        return self._rests[key]

    def _read(self, nesting: Nesting, position: int) -> list[Rest]:
        lexicon = self.lexicon
        kinds: list[int] = []
        while not nesting.in_code:
            found = longest_lexeme(lexicon, lexicon.dfa.starts[nesting.mode], self.data, position)
            if found is None:
                return []
            kind, end = found
            if kind not in lexicon.skipped:
                kinds.append(kind)
                if not self._may_stand(kinds[-2:]):
                    return []
            if kind in lexicon.nesting:
                return [
                    Rest((*kinds, *rest.kinds), rest.end, rest.opened)
                    for rest in self._after(nesting, kind, position, end)
                    if self._may_stand([*kinds[-1:], *rest.kinds[:1]])
                ]
            position = end
        return [Rest((), position, ())]

    def _may_stand(self, kinds: list[int]) -> bool:
        """Whether *kinds*, at most two, may stand beside each other."""
        terminals = self.language.terminals(kinds)
        return -1 not in terminals and (len(kinds) < 2 or terminals in self.language.neighbours)

    def _after(self, nesting: Nesting, kind: int, position: int, end: int) -> Iterator[Rest]:
        """The readings from *end* on, after a lexeme of *kind* at *position*."""
        if kind not in self.lexicon.nesting:
            yield from self._from(nesting, end)
            return
        lexeme = self.lexicon.kinds[kind]
        if nesting.parent is None and nesting.shape == _FIELD and lexeme == "FIELD_COLON":
            for style in self.styles:
                inside = unknown_bottom(self.lexicon.rules, f"field:{style}").push(f"spec:{style}")
                if inside is not None and self._is_unsealed(style, position):
                    yield from self._from(inside, end)
            return
        if nesting.parent is None and lexeme == "SPEC_NL":
            style = nesting.shape.partition(":")[2]
            inside = unknown_bottom(self.lexicon.rules, f"field:{style}").push(f"tail:{style}")
            assert inside is not None
            yield from (Rest(r.kinds, r.end, ("spec", *r.opened)) for r in self._from(inside, end))
            return
        inside = nesting.after(lexeme)
        if inside is not None:
            yield from self._from(inside, end)
            return
        closed = self._closed_below(nesting, lexeme)
        for place in self._around(nesting, lexeme, position, end) if closed else ():
            for rest in self._from(place, end):
                opened = (*closed, *rest.opened)
                if self._is_shallow(opened):
                    yield Rest(rest.kinds, rest.end, opened)

    def _closed_below(self, nesting: Nesting, lexeme: str) -> tuple[str, ...]:
        """What *lexeme* closes that the text after the cursor has not opened; nothing if it cannot."""
        if nesting.parent is not None:  # a format specification, of a field that is at the bottom
            at_bottom = nesting.parent.parent is None and lexeme == "FIELD_CLOSE"
            return ("field",) if at_bottom and nesting.parent.shape.startswith(("field", "plain")) else ()
        part = outer_part(nesting.shape)
        if lexeme == "FSTRING_END" and part.startswith("text:"):
            return (part,)
        if lexeme == "FIELD_CLOSE" and part in ("field", "spec", "tail"):
            return (part,) if part == "field" else (part, "field")
        return (_OPENERS[lexeme],) if part == SOME_BRACKET and lexeme in _OPENERS else ()

    def _around(self, nesting: Nesting, lexeme: str, position: int, end: int) -> Iterator[Nesting]:
        """What may lie around that which *lexeme* closes."""
        if lexeme == "FSTRING_END":
            yield self.lexicon.unknown
        if lexeme != "FIELD_CLOSE":
            yield from self._bottoms(end, _FIELD, _PLAIN, SOME_BRACKET)
            return
        part, _, style = nesting.shape.partition(":")
        field = part
        if part in ("spec", "respec", "tail"):
            field = nesting.parent.shape.partition(":")[0] if nesting.parent else ""
        if field == "plain" or (not field and part == "tail"):
            yield from self._bottoms(end, f"tail:{style}")
        if field == "plain":
            return
        spec = "respec" if self.lexicon.rules.reopens else "spec"
        for each in (style,) if style else self.styles:
            if part != "field" or self._is_unsealed(each, position):
                yield from self._bottoms(end, f"text:{each}", f"{spec}:{each}")

    def _bottoms(self, position: int, *shapes: str) -> Iterator[Nesting]:
        """The places of those *shapes* that the language has and that may be closed after *position*."""
        for shape in shapes:
            place = unknown_bottom(self.lexicon.rules, shape)
            if place.mode in self.lexicon.dfa.starts and self._may_close(shape, position):
                yield place

    def _may_close(self, shape: str, position: int) -> bool:
        """Whether the marks that close *shape* are there after *position*."""
        part, _, style = shape.partition(":")
        if part == "text":
            quote = style.removeprefix("r").encode()
            if position == self.cursor and self.data.startswith(quote[:1], position):
                return True  # closing quotes may straddle the cursor
            after_escape = (0, 1, 2) if position == self.cursor else (0,)
            return any(_goes_on(quote)(self.data, position + taken) for taken in after_escape)
        brace = self.data.find(b"}", position)
        quotes = {each.removeprefix("r") for each in ((style,) if style else self.styles)}
        return brace >= 0 and any(self.data.find(quote.encode(), brace) >= 0 for quote in quotes)

    def _is_unsealed(self, style: str, end: int) -> bool:
        """Whether a field of a string of *style* may contain the text from the cursor to *end*."""
        if not self.lexicon.rules.sealed:
            return True
        inside = self.data[self.cursor : end]
        forbidden, triples = sealed_by(style)
        return forbidden.isdisjoint(inside) and not any(bytes([quote] * 3) in inside for quote in triples)

    def _is_shallow(self, opened: tuple[str, ...]) -> bool:
        """Whether no more fields stand in each other's format specifications than may."""
        parts = opened[: next((i for i, part in enumerate(opened) if part.startswith("text:")), len(opened))]
        return parts.count("field") <= self.lexicon.rules.deepest or "tail" in parts


@lru_cache(maxsize=8)
def _goes_on(quote: bytes) -> Callable[[bytes, int], bool]:
    """Tells whether the text of an f-string with *quote* goes on to its end or a field, after a position."""
    if len(quote) == 3:
        return lambda data, position: data.find(quote, position) >= 0
    pattern = re.compile(rb"(?:[^\\\r\n{%s]|\\(?:\r\n|[^{])|\\(?=\{))*[{%s]" % (quote, quote), re.DOTALL)
    return lambda data, position: pattern.match(data, position) is not None
