"""Finds the compiler's faults in a whole file; of a new version it reads only the changed text.

Text that the compiler cannot refuse need not be parsed, and quick tests find most of it. The compiler
complains about some words, and about names that occur twice. Most new text in a statement has neither. Long
lines that only assign data to a name are never refused. To parse one would take a millisecond for each
kilobyte, at each question about a text with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import Generic, TypeVar

from fimlsp.languages.python.compiler.expression_parser import UnreadableError, tokens_of_line
from fimlsp.languages.python.compiler.file_versions import (
    NO_VERSION,
    Chunk,
    Continuation,
    EditedChunk,
    FileVersion,
    Stretch,
    together,
)
from fimlsp.languages.python.compiler.line_parser import parse_line
from fimlsp.languages.python.compiler.nodes import Constant, Evaluation, Group, Import, Name, ParsedLine
from fimlsp.languages.python.compiler.scopes import Scope, ScopeKind
from fimlsp.languages.python.compiler.statement_rules import CLASS, LogicalLine, Source, StatementRules
from fimlsp.languages.python.versions import PythonVersion
from fimlsp.lexing.bounded_dict import MEGABYTE, BoundedDict, WeighedDict
from fimlsp.lexing.interruption import Interrupted, checkpoint
from fimlsp.quotient.language.contract import Fault, Span, WholeTextCheck

K = TypeVar("K")
V = TypeVar("V")

FEATURES = frozenset(
    {
        "nested_scopes",
        "generators",
        "division",
        "absolute_import",
        "with_statement",
        "print_function",
        "unicode_literals",
        "barry_as_FLUFL",
        "generator_stop",
        "annotations",
    }
)
_FIRST_WORD = re.compile(rb"\w+(?=[^\w'\"])")
_FROM = re.compile(rb"from[ \t]+([\w.\x80-\xff]+)")
_MAY_LEAD_HEAD = (b"from", b"r", b"R", b"u", b"U", *(bytes((byte,)) for byte in b"'\"(\\# \t\f\r\n"))
"""The starts of the statements in the head of a file, a docstring or an import of features, and of blanks."""
_MODULE_OF_FEATURES = b"__future__"
_IMPORT_OF_FEATURE = b"from __future__ import annotations"
_FEATURE = re.compile(rb"\b__future__\s*import(?:\b(?:(?!__future__)[^;])*[\s,(])?(\w*)\Z")
_NONLOCAL = re.compile(rb"\bnonlocal(?:\b(?:(?!\bnonlocal)[^;])*[\s,])?(\w*)\Z")

_LONG_LINE = 1_000
_NODE_BYTES = 50
"""Bytes of nodes for each byte of text."""

_MOST_SCOPES = 5_000
_MOST_FILES = 8
_COMPARED = 200
"""Bytes at the start or end of two files that show that they are versions of one."""

_UNREADABLE = -2
"""The column of a line that is not valid Python."""

_NOT_PYTHON = (UnreadableError, UnicodeDecodeError, RecursionError, IndexError, AssertionError)
"""The errors raised for a text that is not grammatical, or too deep."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CONTINUES = re.compile(rb"(?:elif|else|except|finally)\b")
_PHYSICAL_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)?")
_INDENTATION = re.compile(rb"([ \t\f]*)(\\(?:\r\n|\r|\n))?")


class _LineCache(Generic[K, V]):
    """A cache of many short lines and a few long ones, which a key typed in them replaces.

    A logical line may be a table of a megabyte. *weigh* returns about the bytes of an entry.
    """

    def __init__(self, weigh: Callable[[K, V], int]) -> None:
        self._short = WeighedDict[K, V](16 * MEGABYTE, weigh)
        self._long = WeighedDict[K, V](2 * MEGABYTE, weigh)

    def like(self, text: bytes) -> WeighedDict[K, V]:
        """The cache of lines as long as *text*."""
        return self._short if len(text) <= _LONG_LINE else self._long


class FileCheck(WholeTextCheck):
    """The compiler's checks of a version of Python. Its caches never change an answer.

    With *top_level_await* statements outside functions may wait.
    """

    halves = MappingProxyType({b":": b"=", b"*": b"*=", b"=": b"="})
    spelt_after = (b"__future__", b"nonlocal")

    def __init__(self, version: PythonVersion, *, top_level_await: bool = False) -> None:
        self._version = version
        self._top_level_await = top_level_await
        self._lines = _LineCache[bytes, tuple[bytes, int]](lambda text, line: 200 + len(text) + len(line[0]))
        self._parsed = _LineCache[tuple[bytes, bool], ParsedLine](
            lambda key, _: 500 + _NODE_BYTES * len(key[0])
        )
        self._scopes: BoundedDict[tuple[bytes, object], list[Fault]] = BoundedDict(_MOST_SCOPES)
        self._recent: list[FileVersion] = []
        self._lines_read = 0  # since a version was kept

    def faults(self, data: bytes) -> list[Fault]:
        """The compiler's faults in the file *data*; none if that is not grammatical."""
        future = b"annotations" in data and self._has_annotations_feature(data)
        stretches = self._stretches(data, future=future)
        notable = [chunk for stretch in stretches for chunk in stretch.notable_chunks()]
        if any(chunk.declares for chunk in notable):
            lines = [
                LogicalLine(chunk.start + line.start, chunk.start + line.end, line.column)
                for stretch in stretches
                for chunk in stretch.all()
                for line in chunk.lines
            ]
            faults = list(self._visited(data, lines, future=future)[0])
        else:
            faults = [fault.moved(chunk.start) for chunk in notable for fault in chunk.faults]
        return [*faults, *self._import_faults(data, notable)]

    def suspects(self, statement: bytes, fresh: int, around: tuple[bytes, bytes]) -> bool:
        """As in `WholeTextCheck`."""
        return may_be_wrong(statement, fresh, around[1]) or uses_declared(statement, around)

    def keeps_faultless(self, statement: bytes, fresh: int, right: bytes) -> bool:
        """As in `WholeTextCheck`."""
        return adds_constants(statement, fresh, right)

    def spelt(self, statement: bytes) -> Iterator[bytes]:
        """As in `WholeTextCheck`."""
        return _known_names_after(statement)

    def _stretches(self, data: bytes, *, future: bool) -> list[Stretch]:
        """The chunks of *data*, with those of the last version of the file where the text is the same.

        After an interruption, the chunks read so far are kept as a version without the rest.
        """
        last = self._version_of(data)
        known = last if last.future is future else NO_VERSION
        continuation = Continuation(known, data)
        stretches: list[Stretch] = []
        fresh: list[Chunk] = []
        position = len(_BYTE_ORDER_MARK) if data.startswith(_BYTE_ORDER_MARK) else 0
        try:
            while position < len(data):
                checkpoint()
                unchanged = continuation.unchanged_from(position)
                if unchanged is None:
                    fresh.append(self._chunk(data, position, continuation.edited, future=future))
                    position = fresh[-1].end
                    self._lines_read += len(fresh[-1].lines)
                    continue
                stretches += [Stretch.of(fresh), unchanged] if fresh else [unchanged]
                fresh = []
                position = unchanged.end
        except Interrupted:
            read = together([*stretches, Stretch.of(fresh)])
            if len(read.chunks) > len(known.chunks.chunks):
                self._keep(FileVersion(data, future, read), last)
            raise
        stretches += [Stretch.of(fresh)] if fresh else []
        if self._lines_read > len(known.chunks.chunks):
            self._keep(FileVersion(data, future, together(stretches)), last)
        return stretches

    def _keep(self, version: FileVersion, last: FileVersion) -> None:
        """Keep *version* in the place of *last*. It costs as much as reading a line for each chunk."""
        self._lines_read = 0
        others = [known for known in self._recent if known is not last]
        self._recent = [version, *others][:_MOST_FILES]

    def _version_of(self, data: bytes) -> FileVersion:
        """The recent file that is most likely another version of *data*, as it starts or ends alike."""
        for side in (slice(_COMPARED), slice(-_COMPARED, None)):
            for known in self._recent:
                if known.data[side] == data[side]:
                    return known
        return NO_VERSION

    def _chunk(self, data: bytes, start: int, edited: EditedChunk | None, *, future: bool) -> Chunk:
        """The chunk at *start*; *edited* is its last version, if known."""
        lines = edited.lines_before() if edited else []
        position = start + lines[-1].end if lines else start
        unchanged = edited.lines_after() if edited else {}
        readable = True
        while position < len(data):
            if lines and edited and position in unchanged:
                lines += edited.moved(unchanged[position], start)
                position = edited.new_end
                break
            column, end = self._line(data, position)
            readable = readable and column != _UNREADABLE
            if column >= 0 or column == _UNREADABLE:
                column = max(column, 0)
                if lines and not column and not _CONTINUES.match(data, position):
                    break
                lines.append(LogicalLine(position - start, end - start, column))
            position = end
        faults, futures, declares = self._visited(data[start:position], lines, future=future)
        return Chunk(start, position, tuple(lines), tuple(faults), tuple(futures), declares, readable)

    def _line(self, data: bytes, start: int) -> tuple[int, int]:
        """The column of the logical line at *start*, -1 if it is blank, and its end."""
        physical = _PHYSICAL_LINE.match(data, start)
        assert physical is not None
        text = physical.group()
        known = self._lines.like(text).get(text)
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
            self._lines.like(text)[text] = (b"" if end == physical.end() else data[start:end]), column
        return column, end

    def _visited(
        self, data: bytes, lines: Sequence[LogicalLine], *, future: bool
    ) -> tuple[list[Fault], list[Span], bool]:
        """The faults of *lines*, their imports of features, and True if their block declares names."""
        declares = b"global" in data or b"nonlocal" in data

        def parsed(line: LogicalLine, may_be_case: bool) -> ParsedLine:
            if not (declares or may_be_case) and end_of_data(data, line.start) == line.end:
                return ParsedLine(b"", None, ())
            return self._parse(data[line.start : line.end], may_be_case=may_be_case)

        def cached(start: int, end: int, key: object, make: Callable[[], list[Fault]]) -> list[Fault]:
            text_key = blake2b(data[start:end], digest_size=20).digest(), key
            faults = self._scopes.get(text_key)
            if faults is None:
                faults = self._scopes[text_key] = make()
            return faults

        file = Scope(ScopeKind.MODULE, asynchronous=self._top_level_await)
        rules = StatementRules(self._version, Source(data, lines, parsed, cached), file, future=future)
        try:
            rules.visit_file()
        except _NOT_PYTHON:
            return [], [], False
        return rules.faults, rules.futures, rules.declares

    def _parse(self, text: bytes, *, may_be_case: bool) -> ParsedLine:
        key = text, may_be_case
        cache = self._parsed.like(text)
        parsed = cache.get(key)
        if parsed is None:
            parsed = cache[key] = parse_line(tokens_of_line(text)[0], may_be_case=may_be_case)
        return parsed

    def _has_annotations_feature(self, data: bytes) -> bool:
        """True if the head of *data* imports the feature that leaves annotations unevaluated."""
        return any(name.name == "annotations" for name, _ in self._features(data)[0])

    def _features(self, data: bytes) -> tuple[list[tuple[Name, int]], int]:
        """The features that the head of *data* imports, with the offsets of their lines, and its end."""
        features: list[tuple[Name, int]] = []
        position = len(_BYTE_ORDER_MARK) if data.startswith(_BYTE_ORDER_MARK) else 0
        is_first = True
        while position < len(data):
            column, end = self._line(data, position)
            if column >= 0:
                try:
                    line = self._parse(data[position:end], may_be_case=False)
                except _NOT_PYTHON:
                    break
                if line.head is not None:
                    break
                for statement in line.statements:
                    if isinstance(statement, Import) and statement.is_of_features(self._version):
                        features += [(name, position) for name in statement.read]
                    elif not (is_first and isinstance(statement, Evaluation) and _is_docstring(statement)):
                        return features, position + 1
                    is_first = False
            position = end
        return features, position

    def _import_faults(self, data: bytes, chunks: Sequence[Chunk]) -> list[Fault]:
        """The faults of imports of features: unknown ones, and those after the head of the file."""
        if not any(chunk.futures for chunk in chunks):
            return []
        features, head_end = self._features(data)
        since = _known_from(data, head_end - 1)
        faults: list[Fault] = []
        for name, line in features:
            if name.name not in FEATURES:
                size, rest = feature_like(name.name)
                span = line + name.span[0], line + name.span[0] + size
                message = f"future feature {name.name} is not defined"
                faults.append(Fault(message, (span,), local=False, goes_on=rest))
        for chunk in chunks:
            for start, end in chunk.futures:
                if chunk.start + start >= head_end:
                    message = "from __future__ imports must occur at the beginning of the file"
                    span = chunk.start + start, chunk.start + end
                    faults.append(Fault(message, (span,), since=since))
        return faults


def _known_from(data: bytes, start: int) -> int:
    """The offset from which on the line at *start* of *data* surely ends the head of the file."""
    module = _FROM.match(data, start)
    if module is not None and module[1] != _MODULE_OF_FEATURES:
        return module.start(1) + _begun_alike(module[1], (_MODULE_OF_FEATURES,)) + 1
    word = _FIRST_WORD.match(data, start)
    text = word.group() if word else data[start : start + 1]
    alike = _begun_alike(text, _MAY_LEAD_HEAD)
    if alike < len(text):
        return start + alike + 1
    if word and text not in _MAY_LEAD_HEAD[:1]:
        return word.end() + 1
    return data.find(b"\n", start) + 1 or len(data) + 1


def _begun_alike(text: bytes, others: Sequence[bytes]) -> int:
    """The most bytes of *text* with which one of *others* starts."""
    sizes = range(len(text), -1, -1)
    return next(size for size in sizes if any(other.startswith(text[:size]) for other in others))


def _is_docstring(statement: Evaluation) -> bool:
    """True if *statement* is a string, perhaps in parentheses."""
    if statement.has_word:
        return False
    (node,) = statement.parts
    while isinstance(node, Group):
        node = node.inner
    return isinstance(node, Constant) and node.kind == "string"


def _column(data: bytes, start: int) -> int:
    """The column of the line at *start*. A backslash ends its indentation, unless that is in column 0."""
    column = 0
    while True:
        match = _INDENTATION.match(data, start)
        assert match is not None
        for byte in match[1]:
            column = 0 if byte == ord("\f") else column // 8 * 8 + 8 if byte == ord("\t") else column + 1
        if match[2] is None or column:
            return column
        start = match.end()


def feature_like(name: str) -> tuple[int, bytes]:
    """The number of bytes of *name* with which a feature starts, and the rest of that feature.

    If none starts so, the rest is a whole feature after a space.
    """
    for size in range(len(name), 0, -1):
        feature = min((feature for feature in FEATURES if feature.startswith(name[:size])), default="")
        if feature:
            return size, feature[size:].encode()
    return 0, b" annotations"


def _known_names_after(statement: bytes) -> Iterator[bytes]:
    """The texts that complete a feature, its import, or `__class__` after `nonlocal`, after *statement*."""
    names = [name.encode() for name in sorted(FEATURES)]
    begun = _FEATURE.search(statement)
    if begun is None:
        names = [CLASS.encode()]
        begun = _NONLOCAL.search(statement)
    if begun is None:
        words = re.sub(rb"\s+", b" ", statement.lstrip())
        if words and _IMPORT_OF_FEATURE.startswith(words):
            yield _IMPORT_OF_FEATURE[len(words) :]
        return
    space = b" " if statement.endswith((b"import", b"nonlocal")) else b""
    rests = [space + name[len(begun[1]) :] for name in names if name.startswith(begun[1])]
    yield from rests
    yield from (b"%s,%s" % (rest, name) for rest in rests[:1] for name in names if len(names) > 1)


_LONGEST_WORD = 12
_LONGEST_NAME = 200
_FOLLOWING = 200
_WHOLE = re.compile(
    rb"__debug__|:=|\b(?:global|nonlocal|case|__future__)\b|\b(?:type|class)\s(?:(?!\b(?:type|class)\s)[^(=.:\[])*\["
    rb"|\b(?:yield|await|async)\b(?:(?!\b(?:yield|await|async)\b)[^\r\n])*\bfor\b|\bimport\s*\*"
)
_FOR, _AS = re.compile(rb"\bfor\b"), re.compile(rb"\bas\b")
_FAR_IN = 6
_IN_AT_END = re.compile(rb"\bin\b.{0,4}\Z", re.DOTALL)
_NOT_A_TARGET = re.compile(rb"[=:()\[\]{}]")
_SIGN = re.compile(rb"[=:]")
_STATEMENT_END = re.compile(rb"[\r\n;]")
_FUNCTION = re.compile(rb"\b(?:lambda|def)\b")
_MORE_THAN_NAMES = re.compile(rb"\basync\b|\btype\b|\[")
_NEAR = re.compile(rb"\b(?:yield|await|return)\b")
_NAMED_NEXT = re.compile(rb",\s*([A-Za-z_\x80-\xff][\w\x80-\xff]*)\s+\Z")
_KEYWORD = re.compile(rb"(?<![\w\x80-\xff])([\w\x80-\xff]+)\s*=(?!=)")
_NAME = re.compile(rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_CONSTANTS = re.compile(rb"(?:[\d\s,:()\[\]{}.+-]|'[^'\\\r\n{]*'|\"[^\"\\\r\n{]*\")*")
_WITHIN_WORD = re.compile(rb"[^\W\d][\d\x80-\xff]*[\w\x80-\xff'\"]\Z|['\"\x80-\xff]['\"\w\x80-\xff]\Z")
_GOES_ON = re.compile(rb"[\w\x80-\xff'\"=]")
_BRACKET = re.compile(rb"(?P<opens>[(\[{])|(?P<closes>[)\]}])|'[^']*'|\"[^\"]*\"")
_PATTERN = re.compile(rb"\bcase\b")
_DECLARING = (b"global", b"nonlocal")
_DECLARATION = re.compile(rb"\b(?:global|nonlocal)\s+([\w\x80-\xff,][\w\x80-\xff, \t\f]*)(?:[;\r\n#]|$)")


def may_be_wrong(statement: bytes, fresh: int, right: bytes) -> bool:
    """True if the last *fresh* bytes of *statement*, before *right*, can have made it a refused one."""
    if _WHOLE.search(statement) or _NEAR.search(statement, max(0, len(statement) - fresh - _LONGEST_WORD)):
        return True
    if _FUNCTION.search(statement) and (_MORE_THAN_NAMES.search(statement) or _repeats_name(statement)):
        return True
    if statement.count(b"*") > 1 and _has_starred_targets(statement):
        return True
    written = statement[-fresh - 1 :]
    if b"*" in statement and _STATEMENT_END.search(written) and _annotates_element(statement):
        return True
    if b"=" not in written:
        following = _NAMED_NEXT.search(statement, max(0, len(statement) - _LONGEST_NAME))
        return following is not None and _is_argument(following[1], statement)
    if statement.count(b"*") > 1:
        return True
    names = _KEYWORD.findall(statement) + _KEYWORD.findall(right, 0, _FOLLOWING)
    return len(names) > len(set(names)) or not statement.isascii()


def adds_constants(statement: bytes, fresh: int, right: bytes) -> bool:
    """True if the last *fresh* bytes of *statement* add only numbers and strings, in brackets of their own.

    The compiler accepts these. Exceptions are patterns, stars, a word that they separate from its
    continuation in *right*, and a colon that becomes `:=` with that.
    """
    start = len(statement) - fresh
    if (
        _GOES_ON.match(right) is not None
        or _CONSTANTS.fullmatch(statement, start) is None
        or _WITHIN_WORD.search(statement, max(0, start - _LONGEST_NAME), start + 1)
    ):
        return False
    depth = 0
    for mark in _BRACKET.finditer(statement, start):
        depth += 1 if mark.lastgroup == "opens" else -1 if mark.lastgroup == "closes" else 0
        if depth < 0:
            return False
    return not depth and b"*" not in statement and _PATTERN.search(statement) is None


def _has_starred_targets(statement: bytes) -> bool:
    """True if targets at the end of *statement*, or after an `as`, may have two stars."""
    end = _IN_AT_END.search(statement, max(0, len(statement) - _FAR_IN))
    return (
        _has_stars_after(_FOR, _NOT_A_TARGET.split(statement)[-1])
        or (end is not None and _has_stars_after(_FOR, _SIGN.split(statement[: end.start()])[-1]))
        or any(_has_stars_after(_AS, part) for part in statement.split(b":"))
    )


def _has_stars_after(word: re.Pattern[bytes], text: bytes) -> bool:
    found = word.search(text)
    return found is not None and text.count(b"*", found.end()) > 1


def _is_argument(name: bytes, statement: bytes) -> bool:
    """True if *name* is that of an argument, or has a default, in *statement*."""
    return re.search(rb"[(,]\s*%s\s*=(?!=)" % re.escape(name), statement) is not None


def _annotates_element(statement: bytes) -> bool:
    """True if *statement* may start with an annotated element that has a star in its index."""
    sign = _SIGN.search(statement)
    if sign is None or sign.group() == b"=":
        return False
    target = statement[: sign.start()].rstrip()
    return target.endswith(b"]") and b"*" in target


def _repeats_name(statement: bytes) -> bool:
    """True if a name is twice in *statement*, as a parameter of a function must not be."""
    names = _NAME.findall(statement)
    return len(names) > len(set(names)) or not statement.isascii()


def uses_declared(statement: bytes, around: tuple[bytes, bytes]) -> bool:
    """True if *statement* has a name that is declared `global` or `nonlocal` somewhere *around*."""
    declared = _declared(around[0]) | _declared(around[1])
    if not declared:
        return False
    return not declared.isdisjoint(_NAME.findall(statement))


@lru_cache(maxsize=64)
def _declared(text: bytes) -> frozenset[bytes]:
    """The names that are declared in *text*."""
    return frozenset(
        name for word in _DECLARING for part in _declarations(text, word) for name in _NAME.findall(part)
    )


def _declarations(text: bytes, word: bytes) -> Iterator[bytes]:
    """The text after *word* in each declaration; a search for the word first is thirty times as fast."""
    offset = text.find(word)
    while offset >= 0:
        declaration = _DECLARATION.match(text, offset)
        if declaration is not None:
            yield declaration[1]
        offset = text.find(word, offset + len(word))


_LONG = 1_000
_DATA_HEAD = re.compile(rb"[ \t]*[A-Za-z_][\w.]*[ \t]*=[ \t]*(?:[A-Za-z_][\w.]*)?(?=[(\[{])")
_SIGNS = rb"[\w \t\f,.:+*/%&|^~<>@-]*"
_SIGNS_INSIDE = rb"[\w \t\f\r\n,.:+*/%&|^~<>@-]*"
_UNFORMATTED = rb"(?<![fFtT])(?<![fFtT][rR])"  # the fields of the others are expressions
_ON_ONE_LINE = rb"'(?!'')[^\\'\r\n]*(?:\\.[^\\'\r\n]*)*'|\"(?!\"\")[^\\\"\r\n]*(?:\\.[^\\\"\r\n]*)*\""
_ON_SEVERAL = rb"'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\""
_FLAT = rb"%s(?:%s(?:%s)%s)*" % (_SIGNS_INSIDE, _UNFORMATTED, _ON_ONE_LINE, _SIGNS_INSIDE)
_ROW = rb"\(%s\)|\[%s\]|\{%s\}" % (_FLAT, _FLAT, _FLAT)
_PLAIN = re.compile(_SIGNS)
_PLAIN_INSIDE = re.compile(rb"%s(?:(?:%s|#[^\r\n]*)%s)*" % (_FLAT, _ROW, _FLAT), re.DOTALL)
_COMMENT_OR_STRING = re.compile(
    rb"#[^\r\n]*|%s(?:%s|%s)" % (_UNFORMATTED, _ON_SEVERAL, _ON_ONE_LINE), re.DOTALL
)
_REFUSABLE = re.compile(rb"(?<![A-Za-z_])(?:lambda|for|yield|await|async|__debug__)\b")
_DEPTH = {b"(": 1, b"[": 1, b"{": 1, b")": -1, b"]": -1, b"}": -1}
_LINE_ENDS = (b"\r", b"\n")


def end_of_data(data: bytes, start: int) -> int | None:
    """The end of the logical line at *start* if it is long and only assigns data to a name; else None.

    *data* is a valid file, so only brackets and strings have to be followed. Code that can be refused, such
    as a named argument or an f-string, makes it an ordinary line. O(length), some 30 ms for each megabyte.
    """
    head = _DATA_HEAD.match(data, start)
    if head is None or _has_word(data, start, head.end()):
        return None
    position, depth = head.end(), 0
    while True:
        plain = (_PLAIN_INSIDE if depth else _PLAIN).match(data, position)
        assert plain is not None
        if _has_word(data, position, plain.end()):
            return None
        position = plain.end()
        sign = data[position : position + 1]
        if sign in _LINE_ENDS:
            end = position + 1 + data.startswith(b"\r\n", position)
            return end if end - start > _LONG else None
        if sign in _DEPTH:
            depth += _DEPTH[sign]
            position += 1
        else:
            other = _COMMENT_OR_STRING.match(data, position)
            if other is None:
                return None
            position = other.end()


def _has_word(data: bytes, start: int, end: int) -> bool:
    """True if a word that can make an ordinary line is in that text, outside strings and comments."""
    if _REFUSABLE.search(data, start, end) is None:
        return False
    return _REFUSABLE.search(_COMMENT_OR_STRING.sub(b" ", data[start:end])) is not None
