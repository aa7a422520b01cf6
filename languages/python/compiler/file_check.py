"""Finds what the compiler refuses in a whole file, reading again only what changed since the last one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import takewhile
from types import MappingProxyType
from typing import Generic, NamedTuple, TypeVar

from fimlsp.languages.python.compiler.rules.statements import LogicalLine, Source, StatementRules
from fimlsp.languages.python.compiler.spelling import FEATURES, SPELT_BEHIND, feature_like, spelt
from fimlsp.languages.python.compiler.suspicion import adds_constants, may_be_wrong, uses_declared
from fimlsp.languages.python.compiler.syntax.data_lines import end_of_data
from fimlsp.languages.python.compiler.syntax.lines import parse_line
from fimlsp.languages.python.compiler.syntax.nodes import Constant, Group, Name
from fimlsp.languages.python.compiler.syntax.statements import Evaluation, Import, ParsedLine
from fimlsp.languages.python.compiler.syntax.tokens import UnreadableError, tokens_of_line
from fimlsp.languages.python.versions import PythonVersion
from fimlsp.lexing.bounded_dict import MEGABYTE, BoundedDict, WeighedDict
from fimlsp.quotient.language.whole_text import Fault, Span, WholeTextCheck

K = TypeVar("K")
V = TypeVar("V")
T = TypeVar("T")

_LONG_LINE = 1_000
_NODES = 50  # bytes of nodes for a byte of text
_MOST_SCOPES = 5_000
_UNREADABLE = -2
_MOST_FILES = 8
_LOOKED_AT = 200
_LONGEST_WORD = 8
_NO_PYTHON = (UnreadableError, UnicodeDecodeError, RecursionError, IndexError, AssertionError)
"""What a text raises that is no sentence of the grammar, or too deep to be looked at."""
_GOES_ON = re.compile(rb"(?:elif|else|except|finally)\b")
_PHYSICAL_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)?")
_INDENTATION = re.compile(rb"([ \t\f]*)(\\(?:\r\n|\r|\n))?")


class Chunk(NamedTuple):
    """A statement of the file's own block: its lines from `start` to `end`, and what is wrong with it.

    All offsets in it count from `start`. `futures` are its imports of features, `declares` tells whether it
    declares names of the file's own block. If it is not `readable`, the text
    behind it decides where it ends.
    """

    start: int
    end: int
    lines: tuple[LogicalLine, ...]
    faults: tuple[Fault, ...]
    futures: tuple[Span, ...]
    declares: bool
    readable: bool


class _Stay(NamedTuple):
    """What stays of the last version of a file: up to `before`, and from `behind` on, `shift` bytes later."""

    before: int
    behind: int
    shift: int


class _Edited(NamedTuple):
    """A chunk of the last version of a file, and what stays of its text."""

    chunk: Chunk
    stay: _Stay

    def lines_before(self) -> list[LogicalLine]:
        """The first lines, as far as they stay."""
        start, lines = self.chunk.start, self.chunk.lines
        return list(lines[: _count(lines, lambda line: start + line.end < self.stay.before)])

    def lines_behind(self) -> dict[int, int]:
        """Where lines that stay begin now, with their numbers; none is the first of the chunk."""
        start, lines = self.chunk.start, self.chunk.lines
        first = max(_count(lines, lambda line: start + line.start < self.stay.behind), 1)
        return {start + lines[at].start + self.stay.shift: at for at in range(first, len(lines))}

    def moved(self, at: int, start: int) -> list[LogicalLine]:
        """The lines from number *at* on in a chunk that begins at *start*."""
        shift = self.chunk.start + self.stay.shift - start
        return [LogicalLine(a + shift, b + shift, column) for a, b, column in self.chunk.lines[at:]]


class _Checked(NamedTuple):
    """A file that was checked, whether its annotations are never evaluated, and its chunks."""

    data: bytes
    future: bool
    chunks: list[Chunk]


_NOTHING = _Checked(b"", False, [])


class _ByLine(Generic[K, V]):
    """What is known of lines: of many short ones and a few long ones, which a key typed in them replaces.

    A logical line may be a table of a megabyte. *weigh* tells about how many bytes an entry takes.
    """

    def __init__(self, weigh: Callable[[K, V], int]) -> None:
        self._of_short = WeighedDict[K, V](16 * MEGABYTE, weigh)
        self._of_long = WeighedDict[K, V](2 * MEGABYTE, weigh)

    def like(self, text: bytes) -> WeighedDict[K, V]:
        """What is known of lines as long as *text*."""
        return self._of_short if len(text) <= _LONG_LINE else self._of_long


class FileCheck(WholeTextCheck):
    """The compiler's checks of a version of Python. What it remembers never changes an answer."""

    halves = MappingProxyType({b":": b"=", b"*": b"*=", b"=": b"="})
    spelt_behind = SPELT_BEHIND

    def __init__(self, version: PythonVersion) -> None:
        self._version = version
        self._known = _ByLine[bytes, tuple[bytes, int]](lambda text, found: 200 + len(text) + len(found[0]))
        self._parsed = _ByLine[tuple[bytes, bool], ParsedLine](lambda key, _: 500 + _NODES * len(key[0]))
        self._scopes: BoundedDict[tuple[bytes, object], list[Fault]] = BoundedDict(_MOST_SCOPES)
        self._recent: list[_Checked] = []

    def faults(self, data: bytes) -> list[Fault]:
        """What the compiler has against the file *data*, which is grammatical; nothing if it is not."""
        future = b"annotations" in data and self._has_annotations_feature(data)
        chunks = self._chunks(data, future=future)
        if any(chunk.declares for chunk in chunks):
            lines = [
                LogicalLine(c.start + line.start, c.start + line.end, line.column)
                for c in chunks
                for line in c.lines
            ]
            found = list(self._visited(data, lines, future=future)[0])
        else:
            found = [fault.moved(c.start) for c in chunks if c.faults for fault in c.faults]
        return [*found, *self._late_futures(data, chunks)]

    def suspects(self, statement: bytes, fresh: int, around: tuple[bytes, bytes]) -> bool:
        """As in `WholeTextCheck`."""
        return may_be_wrong(statement, fresh, around[1]) or uses_declared(statement, around)

    def keeps_faultless(self, statement: bytes, fresh: int) -> bool:
        """As in `WholeTextCheck`."""
        return adds_constants(statement, fresh)

    def spelt(self, statement: bytes) -> Iterator[bytes]:
        """As in `WholeTextCheck`."""
        return spelt(statement)

    def _chunks(self, data: bytes, *, future: bool) -> list[Chunk]:
        """The chunks of *data*; those of the last file are used where the text is the same."""
        last = self._version_of(data)
        old, known = last.data, last.chunks if last.future is future else []
        before = _common_prefix(old, data)
        found = known[: _count(known, lambda chunk: chunk.end + _LONGEST_WORD <= before)]
        found = list(takewhile(lambda chunk: chunk.readable, found))
        behind = min(_common_suffix(old, data), len(data) - before, len(old) - before)
        shift = len(data) - len(old)
        first = _count(known, lambda chunk: chunk.start < len(old) - behind)
        later = {chunk.start + shift: number for number, chunk in enumerate(known[first:], first)}
        position = found[-1].end if found else 3 if data.startswith(b"\xef\xbb\xbf") else 0
        while position < len(data):
            if position in later:
                rest = known[later[position] :]
                found += (
                    rest
                    if not shift
                    else [c._replace(start=c.start + shift, end=c.end + shift) for c in rest]
                )
                break
            edited = self._edited(known, len(found), position, _Stay(before, len(old) - behind, shift))
            position = self._add_chunk(data, position, found, edited, future=future)
        others = [checked for checked in self._recent if checked is not last]
        self._recent = [_Checked(data, future, found), *others][:_MOST_FILES]
        return found

    @staticmethod
    def _edited(known: Sequence[Chunk], number: int, start: int, stay: _Stay) -> _Edited | None:
        """The chunk *number* of *known* if it begins at *start* as well, and can be read."""
        if number >= len(known) or known[number].start != start or not known[number].readable:
            return None
        return _Edited(known[number], stay)

    def _version_of(self, data: bytes) -> _Checked:
        """The file checked lately that is most likely another version of *data*."""
        for side in (slice(_LOOKED_AT), slice(-_LOOKED_AT, None)):
            for checked in self._recent:
                if checked.data[side] == data[side]:
                    return checked
        return _NOTHING

    def _add_chunk(
        self, data: bytes, position: int, found: list[Chunk], edited: _Edited | None, *, future: bool
    ) -> int:
        """Add the chunk that begins at *position* to *found*; where it ends."""
        start = position
        lines = edited.lines_before() if edited else []
        position = start + lines[-1].end if lines else start
        behind = edited.lines_behind() if edited else {}
        readable = True
        while position < len(data):
            if lines and edited and position in behind:
                lines += edited.moved(behind[position], start)
                position = edited.chunk.end + edited.stay.shift
                break
            column, end = self._line(data, position)
            readable = readable and column != _UNREADABLE
            if column >= 0 or column == _UNREADABLE:
                column = max(column, 0)
                if lines and not column and not _GOES_ON.match(data, position):
                    break
                lines.append(LogicalLine(position - start, end - start, column))
            position = end
        text = data[start:position]
        faults, futures, declares = self._visited(text, lines, future=future)
        found.append(Chunk(start, position, tuple(lines), tuple(faults), tuple(futures), declares, readable))
        return position

    def _line(self, data: bytes, start: int) -> tuple[int, int]:
        """The column of the logical line at *start*, -1 if it is blank, and its end."""
        physical = _PHYSICAL_LINE.match(data, start)
        assert physical is not None
        text = physical.group()
        known = self._known.like(text).get(text)
        if known is not None and (not known[0] or data.startswith(known[0], start)):
            return known[1], start + len(known[0] or text)
        end_if_data = end_of_data(data, start)
        if end_if_data is not None:
            return _column(data, start), end_if_data
        try:
            tokens, end = tokens_of_line(data, start)
        except UnreadableError:
            return _UNREADABLE, physical.end()
        column = -1 if len(tokens) == 1 else _column(data, start)
        if data[end - 1 : end] in (b"\n", b"\r"):  # else the line may be longer in another file
            self._known.like(text)[text] = (b"" if end == physical.end() else data[start:end]), column
        return column, end

    def _visited(
        self, data: bytes, lines: Sequence[LogicalLine], *, future: bool
    ) -> tuple[list[Fault], list[Span], bool]:
        """What is wrong with *lines*, their imports of features, and whether their block declares names."""
        declares = b"global" in data or b"nonlocal" in data

        def parsed(line: LogicalLine, may_be_case: bool) -> ParsedLine:
            if not (declares or may_be_case) and end_of_data(data, line.start) == line.end:
                return ParsedLine(b"", None, ())
            return self._parse(data[line.start : line.end], may_be_case=may_be_case)

        def remembered(start: int, end: int, key: object, make: Callable[[], list[Fault]]) -> list[Fault]:
            place = blake2b(data[start:end], digest_size=20).digest(), key
            found = self._scopes.get(place)
            if found is None:
                found = self._scopes[place] = make()
            return found

        rules = StatementRules(self._version, Source(data, lines, parsed, remembered), future=future)
        try:
            rules.visit_file()
        except _NO_PYTHON:
            return [], [], False
        return rules.found, rules.futures, rules.declares

    def _parse(self, text: bytes, *, may_be_case: bool) -> ParsedLine:
        key = text, may_be_case
        parsed = self._parsed.like(text)
        found = parsed.get(key)
        if found is None:
            found = parsed[key] = parse_line(tokens_of_line(text)[0], may_be_case=may_be_case)
        return found

    def _has_annotations_feature(self, data: bytes) -> bool:
        """Whether *data* begins with an import of the feature that leaves annotations unevaluated."""
        return any(name.name == "annotations" for name, _ in self._head(data)[0])

    def _head(self, data: bytes) -> tuple[list[tuple[Name, int]], int]:
        """The features that the head of *data* imports, with the line of each, and where the head ends."""
        features: list[tuple[Name, int]] = []
        position = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        first = True
        while position < len(data):
            column, end = self._line(data, position)
            if column >= 0:
                try:
                    line = self._parse(data[position:end], may_be_case=False)
                except _NO_PYTHON:
                    break
                if line.head is not None:
                    break
                for statement in line.statements:
                    if isinstance(statement, Import) and statement.is_of_features(self._version):
                        features += [(name, position) for name in statement.read]
                    elif not (first and isinstance(statement, Evaluation) and _is_docstring(statement)):
                        return features, position + 1
                    first = False
            position = end
        return features, position

    def _late_futures(self, data: bytes, chunks: Sequence[Chunk]) -> list[Fault]:
        """What is wrong with the imports of features: those behind the head, and what is no feature."""
        if not any(chunk.futures for chunk in chunks):
            return []
        features, end = self._head(data)
        found: list[Fault] = []
        for name, line in features:
            if name.name not in FEATURES:
                begun, rest = feature_like(name.name)
                span = line + name.span[0], line + name.span[0] + begun
                message = f"future feature {name.name} is not defined"
                found.append(Fault(message, (span,), local=False, goes_on=rest))
        for chunk in chunks:
            for a, b in chunk.futures:
                if chunk.start + a >= end:
                    message = "from __future__ imports must occur at the beginning of the file"
                    found.append(Fault(message, ((chunk.start + a, chunk.start + b),), local=False))
        return found


def _is_docstring(statement: Evaluation) -> bool:
    """Whether *statement* is a string, perhaps in parentheses."""
    if statement.has_word:
        return False
    (node,) = statement.parts
    while isinstance(node, Group):
        node = node.inner
    return isinstance(node, Constant) and node.kind == "string"


def _column(data: bytes, start: int) -> int:
    """The column of the line at *start*; a backslash ends its indentation, unless it is in column 0."""
    column = 0
    while True:
        match = _INDENTATION.match(data, start)
        assert match is not None
        for byte in match[1]:
            column = 0 if byte == ord("\f") else column // 8 * 8 + 8 if byte == ord("\t") else column + 1
        if match[2] is None or column:
            return column
        start = match.end()


def _count(found: Sequence[T], holds: Callable[[T], bool]) -> int:
    """For how many of the first of *found* it *holds*, which is True, then False. By bisection."""
    low, high = 0, len(found)
    while low < high:
        middle = (low + high) // 2
        if holds(found[middle]):
            low = middle + 1
        else:
            high = middle
    return low


def _common_prefix(one: bytes, other: bytes) -> int:
    """The length of the common prefix, by bisection."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _common_suffix(one: bytes, other: bytes) -> int:
    """As `_common_prefix`, from the end."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
