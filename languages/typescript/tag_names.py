"""The names of opening and closing tags, which have to be equal.

Lexemes have no names for the grammar, so this is a check of whole texts. Texts that are checked one after the
other mostly differ in one place. So only that place is read again, up to the end of the element around it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from fimlsp.languages.typescript.lexical_spec import WIDE_SPACES
from fimlsp.lexing.bounded_dict import MEGABYTE, WeighedDict
from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.lexing.lexer_tables import LexerTables, longest_match
from fimlsp.lexing.nesting import ModeStack
from fimlsp.quotient.language.contract import Fault, Verdict, WholeTextCheck

_MOST_TEXTS = 4
_MOST_CHANGED = 4_000
_CHUNK = 1 << 16
_LONGEST_NAME = 200
_NAME = re.compile(rb"[^\s/>{<\"']*")
_OPENING, _CLOSED, _CLOSING = "opening", "closed", "closing"
_STARTS_OF_SPACES = frozenset(space[:size] for space in WIDE_SPACES for size in range(1, len(space) + 1))
_ONLY_CLOSING = frozenset(("CLOSE_START", "FRAGMENT_END"))
_ROLES: Mapping[str, str] = {
    **dict.fromkeys(("TAG_START", "CHILD_START", "VALUE_START"), _OPENING),
    "TAG_CLOSED": _CLOSED,
    "CLOSE_START": _CLOSING,
}


class _Tag(NamedTuple):
    """Part of a tag: its role, the offset of the name in the line, and the name."""

    role: str
    offset: int
    name: bytes


class _Opened(NamedTuple):
    """An open tag: the offset of its name, the name, and the tag around it."""

    offset: int
    name: bytes
    around: _Opened | None


class _Place(NamedTuple):
    """The start of a line, with the modes of the lexer and the innermost open tag there."""

    offset: int
    modes: ModeStack
    opened: _Opened | None

    def is_like(self, other: _Place) -> bool:
        """True if the same text means the same here and at *other*, with the same open tags."""
        return self.modes is other.modes and self.opened == other.opened


class _Text(NamedTuple):
    """A text that was read: the starts of its lines, and the faults by the offset of the closing name."""

    data: bytes
    places: list[_Place]
    faults: list[Fault]


class _Closing(NamedTuple):
    """A closing name at the end of a text: its offset, its bytes, the tag that it closes, and the lexer."""

    offset: int
    name: bytes
    opened: _Opened
    lexer: LexerState

    def verdict(self, fresh: bytes, written: int) -> Verdict:
        """The verdict on the name with the bytes *fresh*, where a middle starts at the offset *written*."""
        found = _NAME.match(self.name + fresh)
        assert found is not None
        name, opened = found.group(), self.opened
        same = _same_bytes(name, opened.name)
        has_ended = found.end() < len(self.name) + len(fresh)
        if not name or (same == len(name) and (not has_ended or name == opened.name)):
            goes_on = b"</" in fresh[max(0, found.end() - len(self.name)) :]
            return Verdict.UNKNOWN if goes_on else Verdict.FINE
        may_be_space = 0 < same < len(name) and not _STARTS_OF_SPACES.isdisjoint(
            (name[same : same + 2], name[same : same + 3])
        )
        if may_be_space and not self._has_in_name(same, fresh):
            return Verdict.UNKNOWN
        in_middle = max(self.offset + same, opened.offset + len(opened.name)) >= written
        return Verdict.WRONG if in_middle else Verdict.UNKNOWN

    def _has_in_name(self, at: int, fresh: bytes) -> bool:
        """True if the byte number *at* of the name with *fresh* is certainly in it."""
        longest = longest_match(self.lexer.lexical, self.lexer.state, fresh, 0)
        return longest is not None and len(self.name) + longest[1] > at


class TagNames(WholeTextCheck):
    """Compares the names of tags, in a language with the lexemes *lexical*."""

    spelt_after = (b"</",)
    structure = True

    def __init__(self, lexical: LexerTables) -> None:
        self._lexical = lexical
        self._closing_kinds = sum(1 << n for n, kind in enumerate(lexical.kinds) if kind in _ONLY_CLOSING)
        self._texts: list[_Text] = []
        self._place: tuple[bytes, _Place] = b"", _Place(0, lexical.start, None)
        self._closing: tuple[tuple[bytes, bytes, LexerState] | None, _Closing | None] = None, None
        self._lines = WeighedDict[tuple[bytes, ModeStack], tuple[tuple[_Tag, ...], ModeStack]](
            4 * MEGABYTE, lambda key, found: 300 + len(key[0]) + 100 * len(found[0])
        )

    def faults(self, data: bytes) -> Sequence[Fault]:
        """As in `WholeTextCheck`. O(changed text), and a comparison of all bytes with the text before."""
        best: tuple[int, int, _Text] | None = None
        for known in reversed(self._texts):
            start, end = _differing(known.data, data)
            if best is None or end - start < best[1] - best[0]:
                best = start, end, known
            if end - start <= _MOST_CHANGED:
                return self._with_changes(known, data, start, end)
        first = _Place(0, self._lexical.start, None)
        lines = list(self._read(data, first))
        faults = [fault for _, found in lines for fault in found]
        self._texts = [*self._texts[1 - _MOST_TEXTS :], _Text(data, [place for place, _ in lines], faults)]
        return faults

    def _with_changes(self, known: _Text, data: bytes, start: int, end: int) -> list[Fault]:
        """The faults of *data*, which differs from the text *known* only in `data[start:end]`."""
        at = bisect_right(known.places, start, key=lambda place: place.offset) - 1
        shift = len(data) - len(known.data)
        before = known.places[at]
        faults = [fault for fault in known.faults if fault.spans[-1][1] < before.offset]
        for place, found in self._read(data, before):
            faults += found
            if place.offset >= end:
                later = bisect_right(known.places, place.offset - shift, key=lambda other: other.offset) - 1
                same = known.places[later]
                if same.offset == place.offset - shift and place.is_like(same):
                    rest = [fault for fault in known.faults if fault.spans[-1][0] >= same.offset]
                    return faults + [_moved(fault, shift, same.offset) for fault in rest]
        return faults

    def _read(self, data: bytes, place: _Place) -> Iterator[tuple[_Place, list[Fault]]]:
        """The starts of lines from *place* on, each with the faults of the line before it."""
        faults: list[Fault] = []
        yield place, faults
        while place.offset < len(data):
            checkpoint()
            line = self._line(data, place.offset, place.modes)
            if line is None:
                return
            tags, modes, size = line
            opened, faults = place.opened, []
            for role, offset, name in tags:
                at = place.offset + offset
                if role == _OPENING:
                    opened = _Opened(at, name, opened)
                    continue
                if opened is None:
                    return
                if role == _CLOSING and name != opened.name:
                    faults += _faults_of(opened, at, name)
                opened = opened.around
            place = _Place(place.offset + size, modes, opened)
            yield place, faults

    def _line(
        self, data: bytes, start: int, modes: ModeStack
    ) -> tuple[tuple[_Tag, ...], ModeStack, int] | None:
        """The parts of tags in the line at *start*, the modes after it, and its size; None if unreadable."""
        end = data.find(b"\n", start) + 1 or len(data)
        key = data[start:end], modes
        known = self._lines.get(key)
        if known is not None:
            return *known, end - start
        lexical, tags, position = self._lexical, list[_Tag](), start
        while position < end:
            begin = position
            lexeme = longest_match(lexical, lexical.dfa.starts[modes.mode], data, position)
            if lexeme is None or lexeme[0] == lexical.bad:
                return None
            kind, position = lexeme
            name = lexical.kinds[kind]
            if (role := _ROLES.get(name)) is not None:
                lead = 1 if role == _OPENING else 2
                tags.append(_Tag(role, begin + lead - start, data[begin + lead : position]))
            following = modes.after(name) if kind in lexical.mode_changers else modes
            if following is None:
                return None
            modes = following
        if position == end and data[start:end].endswith(b"\n"):
            self._lines[key] = tuple(tags), modes
        return tuple(tags), modes, position - start

    def mended(self, before: bytes, completion: bytes, after: bytes) -> bytes:
        """As in `WholeTextCheck`: each tag in the completion gets the name of its partner."""
        if b"<" not in completion and b">" not in completion and not _ends_in_name(before):
            return completion
        data, begin, end = b"".join((before, completion, after)), len(before), len(before) + len(completion)
        edits: list[tuple[int, int, bytes]] = []
        for fault in self.faults(data):
            (opening, _), (closing, _) = fault.spans
            edits += _renamed(data, opening, closing, begin, end)
        for first, last, name in sorted(set(edits), reverse=True):
            data = data[:first] + name + data[last:]
        return data[begin : len(data) - len(after)]

    def is_within(self, lexer: LexerState) -> bool:
        """As in `WholeTextCheck`: within the first part of a closing tag."""
        kinds = lexer.lexical.dfa.live[lexer.state]
        return kinds != 0 and not kinds & ~self._closing_kinds

    def verdict(self, left: bytes, middle: bytes, lexer: LexerState, fresh: bytes) -> Verdict:
        """As in `WholeTextCheck`: known within the name of a closing tag."""
        key = left, middle, lexer
        if self._closing[0] != key:
            self._closing = key, self._closing_at_end(left, middle, lexer)
        closing = self._closing[1]
        return Verdict.UNKNOWN if closing is None else closing.verdict(fresh, len(left))

    def _closing_at_end(self, left: bytes, middle: bytes, lexer: LexerState) -> _Closing | None:
        """The closing name at the end of *left* and *middle*, if no name in the middle before it is wrong.

        The lexer never goes back over the start of its lexeme. So all lexemes before it are known.
        """
        tail = left[-_LONGEST_NAME:] + middle
        start = tail.rfind(b"</")
        if start < 0 or not self.is_within(lexer):
            return None
        begin = len(left) + len(middle) - len(tail) + start
        lines = list(self._read((left + middle)[:begin], self._place_before(left)))
        place, faults = lines[-1][0], [fault for _, found in lines for fault in found]
        if place.offset != begin or place.opened is None:
            return None
        if any(end >= len(left) for fault in faults for _, end in fault.spans):
            return None
        return _Closing(begin + 2, tail[start + 2 :], place.opened, lexer)

    def _place_before(self, left: bytes) -> _Place:
        """The start of the last line of *left* that starts between lexemes. O(text since it was known)."""
        if self._place[0] != left:
            line_start = left.rfind(b"\n") + 1
            first = _Place(0, self._lexical.start, None)
            for known in self._texts:
                same = min(_differing(known.data, left)[0], line_start)
                at = bisect_right(known.places, same, key=lambda place: place.offset) - 1
                first = max(first, known.places[at], key=lambda place: place.offset)
            lines = (place for place, _ in self._read(left, first) if place.offset <= line_start)
            self._place = left, max(lines, key=lambda place: place.offset)
        return self._place[1]

    def spelt(self, statement: bytes) -> Iterator[bytes]:
        """None, as the name of a closing tag is often that of another line."""
        del statement
        return iter(())

    def suspects(self, statement: bytes, fresh: int, around: tuple[bytes, bytes]) -> bool:
        """As in `WholeTextCheck`: if they belong to a closing name, or end one."""
        del around
        begin = statement.rfind(b"</")
        name = _NAME.match(statement, begin + 2) if begin >= 0 else None
        return name is not None and name.end() >= len(statement) - fresh

    def keeps_faultless(self, statement: bytes, fresh: int, right: bytes) -> bool:
        """As in `WholeTextCheck`."""
        del statement, fresh, right
        return False


def _same_bytes(name: bytes, other: bytes) -> int:
    """The length of the common start of two names."""
    most = min(len(name), len(other))
    return next((at for at in range(most) if name[at] != other[at]), most)


def _ends_in_name(text: bytes) -> bool:
    """True if *text* may end in the name of a tag, or directly before one."""
    start = text.rfind(b"<", max(0, len(text) - _LONGEST_NAME)) + 1
    name = _NAME.match(text, start + text.startswith(b"/", start)) if start else None
    return name is not None and name.end() == len(text)


def _moved(fault: Fault, shift: int, begin: int) -> Fault:
    """The *fault* in a text in which all from *begin* on is moved by *shift*."""
    spans = tuple([(a + shift, b + shift) if a >= begin else (a, b) for a, b in fault.spans])
    until = fault.repaired_until and fault.repaired_until + shift
    return fault._replace(spans=spans, repaired_until=until)


def _renamed(data: bytes, opening: int, closing: int, begin: int, end: int) -> list[tuple[int, int, bytes]]:
    """The edit of `data[begin:end]` that makes the names at *opening* and *closing* equal, if any.

    A name that starts in there may become that of an attribute.
    """
    names = [_NAME.match(data, at) for at in (opening, closing)]
    assert names[0] is not None
    assert names[1] is not None
    for own, other in ((names[1], names[0].group()), (names[0], names[1].group())):
        first, last = max(own.start(), begin), min(own.end(), end)
        lead, rest = data[own.start() : first], data[last : own.end()]
        fits = other.startswith(lead) and other.endswith(rest) and len(lead) + len(rest) <= len(other)
        if first <= last and begin <= own.end() and own.start() <= end and fits:
            return [(first, last, other[len(lead) : len(other) - len(rest)])]
    opened, name = names[0], names[1].group()
    rest = data[end : opened.end()]
    is_attribute = rest and b"." not in rest and not data.startswith(b"<", opened.end())
    if name and begin <= opened.start() <= end and is_attribute:
        return [(opened.start(), end, name + b" ")]
    return []


def _faults_of(opened: _Opened, at: int, name: bytes) -> list[Fault]:
    """The fault that the tag *opened* is closed under another *name* at the offset *at*, by its repairs.

    The name is wrong from the first byte on in which it differs.
    """
    same = _same_bytes(name, opened.name)
    message = f"the tag <{opened.name.decode()}> is closed by </{name.decode()}>"
    spans = (opened.offset, opened.offset + len(opened.name)), (at, at + same)
    both = Fault(message, spans, local=False)
    separated = both._replace(
        repaired_until=at - 2, goes_on=b"</" + opened.name + b"><" + name + b">", rather=(opened.name, name)
    )
    renamed = both._replace(rather=(name, opened.name))
    if name != opened.name[: len(name)]:
        return [renamed, separated]
    return [
        both._replace(repaired_until=at + len(name), goes_on=opened.name[len(name) :]),
        renamed,
        separated,
    ]


def _differing(known: bytes, data: bytes) -> tuple[int, int]:
    """The start and the end of the part of *data* in which it differs from *known*."""
    most = min(len(known), len(data))
    start = 0
    while start < most and data.startswith(known[start : start + _CHUNK], start) and start + _CHUNK <= most:
        start += _CHUNK
    low, high = start, min(start + _CHUNK, most)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if known[low:middle] == data[low:middle] else (low, middle - 1)
    start, size = low, 0
    rest = most - start
    while size + _CHUNK <= rest and known.endswith(
        data[len(data) - size - _CHUNK : len(data) - size], 0, len(known) - size
    ):
        size += _CHUNK
    low, high = size, min(size + _CHUNK, rest)
    while low < high:
        middle = (low + high + 1) // 2
        same = known[len(known) - middle : len(known) - low] == data[len(data) - middle : len(data) - low]
        low, high = (middle, high) if same else (low, middle - 1)
    return start, len(data) - low
