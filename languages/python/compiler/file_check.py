"""Finds what the compiler refuses in a whole file, reading again only what changed since the last one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from types import MappingProxyType
from typing import Generic, TypeVar

from fimlsp.languages.python.compiler.file_versions import (
    NO_VERSION,
    Chunk,
    Continuation,
    Edited,
    FileVersion,
    Stretch,
    together,
)
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
from fimlsp.lexing.interruption import Interrupted, checkpoint
from fimlsp.quotient.language.whole_text import Fault, Span, WholeTextCheck

K = TypeVar("K")
V = TypeVar("V")

_LONG_LINE = 1_000
_NODES = 50  # bytes of nodes for a byte of text
_MOST_SCOPES = 5_000
_UNREADABLE = -2
_MOST_FILES = 8
_LOOKED_AT = 200
_NO_PYTHON = (UnreadableError, UnicodeDecodeError, RecursionError, IndexError, AssertionError)
"""What a text raises that is no sentence of the grammar, or too deep to be looked at."""
_GOES_ON = re.compile(rb"(?:elif|else|except|finally)\b")
_PHYSICAL_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)?")
_INDENTATION = re.compile(rb"([ \t\f]*)(\\(?:\r\n|\r|\n))?")


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
        self._recent: list[FileVersion] = []
        self._read = 0  # lines, since a version was remembered

    def faults(self, data: bytes) -> list[Fault]:
        """What the compiler has against the file *data*, which is grammatical; nothing if it is not."""
        future = b"annotations" in data and self._has_annotations_feature(data)
        stretches = self._stretches(data, future=future)
        told = [chunk for stretch in stretches for chunk in stretch.told()]
        if any(chunk.declares for chunk in told):
            lines = [
                LogicalLine(c.start + line.start, c.start + line.end, line.column)
                for stretch in stretches
                for c in stretch.all()
                for line in c.lines
            ]
            found = list(self._visited(data, lines, future=future)[0])
        else:
            found = [fault.moved(c.start) for c in told for fault in c.faults]
        return [*found, *self._late_futures(data, told)]

    def suspects(self, statement: bytes, fresh: int, around: tuple[bytes, bytes]) -> bool:
        """As in `WholeTextCheck`."""
        return may_be_wrong(statement, fresh, around[1]) or uses_declared(statement, around)

    def keeps_faultless(self, statement: bytes, fresh: int, right: bytes) -> bool:
        """As in `WholeTextCheck`."""
        return adds_constants(statement, fresh, right)

    def spelt(self, statement: bytes) -> Iterator[bytes]:
        """As in `WholeTextCheck`."""
        return spelt(statement)

    def _stretches(self, data: bytes, *, future: bool) -> list[Stretch]:
        """The chunks of *data*; those of the last version of the file are used where the text is the same.

        Those that were read before an interruption are a version without the rest.
        """
        last = self._version_of(data)
        known = last if last.future is future else NO_VERSION
        continuation = Continuation(known, data)
        found: list[Stretch] = []
        fresh: list[Chunk] = []
        position = 3 if data.startswith(b"\xef\xbb\xbf") else 0
        try:
            while position < len(data):
                checkpoint()
                stays = continuation.stays(position)
                if stays is None:
                    position = self._add_chunk(data, position, fresh, continuation.edited, future=future)
                    self._read += len(fresh[-1].lines)
                    continue
                found += [Stretch.of(fresh), stays] if fresh else [stays]
                fresh = []
                position = stays.end
        except Interrupted:
            read = together([*found, Stretch.of(fresh)])
            if len(read.chunks) > len(known.chunks.chunks):
                self._remember(FileVersion(data, future, read), last)
            raise
        found += [Stretch.of(fresh)] if fresh else []
        if self._read > len(known.chunks.chunks):
            self._remember(FileVersion(data, future, together(found)), last)
        return found

    def _remember(self, version: FileVersion, last: FileVersion) -> None:
        """Keep *version* in the place of *last*. It costs as much as reading a line for each chunk."""
        self._read = 0
        others = [known for known in self._recent if known is not last]
        self._recent = [version, *others][:_MOST_FILES]

    def _version_of(self, data: bytes) -> FileVersion:
        """The file checked lately that is most likely another version of *data*."""
        for side in (slice(_LOOKED_AT), slice(-_LOOKED_AT, None)):
            for known in self._recent:
                if known.data[side] == data[side]:
                    return known
        return NO_VERSION

    def _add_chunk(
        self, data: bytes, position: int, found: list[Chunk], edited: Edited | None, *, future: bool
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
