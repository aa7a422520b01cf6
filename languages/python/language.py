"""The value that describes a version of Python to the engine.

The value itself is cheap: its grammar and tables are imported only when an engine needs them.

The finer grammar of expressions is needed where code waits or yields within an expression, and where a
starred expression may be alone. Words and stars show that quickly. There are three such grammars: for files
with annotations that are evaluated, with those that are not, and for files of which that is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from fimlsp.languages.python.mode_stack import BRACKETS, STRING_STARTS, field_rules
from fimlsp.languages.python.versions import (
    DEFAULT_VERSION,
    Check,
    PythonVersion,
    known_version,
    version_text,
)
from fimlsp.lexing.lexical_spec import LexicalSpec
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.language.contract import Language, OpenModes, TextAfterCursor, WholeTextCheck
from fimlsp.quotient.language.editor_policy import EditorPolicy

_IN_KINDS = (*STRING_STARTS, "STRING:", "BYTES:", "FSTRING_TEXT:")
_ENCLOSURES = {
    **BRACKETS,
    "FIELD_OPEN": "FIELD_CLOSE",
    "FSTRING_START": "FSTRING_END",
    "TSTRING_START": "FSTRING_END",
}


@dataclass(frozen=True)
class Python(Language):
    """A version of Python. Valid files are those that its `ast.parse` accepts, or its `compile`.

    If it is *fine*, its grammar restricts `yield`, `await` and lone stars within expressions, for files with
    annotations *evaluated*, not evaluated, or (None) either.

    With *top_level_await* statements outside functions may wait, as in the cells of notebooks.
    """

    version: PythonVersion = DEFAULT_VERSION
    check: Check = "parse"
    fine: bool = field(default=False, repr=False)
    evaluated: bool | None = field(default=None, repr=False)
    top_level_await: bool = field(default=False, repr=False)

    enclosures = _ENCLOSURES
    byte_order_mark = True

    @property
    def name(self) -> str:  # type: ignore[override]  # an attribute of languages without versions
        """For example `Python 3.11`."""
        return f"Python {version_text(self.version)}"

    @property
    def editor(self) -> EditorPolicy:
        """As in `Language`."""
        from fimlsp.languages.python.editor_policy import CELL_POLICY, PYTHON_POLICY

        return CELL_POLICY if self.top_level_await else PYTHON_POLICY

    def lexical_spec(self) -> LexicalSpec:
        """As in `Language`."""
        from fimlsp.languages.python.lexical_spec import python_lexical_spec

        return python_lexical_spec(self.version)

    def grammar(self) -> Grammar:
        """As in `Language`."""
        from fimlsp.languages.python.grammar import python_grammar

        return python_grammar(
            self.version,
            self.check,
            fine=self.fine,
            evaluated=self.evaluated,
            top_level_await=self.top_level_await,
        )

    def terminal(self, kind: str) -> str:
        """As in `Language`. Kinds that differ only in quotes or in escapes are a single terminal."""
        return kind.partition(":")[0] if kind.startswith(_IN_KINDS) else kind

    def whole_text_check(self) -> WholeTextCheck | None:
        """As in `Language`. It finds the faults of names, which a grammar cannot know."""
        if self.check == "parse":
            return None
        from fimlsp.languages.python.compiler.file_check import FileCheck

        return FileCheck(self.version, top_level_await=self.top_level_await)

    def finer(self, beginning: bytes) -> Python:
        """As in `Language`. It depends on the evaluation of annotations, as far as *beginning* shows that."""
        return replace(self, fine=True, evaluated=are_evaluated(beginning))

    def needs_finer_after(self, text: bytes, since: int = 0) -> bool:
        """As in `Language`: if code waits or yields within an expression, or a star may be alone."""
        return any_within(text, since) or any_lone_star(text, self.version, since)

    def needs_finer_before(self, text: bytes) -> bool:
        """As in `Language`."""
        return any_exposed(text, self.version)

    def another_word(self, kind: str, number: int) -> bytes | None:
        """As in `Language`. The words are names."""
        return b"_%d" % number if kind == "NAME" else None

    def open_modes(self, text: TextAfterCursor) -> OpenModes:
        """As in `Language`. F-strings and their parts may be open."""
        from fimlsp.languages.python.open_strings import OpenStrings, styles_at

        rules = field_rules(self.version)
        return OpenStrings(text, rules, styles_at(text, rules))

    def strings_in(self, opened: Sequence[str]) -> tuple[str, ...]:
        """As in `Language`. The strings are f-strings."""
        return tuple(part for part in reversed(opened) if part.startswith("text:"))

    def kinds_of_opening(self, terminals: Sequence[str], opened: Sequence[str]) -> dict[int, str]:
        """As in `Language`. The kinds are the starts of f-strings in the right styles."""
        styles = iter([part.removeprefix("text:") for part in opened if part.startswith("text:")])
        kinds: dict[int, str] = {}
        ended = 0
        for index in reversed(range(len(terminals))):
            if terminals[index] == "FSTRING_END":
                ended += 1
            elif f"{terminals[index]}:" not in STRING_STARTS:
                continue
            elif ended:
                ended -= 1
            elif (style := next(styles, None)) is not None:
                kinds[index] = f"{terminals[index]}:{style}"
        return kinds


def python(version: PythonVersion = DEFAULT_VERSION, check: Check = "parse") -> Python:
    """The language of a version of Python; with *check* "compile" the files that it can compile.

    Raises:
        UnknownVersionError: The version is not one of `PYTHON_VERSIONS`.
    """
    return Python(known_version(version), check)


_IDLE = rb"(?:[ \t\f\r\n;]|#[^\r\n]*(?=[\r\n]))*"
_STRING = (
    rb"[rRuU]?(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\""
    rb"|'(?:[^'\\\r\n]|\\.)+'|\"(?:[^\"\\\r\n]|\\.)+\")"
)
_END = rb"[ \t\f]*(?=[\r\n;#])"
_BEFORE_IMPORTS = re.compile(rb"(?:\xef\xbb\xbf)?%s(?:%s%s%s)?" % (_IDLE, _STRING, _END, _IDLE), re.DOTALL)
_FUTURE_IMPORT = re.compile(
    rb"from[ \t]+__future__[ \t]+import\b([\w, \t\f]*|[ \t]*\([\w,\s]*\)[ \t\f]*)(?=[\r\n;#])%s" % _IDLE
)
_MAY_BECOME_IMPORT = re.compile(rb"(?:f|fr|fro|from|from[\s\\]+\w*)\Z|from[\s\\]+__future__\b")
_MAY_BE_DOCSTRING = re.compile(rb"[(\s]*(?:[rRuU]?(?:['\"]|\Z)|[\\#])|\xef\xbb?\Z")


def are_evaluated(beginning: bytes) -> bool | None:
    """True if annotations are evaluated in files with this *beginning*; False if it imports the feature.

    None if later text may decide it, or if it is unclear.
    """
    before = _BEFORE_IMPORTS.match(beginning)
    assert before is not None
    offset = before.end()
    while (statement := _FUTURE_IMPORT.match(beginning, offset)) is not None:
        names = re.findall(rb"\w+", statement[1])
        if b"as" in names:
            return None
        if b"annotations" in names:
            return False
        offset = statement.end()
    is_open = _MAY_BECOME_IMPORT.match(beginning, offset) or _MAY_BE_DOCSTRING.match(beginning, offset)
    return None if is_open else True


_WORDS = (b"await", b"yield", b"async")
_ASYNCHRONOUS = re.compile(rb"async\s+(?:for\b|(?:fo?)?\Z)")
_STATEMENT = re.compile(rb"(?:^|[\r\n;])[ \t\f]*\Z")
_NEXT_STATEMENT = re.compile(rb"^[^\s#)\]}][^\r\n]*", re.MULTILINE)
_FUNCTION = re.compile(rb"^([ \t]*)(?:async[ \t]+)?def\b", re.MULTILINE)
_LONGEST_WORD = 12
_BLANKS = b" \t\f\r\n\\"
_BLANKS_OR_BRACKETS = b"( \t\f\v\r\n"
_LINE_END = re.compile(rb"[\r\n]")
_LOOP_OR_YIELD = re.compile(rb"\b(?:for|yield)\Z")
_STARTS_TEMPLATE = re.compile(rb"[fFtT][rR]?['\"]")
_OPENS_GROUP = re.compile(
    rb"(?:(?<![\w\s)\]}'\"\\\x80-\xff])|\b(?:if|else|in|and|or|not|is|return|await|lambda)|(?:^|[\r\n]))"
    rb"[ \t\f]*\(\Z"
)
"""An opening bracket that is not that of a call."""

_BEFORE_LONE_STAR = (b"for", b"yield", b"{", b"(")
_BEFORE_STAR = 200
_BEFORE_WORD = 60
"""Bytes before a word in which the start of its statement is searched."""


def any_within(text: bytes, since: int = 0) -> bool:
    """True if some code in *text* may wait or yield within an expression.

    Its word ends after the offset *since*.
    """
    start = max(0, since - _LONGEST_WORD)
    return _has_word(text, start) and any(True for _ in _offsets(text, start, len(text)))


def any_lone_star(text: bytes, version: PythonVersion, since: int = 0) -> bool:
    """True if a starred expression in *text* may be alone, with its star near *since* or after it."""
    return any(True for _ in _lone_stars(text, version, max(0, since - _LONGEST_WORD), len(text)))


def any_exposed(right: bytes, version: PythonVersion) -> bool:
    """True if text before *right* decides about code in it that may wait or yield, or about a lone star.

    Text before it does not if the code is in a function of *right*, or after a line outside all blocks.
    """
    if not _has_word(right, 0) and b"*" not in right:
        return False
    following = _NEXT_STATEMENT.search(right, right.find(b"\n") + 1)
    end = following.end() if following else len(right)
    return any(not _is_in_function(right, offset) for offset in _offsets(right, 0, end)) or any(
        True for _ in _lone_stars(right, version, 0, end)
    )


def _has_word(text: bytes, start: int) -> bool:
    return any(text.find(word, start) >= 0 for word in _WORDS)


def _lone_stars(text: bytes, version: PythonVersion, start: int, end: int) -> Iterator[int]:
    """The offsets of stars between *start* and *end* of *text* after which an expression may be alone."""
    offset = text.find(b"*", start, end)
    while offset >= 0:
        before = text[max(0, offset - _BEFORE_STAR) : offset]
        is_likely = b"#" in before or before.rstrip(b" \t\f\r\n\\").endswith(_BEFORE_LONE_STAR)
        if is_likely and any(_allows_lone_star(code, version) for code in _before_blanks(before)):
            yield offset
        offset = text.find(b"*", offset + 1, end)


def _allows_lone_star(code: bytes, version: PythonVersion) -> bool:
    """True if a starred expression may be alone after *code*, which does not end with blanks."""
    if version == (3, 8) and _OPENS_GROUP.search(code):
        return True
    opening = code.rstrip(_BLANKS_OR_BRACKETS)
    starts = _STARTS_TEMPLATE if opening.endswith(b"{") else _LOOP_OR_YIELD
    return starts.search(opening) is not None


def _before_blanks(text: bytes) -> Iterator[bytes]:
    """The beginnings of *text* after which it has only blanks and comments.

    Each `#` of a line may start its comment, as those before it may be in a string.
    """
    end = len(text)
    while True:
        code = text[:end].rstrip(_BLANKS)
        yield code
        comments = _comment_starts(code) if _LINE_END.search(text, len(code), end) else []
        if not comments:
            return
        end, *others = comments
        yield from (code[:start].rstrip(_BLANKS) for start in others)


def _comment_starts(text: bytes) -> list[int]:
    """The offsets of `#` in the last line of *text*."""
    line = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
    return [offset for offset in range(line, len(text)) if text[offset : offset + 1] == b"#"]


def _offsets(text: bytes, start: int, end: int) -> Iterator[int]:
    """The offsets from *start* to *end* at which code may wait or yield within an expression."""
    for word in _WORDS:
        offset = text.find(word, start, end)
        while offset >= 0:
            if word == b"await" or _is_in_expression(text, offset, word):
                yield offset
            offset = text.find(word, offset + 1, end)


def _is_in_expression(text: bytes, offset: int, word: bytes) -> bool:
    if word == b"async":
        return _ASYNCHRONOUS.match(text, offset) is not None
    return _STATEMENT.search(text, max(0, offset - _BEFORE_WORD), offset) is None


def _is_in_function(text: bytes, offset: int) -> bool:
    """True if *offset* is in the body of the nearest function above it."""
    above = text.rfind(b"def", 0, offset)
    if above < 0:
        return False
    start = max(text.rfind(b"\n", 0, above), text.rfind(b"\r", 0, above)) + 1
    header = _FUNCTION.match(text, start)
    if header is None or start == 0:
        return False
    lines = text[start:offset].splitlines()[1:]
    return bool(lines) and all(_is_deeper(line, len(header[1])) for line in lines)


def _is_deeper(line: bytes, column: int) -> bool:
    """True if *line* is blank, or its code starts after *column*, or it goes on within brackets."""
    code = line.lstrip(b" \t\f")
    return not code or code[:1] in b"#)]}" or len(line) - len(code) > column
