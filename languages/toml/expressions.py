"""The expressions of a TOML file: pairs and headers, with their keys as TOML compares them.

Only texts that the grammar accepts are read, so the patterns are looser than those of `language.py`.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

from fimlsp.quotient.language.contract import Span

_PART = rb"[A-Za-z0-9_-]+|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'"
_DOTTED = re.compile(rb"[ \t]*((?:%s)(?:[ \t]*\.[ \t]*(?:%s))*)[ \t]*" % (_PART, _PART))
PARTS = re.compile(_PART)
_ESCAPE = re.compile(rb"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_ESCAPED = {b"b": b"\b", b"t": b"\t", b"n": b"\n", b"f": b"\f", b"r": b"\r"}
_PIECE = re.compile(
    rb"\"\"\"(?:[^\\]|\\.)*?\"{3,5}|'''.*?'{3,5}|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'"
    rb"|(?P<skipped>[ \t\r]+|#[^\n]*)|[][{},=\n]|[^][{},=\n\"'#]+",
    re.DOTALL,
)
_OPENING = re.compile(rb"[ \t]*(?:(?P<torn>\[[ \t]+\[)|(?P<element>\[\[)|(?P<table>\[)|)")
_TORN_END = re.compile(rb"\][ \t]+\]")
_BLANK = re.compile(rb"[ \t\r]*(?:#[^\n]*)?(?:\n|\Z)")


class Key(NamedTuple):
    """A key with dots: its parts, the offsets of their ends, the offset of its start and that after it.

    After it stands `=` or the bracket that ends a header.
    """

    parts: tuple[bytes, ...]
    ends: tuple[int, ...]
    start: int
    end: int

    def moved(self, by: int) -> Key:
        """The same key in a text that has *by* more bytes before it."""
        return Key(self.parts, tuple([end + by for end in self.ends]), self.start + by, self.end + by)


class Form(Enum):
    """The form of an expression."""

    PAIR = auto()
    TABLE = auto()
    ELEMENT = auto()
    """The header of one more element of an array of tables."""


class Expression(NamedTuple):
    """An expression at `start`, and the keys of each inline table in its value, up to the offset `end`.

    The brackets of a header are `torn` where white space stands between two of them.
    """

    form: Form
    key: Key
    start: int
    end: int
    inline_tables: tuple[tuple[Key, ...], ...] = ()
    torn: tuple[Span, ...] = ()

    def moved(self, by: int) -> Expression:
        """The same expression in a text that has *by* more bytes before it."""
        inline_tables = tuple([tuple([key.moved(by) for key in keys]) for keys in self.inline_tables])
        torn = tuple([(start + by, end + by) for start, end in self.torn])
        return Expression(self.form, self.key.moved(by), self.start + by, self.end + by, inline_tables, torn)


class UnreadableError(Exception):
    """A text that the grammar does not accept."""


def is_blank(line: bytes) -> bool:
    """True if *line* has no expression."""
    match = _BLANK.match(line)
    return match is not None and match.end() == len(line)


def expression_at(data: bytes, start: int) -> Expression:
    """The expression in the line at *start*, up to the end of its last line. O(its length).

    Raises:
        UnreadableError: there is none.
    """
    opening = _OPENING.match(data, start)
    assert opening is not None
    key = _key_at(data, opening.end())
    if opening.lastgroup is not None:
        end = data.find(b"\n", key.end) + 1 or len(data)
        torn = [opening.span("torn")] if opening["torn"] else []
        if _TORN_END.match(data, key.end):
            torn.append((key.end, key.end + 2))
        form = Form.TABLE if opening["table"] else Form.ELEMENT
        return Expression(form, key, start, end, torn=tuple(torn))
    end, inline_tables = _read_value(data, key.end + 1)
    return Expression(Form.PAIR, key, start, end, inline_tables)


def _key_at(data: bytes, position: int) -> Key:
    dotted = _DOTTED.match(data, position)
    if dotted is None or data[dotted.end() : dotted.end() + 1] not in (b"=", b"]"):
        raise UnreadableError
    found = list(PARTS.finditer(data, dotted.start(1), dotted.end(1)))
    parts = tuple([_decoded(part[0]) for part in found])
    return Key(parts, tuple([part.end() for part in found]), dotted.start(1), dotted.end())


def _decoded(part: bytes) -> bytes:
    """The name that *part* of a key stands for."""
    if part[:1] == b'"':
        return _ESCAPE.sub(_unescaped, part[1:-1])
    return part.strip(b"'")


def _unescaped(escape: re.Match[bytes]) -> bytes:
    short, long, character = escape.groups()
    if character is not None:
        return _ESCAPED.get(character, character)
    return chr(int(short or long, 16)).encode("utf-8", "surrogatepass")


def _read_value(data: bytes, position: int) -> tuple[int, tuple[tuple[Key, ...], ...]]:
    """The end of the line in which the value at *position* ends, and the keys of its inline tables."""
    finished: list[tuple[Key, ...]] = []
    opened: list[list[Key] | None] = []  # the keys of an inline table; None in an array
    while position < len(data):
        piece = _PIECE.match(data, position)
        if piece is None:
            raise UnreadableError
        sign, position = piece[0], piece.end()
        if sign == b"\n" and not opened:
            break
        if sign == b"[":
            opened.append(None)
        elif sign == b"{":
            opened.append([])
        elif sign in (b"]", b"}"):
            if not opened:
                raise UnreadableError
            finished.append(tuple(opened.pop() or ()))
        keys = opened[-1] if opened else None
        is_empty = sign == b"{" and data[position:].lstrip(b" \t")[:1] == b"}"
        if keys is not None and sign in (b"{", b",") and not is_empty:
            keys.append(_key_at(data, position))
            position = keys[-1].end + 1
    return position, tuple(keys for keys in finished if keys)
