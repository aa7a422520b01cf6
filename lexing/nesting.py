"""What is open around a byte: brackets, and the parts of f-strings.

A `Nesting` is an immutable stack, innermost first; equal stacks made from one bottom are the same object. It
decides the mode of the DFA, and which bytes an enclosing f-string forbids: up to Python 3.11 a replacement
field may contain neither a backslash nor the quotes of its string, however deep inside.
"""

from __future__ import annotations

from functools import cached_property

_CLOSERS = {")": "(", "]": "[", "}": "{"}
_BRACKETS = frozenset("([{)]}")
_MAX_DEPTH = 200  # CPython's MAXLEVEL
_NO_BYTES: frozenset[int] = frozenset()


_STRING_PARTS = ("FSTRING_END", "FIELD_OPEN", "FIELD_COLON", "FIELD_CLOSE")
SOME_BRACKET = "?"
"""The shape of an open bracket of unknown kind."""


def changes_nesting(lexeme: str) -> bool:
    """Whether a lexeme of kind *lexeme* opens or closes anything."""
    return lexeme in _BRACKETS or lexeme in _STRING_PARTS or lexeme.startswith("FSTRING_START:")


class Nesting:
    """A stack of open brackets and f-string parts.

    `shape` is `"code"` at the bottom, an opening bracket, or `text:Q`, `field:Q`, `spec:Q` where Q is the
    quote of the f-string, preceded by `r` if it is raw. A bottom is `known` when everything left of it has
    been read; at an unknown bottom a closing bracket may belong to something further left.
    """

    __slots__ = ("__dict__", "_children", "depth", "known", "parent", "shape")

    def __init__(self, shape: str = "code", parent: Nesting | None = None, known: bool = True) -> None:
        self.shape = shape
        self.parent = parent
        self.known: bool = known if parent is None else parent.known
        self.depth: int = parent.depth + 1 if parent else 0
        self._children: dict[str, Nesting] = {}

    def __repr__(self) -> str:
        return (
            f"{self.parent!r} {self.shape}" if self.parent else f"Nesting({self.shape}, known={self.known})"
        )

    def push(self, shape: str) -> Nesting | None:
        """This stack with *shape* on top; None when CPython would refuse the depth."""
        if self.depth >= _MAX_DEPTH:
            return None
        child = self._children.get(shape)
        if child is None:
            child = self._children[shape] = Nesting(shape, self)
        return child

    def after(self, lexeme: str) -> Nesting | None:
        """The stack after a lexeme of kind *lexeme*, None when it closes what is not open."""
        if lexeme in "([{":
            return self.push(lexeme)
        if lexeme in _CLOSERS:
            if self.shape in (_CLOSERS[lexeme], SOME_BRACKET):
                return self.parent
            return self if self._is_open_bottom else None
        if lexeme.startswith("FSTRING_START:"):
            return self.push("text:" + lexeme.removeprefix("FSTRING_START:"))
        return self._after_string_part(lexeme)

    def _after_string_part(self, lexeme: str) -> Nesting | None:
        part, _, quote = self.shape.partition(":")
        if lexeme == "FIELD_OPEN":
            return self.push(f"field:{quote}")
        if lexeme == "FIELD_COLON":
            return self.push(f"spec:{quote}")
        if lexeme == "FSTRING_END":
            return self.parent or UNKNOWN
        if lexeme == "FIELD_CLOSE":
            field = (self.parent or _unknown_bottom(f"field:{quote}")) if part == "spec" else self
            return field.parent or _unknown_bottom(f"text:{quote}")
        return self

    @property
    def _is_open_bottom(self) -> bool:
        return self.parent is None and not self.known

    @cached_property
    def mode(self) -> str:
        """The mode of the DFA in which the next lexeme is read."""
        part = self.shape.partition(":")[0]
        if part in ("text", "spec"):
            return self.shape
        if part == "field":
            return "field"
        if self.parent is None:
            return "code"
        return "code" if self.parent.mode == "code" else "nested"

    @cached_property
    def in_code(self) -> bool:
        """Whether no f-string is open, so that the text is ordinary code."""
        return self.mode == "code"

    @cached_property
    def forbidden(self) -> frozenset[int]:
        """Bytes that the enclosing f-strings do not allow here."""
        part, _, quote = self.shape.partition(":")
        outer = self.parent.forbidden if self.parent else _NO_BYTES
        if part == "spec" and self.parent and self.parent.parent:
            return self.parent.parent.forbidden
        if part != "field":
            return outer
        quote = quote.removeprefix("r")
        return outer | {ord("\\")} | (frozenset(f"{quote}\r\n".encode()) if len(quote) == 1 else _NO_BYTES)

    @cached_property
    def triple_quotes(self) -> frozenset[int]:
        """Quote bytes that may not occur three in a row here, as they would end an enclosing f-string."""
        part, _, quote = self.shape.partition(":")
        outer = self.parent.triple_quotes if self.parent else _NO_BYTES
        if part == "spec" and self.parent and self.parent.parent:
            return self.parent.parent.triple_quotes
        quote = quote.removeprefix("r")
        return outer | {ord(quote[0])} if part == "field" and len(quote) == 3 else outer

    @cached_property
    def restricted(self) -> bool:
        """Whether an enclosing f-string restricts the bytes here."""
        return bool(self.forbidden or self.triple_quotes)


def _unknown_bottom(shape: str) -> Nesting:
    bottom = _BOTTOMS.get(shape)
    if bottom is None:
        bottom = _BOTTOMS[shape] = Nesting(shape, known=False)
    return bottom


KNOWN = Nesting()
"""The start of a file."""

_BOTTOMS: dict[str, Nesting] = {"code": Nesting(known=False)}
UNKNOWN = _BOTTOMS["code"]
"""Code of which the left part has not been read."""

QUOTES = tuple(raw + quote for raw in ("", "r") for quote in ("'", '"', "'''", '"""'))
_GUESSED_BRACKETS = 3


def unknown_string_parts(quote: str) -> list[Nesting]:
    """The places inside an f-string of *quote* of which the left part has not been read.

    Besides its three parts these are a field with up to three brackets open in it.
    """
    parts = [_unknown_bottom(f"{part}:{quote}") for part in ("text", "spec", "field")]
    for _ in range(_GUESSED_BRACKETS):
        deeper = parts[-1].push(SOME_BRACKET)
        assert deeper is not None
        parts.append(deeper)
    return parts
