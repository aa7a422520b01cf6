"""The definitions of a TOML file: each key and each table is defined once.

First come the expressions of a file: pairs and headers, with their keys as TOML compares them. Only texts
that the grammar accepts are read, so the patterns are looser than those of `toml.py`.

A key may stand for a value, which nothing extends, even if it is an inline table or an array. It may stand
for a table or for an array of tables, whose last element is the one that later lines extend. Pairs of other
tables add nothing to a table that is *closed*. One with a header is closed at once, and one that pairs with
dots have made is closed by the next header. Tables that only stand within the keys of headers are open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from types import MappingProxyType
from typing import NamedTuple

from fimlsp.lexing.bounded_dict import MEGABYTE, WeighedDict
from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.lexer_tables import LexerTables, longest_match
from fimlsp.quotient.language.contract import Fault, Span, WholeTextCheck

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


_MOST_MENDED = 4
_AFTER_VALUE = re.compile(rb"[ \t]*(?:[],}#\r\n]|\Z)")
_ENDS = (b"=0", b"x=0", b"0", b"}", b"0}", b"=0}", b"=0}}", b"]", b"0]")
"""Texts that end an expression, each from other places in it."""
_HIDES = re.compile(rb"[#\"']")
_DELIMITERS = re.compile(rb'\\.|"{3,5}', re.DOTALL), re.compile(rb"'{3,5}")
"""Each matches the ends of a string over several lines, and escapes in it."""
_KEY_SIGNS = re.compile(rb"[=.\[\]\"' \t\r\n{},]")


class _Place(NamedTuple):
    """The offsets of a key with the sign after it, of its expression, and of the header above it.

    A header is its own. In an inline table the last two do not matter. The name defined is certain at `part`,
    its form only later.
    """

    key: Span
    part: int
    start: int | None = None
    header: Span | None = None

    @property
    def is_header(self) -> bool:
        """True if the key is that of a header."""
        return self.header == self.key


@dataclass(slots=True)
class _Table:
    """A table, or the last element of an array of tables, with the place of its definition."""

    defined: _Place
    children: dict[bytes, _Table | _Place] = field(default_factory=dict)
    is_closed: bool = False
    is_element: bool = False


class _Definitions:
    """The tables that the expressions of the file *data* define, and the faults of those defined again."""

    def __init__(self, data: bytes) -> None:
        self.faults: list[Fault] = []
        self._data = data
        self._root = self._current = _Table(_Place((0, 0), 0))
        self._header: Span | None = None
        self._dotted: list[_Table] = []  # made by the pairs since the last header

    def add(self, expression: Expression) -> None:
        """Add the next expression of the file."""
        span = expression.key.start, expression.key.end + 1
        if expression.form is Form.PAIR:
            place = _Place(span, expression.key.ends[-1], expression.start, self._header)
            self._add_pair(expression.key, place, self._current)
        else:
            for table in self._dotted:
                table.is_closed = True
            self._dotted, self._header = [], span
            self._current = self._opened(expression)
            for start, end in expression.torn:
                torn = Fault("the two brackets of a header touch", ((start, end),), repaired_from=start + 1)
                goes_on = b"%s]\n[" % _unused(self._data)
                self.faults.append(torn._replace(repaired_until=end - 1, goes_on=goes_on))
        for keys in expression.inline_tables:
            inline = _Table(_Place((0, 0), 0))
            for key in keys:
                self._add_pair(key, _Place((key.start, key.end + 1), key.ends[-1]), inline)

    def _add_pair(self, key: Key, place: _Place, table: _Table) -> None:
        for part, end in zip(key.parts[:-1], key.ends, strict=False):
            child = table.children.get(part)
            if child is None:
                child = table.children[part] = _Table(place._replace(part=end))
            elif not isinstance(child, _Table) or child.is_closed:
                self._add_fault(child, place, end)
                return
            if place.start is not None:
                self._dotted.append(child)
            table = child
        known = table.children.setdefault(key.parts[-1], place)
        if known is not place:
            is_open = isinstance(known, _Table) and not known.is_closed
            self._add_fault(known, place, key.end + 1 if is_open else key.ends[-1], is_exact=True)

    def _opened(self, header: Expression) -> _Table:
        """The table of *header*; one that belongs to no other if the header has a fault."""
        key, table, array = header.key, self._root, b""
        span = key.start, key.end + 1
        place = _Place(span, key.ends[-1], header.start, span)
        is_element = header.form is Form.ELEMENT
        fresh = _Table(place, is_closed=True, is_element=is_element)
        for part, end in zip(key.parts[:-1], key.ends, strict=False):
            child = table.children.get(part)
            if child is None:
                child = table.children[part] = _Table(place._replace(part=end))
            elif not isinstance(child, _Table):
                self._add_fault(child, place, end, array)
                return fresh
            table = child
            array = self._data[key.start : end] if table.is_element else array
        known = table.children.get(key.parts[-1])
        if isinstance(known, _Table) and not known.is_closed and not is_element:
            known.is_closed, known.defined = True, place
            return known
        if isinstance(known, _Table) and not (known.is_element and is_element):
            is_exact = is_element or not known.defined.is_header
            is_local = known.is_closed or not is_element
            self._add_fault(known, place, key.end + 1, array, is_local=is_local, is_exact=is_exact)
        elif isinstance(known, _Place):
            self._add_fault(known, place, key.ends[-1], array, is_exact=True)
        table.children[key.parts[-1]] = fresh
        return fresh

    def _add_fault(
        self,
        known: _Table | _Place,
        again: _Place,
        end: int,
        array: bytes = b"",
        *,
        is_local: bool = True,
        is_exact: bool = False,
    ) -> None:
        """Add the fault that *known* is defined *again*, which is certain from the offset *end* on.

        It *is_exact* if the whole key is that of *known*, rather than one within it.
        A header between the two repairs it, of another table or, if *again* is one, of the *array* around.
        One before a pair moves that into another table.
        """
        first = known.defined if isinstance(known, _Table) else known
        known_at = first.key[0], first.part if is_exact else first.key[1]
        headers = {place.header for place in (first, again) if place.header and not place.is_header}
        earlier = sorted({known_at, *headers})
        is_moved = again.is_header and not first.is_header  # by a header before it
        fault = Fault(
            f"{self._data[again.key[0] : again.part].decode('utf-8', 'replace')} is defined twice",
            (*earlier, (again.key[0], end)),
            local=is_local and (first.header is not None or again.header is None),
            together=again.start is not None and not (is_moved and array),
        )
        header = b"[%s]" % _unused(self._data)
        if is_moved:
            above = first.header[1] if first.header else 0
            fault = fault._replace(repaired_from=above, repaired_until=first.start or 0)
        elif again.start is not None and (array or not again.is_header):
            header = b"[[%s]]" % array if array else header
            fault = fault._replace(repaired_from=earlier[-1][1], repaired_until=again.start)
        if fault.repaired_until:
            lines = [b"%s\n%s\n" % (end, header) for end in _ENDS]
            self.faults += [fault._replace(goes_on=line, repaired_by=header) for line in lines]
        else:
            self.faults.append(fault)


class DefinedOnce(WholeTextCheck):
    """Refuses keys and tables that are defined twice."""

    halves = MappingProxyType(
        {b'"': b'"', b"'": b"'", **dict.fromkeys((b".", b"=", b"[", b"]", b" ", b"\t"), b"")}
    )

    def __init__(self, lexical: LexerTables) -> None:
        self._lexical = lexical
        self._last_right: tuple[bytes, tuple[frozenset[int], ...]] = b"", ()
        self._read = WeighedDict[bytes, Expression | None](4 * MEGABYTE, lambda key, _: 500 + 10 * len(key))

    def faults(self, data: bytes) -> Sequence[Fault]:
        """As in `WholeTextCheck`. O(lines), and the length of new ones."""
        definitions = _Definitions(data)
        try:
            for expression in self._expressions(data):
                definitions.add(expression)
        except UnreadableError:
            return ()
        return definitions.faults

    def _expressions(self, data: bytes) -> Iterator[Expression]:
        position = 0
        while position < len(data):
            checkpoint()
            text = data[position : _likely_end(data, position)]
            if text in self._read:
                expression = self._read[text]
            else:
                expression = None if is_blank(text) else expression_at(data, position).moved(-position)
                if expression is None or expression.end == len(text):
                    self._read[text] = expression
            if expression is not None:
                yield expression.moved(position)
            position += len(text) if expression is None else expression.end

    def mended(self, before: bytes, completion: bytes, after: bytes) -> bytes:
        """As in `WholeTextCheck`: the keys of a fault that the completion reaches get longer."""
        for _ in range(_MOST_MENDED):
            data, begin = b"".join((before, completion, after)), len(before)
            changes = (
                change
                for fault in self.faults(data)
                for span in reversed(fault.spans)
                for change in _longer_keys(data, span, begin, begin + len(completion))
            )
            place, text = next(changes, (None, b""))
            if place is None:
                break
            completion = data[begin:place] + text + data[place : begin + len(completion)]
        return completion

    def may_be_in_string(self, right: bytes, at: int) -> bool:
        """As in `WholeTextCheck`, where the first delimiter of a kind may both open and close a string."""
        if right != self._last_right[0]:
            self._last_right = right, tuple(self._codes_after_strings(right))
        return any(at not in code for code in self._last_right[1])

    def _codes_after_strings(self, right: bytes) -> Iterator[frozenset[int]]:
        """For each string that a middle may open and *right* close, the starts of lexemes after it."""
        if right.startswith((b'"', b"\\")):
            yield frozenset()  # a backslash before it changes its meaning
        for delimiter in _DELIMITERS:
            ends = (match for match in delimiter.finditer(right) if not match[0].startswith(b"\\"))
            match = next(ends, None)
            if match is None or _AFTER_VALUE.match(right, match.end()) is None:
                continue
            starts = self._lexeme_starts(right, match.end())
            line = right[right.rfind(b"\n", 0, match.start()) + 1 : match.start()]
            if starts is not None and (
                _HIDES.search(line) is not None or self._lexeme_starts(right, match.start()) is not None
            ):
                yield starts

    def _lexeme_starts(self, data: bytes, position: int) -> frozenset[int] | None:
        """Where the lexemes of *data* from *position* on start; None if it does not consist of lexemes."""
        lexical, starts = self._lexical, list[int]()
        while position < len(data):
            lexeme = longest_match(lexical, lexical.dfa.starts[lexical.unknown.mode], data, position)
            if lexeme is None:
                return None
            starts.append(position)
            position = lexeme[1]
        return frozenset(starts)

    def may_be_quoted(self, line: bytes) -> bool:
        """As in `WholeTextCheck`: no, as other strings end in their line."""
        del line
        return False

    def spelt(self, statement: bytes) -> Iterator[bytes]:
        """As in `WholeTextCheck`: none."""
        del statement
        return iter(())

    def suspects(self, statement: bytes, fresh: int, around: tuple[bytes, bytes]) -> bool:
        """As in `WholeTextCheck`: if they may end a key or a part of one."""
        del around
        return _KEY_SIGNS.search(statement, max(0, len(statement) - fresh)) is not None

    def keeps_faultless(self, statement: bytes, fresh: int, right: bytes) -> bool:
        """As in `WholeTextCheck`: unknown."""
        del statement, fresh, right
        return False


def _likely_end(data: bytes, position: int) -> int:
    """The end of the line at *position*, or that of the array of several lines that it seems to open."""
    end = data.find(b"\n", position) + 1 or len(data)
    closing = data.find(b"\n]", end - 1) if data.endswith(b"[", position, end - 1) else -1
    return end if closing < 0 else data.find(b"\n", closing + 1) + 1 or len(data)


def _unused(data: bytes) -> bytes:
    """A bare key that does not occur in *data*."""
    longest = max(map(len, re.findall(rb"x+", data)), default=0)
    return b"x" * (longest + 1)


def _longer_keys(data: bytes, span: Span, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Insertions from *begin* to *end* that make the key at *span* in *data* another one."""
    unused = _unused(data)
    for part in reversed(list(PARTS.finditer(data, *span))):
        is_quoted = part[0][0] in b"\"'"
        first, last = part.start() + is_quoted, part.end() - is_quoted
        if max(first, begin) <= min(last, end):
            yield min(last, end), unused
        after = max(part.end(), begin)
        if after <= min(span[1], end) and not data[part.end() : after].strip():
            yield after, b"." + unused
        if is_quoted and begin <= part.start() <= end:
            yield part.start(), unused + b"."
