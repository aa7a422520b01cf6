"""Cursors at which people edit, drawn from finished files. The code cut out at a cursor is the truth.

| kind | cut |
|---|---|
| `line` | the rest of a line, from between two words of it |
| `whole-line` | a simple statement, alone in its line; its indentation stays |
| `bracket` | the text between a bracket and its partner in one line |
| `word` | the rest of a statement of one line, from within a name or keyword |
| `block` | the last statements of an indented block, at least one of which stays |
| `body` | the body of a function except its docstring |

Each kind is a function from a file's text, its spans and a random generator to a cut; see `KINDS`.
"""

from __future__ import annotations

import ast
import re
import tokenize
import warnings
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

from fimlsp.datasets.languages.python import kinds_and_tokens, statements_of
from fimlsp.datasets.languages.replay_language import NoTokensError, Span
from fimlsp.datasets.sources import Filters, Source, SourceFile

TRIES_MAX = 200
HASH_DIGITS = 12
FILES_KEPT = 1024
_IN_A_WORD = re.compile(r"(?<=\w)(?=\w)")
_PARTNERS = {"(": ")", "[": "]", "{": "}"}
_SUITES = ("body", "orelse", "finalbody")


@dataclass(frozen=True, slots=True)
class DrawnCursor:
    """A cursor in a file without the code from *start* to *end*, offsets in characters.

    *source* is the file's SHA-256, *name* is for readers. *column* is the column of the statement or block
    that is being written; lines that start further left do not belong to it.
    """

    kind: str
    name: str
    source: str
    start: int
    end: int
    column: int

    @property
    def case(self) -> str:
        """The name of the cursor, the same in every run."""
        return f"{self.kind}-{self.source[:HASH_DIGITS]}-{self.start}"

    @property
    def is_within_line(self) -> bool:
        """True if the cut is a part of one line."""
        return self.kind in ("line", "bracket", "word")

    def to_json(self) -> dict[str, Any]:
        """The cursor as an object of strings and numbers."""
        return {"case": self.case, **asdict(self)}


@dataclass(frozen=True, slots=True)
class EditedFile:
    """A file from which cursors are drawn, and its path."""

    file: SourceFile
    path: Path


def read_files(folders: Sequence[Path]) -> list[EditedFile]:
    """The files below *folders* that CPython parses, each text once, in a fixed order.

    Raises:
        SourceError: a folder does not exist.
    """
    files, filters = dict[str, EditedFile](), Filters()
    for folder in folders:
        for entry in Source(str(folder.resolve()), filters.language).files():
            file = filters.identify(entry)
            checked = filters.check_valid(file) if isinstance(file, SourceFile) else file
            if isinstance(checked, SourceFile) and "\r" not in checked.text:
                path = folder.resolve().parent / checked.name
                files.setdefault(checked.hash, EditedFile(checked, path))
    return list(files.values())


def workspace_of(folders: Sequence[Path]) -> list[Path]:
    """The workspace folders of an editor that edits files below *folders*; a file stands for its folder."""
    return list(dict.fromkeys((path if path.is_dir() else path.parent).resolve() for path in folders))


def draw_cursors(files: Sequence[EditedFile], n: int, seed: int) -> Iterator[tuple[EditedFile, DrawnCursor]]:
    """About *n* different cursors, the same number of each kind; long files have more of them.

    Each is drawn from the seed and its number alone, so a larger *n* only adds cursors.
    """
    weights = list(accumulate(edited.file.text.count("\n") for edited in files))
    seen = set[str]()
    for number in range(n if files else 0):
        kind = list(KINDS)[number % len(KINDS)]
        random = Random(f"{seed} {number}")
        for _ in range(TRIES_MAX):
            chosen = random.choices(files, cum_weights=weights)[0]
            cursor = draw_cursor(chosen.file, kind, random)
            if cursor is not None and cursor.case not in seen:
                seen.add(cursor.case)
                yield chosen, cursor
                break


def draw_cursor(file: SourceFile, kind: str, random: Random) -> DrawnCursor | None:
    """A cursor of *kind* in *file*; None if this draw has no result."""
    spans = spans_of(file.text)
    span = None if spans is None else KINDS[kind](file.text, spans, random)
    if spans is None or span is None or not file.text[slice(*span)].strip():
        return None
    return DrawnCursor(kind, file.name, file.hash, *span, statement_column(file.text, spans, span[0]))


def statement_column(text: str, spans: Spans, offset: int) -> int:
    """The column of the statement that contains *offset*; outside statements, the indentation of the line."""
    start = (spans.statement_at(offset) or (offset, offset))[0]
    line = text[text.rfind("\n", 0, start) + 1 : start]
    return len(line) - len(line.lstrip())


@dataclass(frozen=True, slots=True)
class Spans:
    """The spans of a file that cursors may cut out. They are found once and drawn from often.

    Attributes:
        statements: its logical lines, in order, without comments and line ends.
        words: names and keywords of at least two letters.
        brackets: the text between two brackets of one line, if it is not blank.
        simple: simple statements alone in their line, apart from comments after them.
        suites: indented blocks, as their statements.
        bodies: the statements of functions after their docstrings.
    """

    statements: list[Span]
    words: list[Span]
    brackets: list[Span]
    simple: list[Span]
    suites: list[list[Span]]
    bodies: list[Span]

    def statement_at(self, offset: int) -> Span | None:
        """The logical line that contains *offset* or ends there."""
        number = bisect_right(self.statements, (offset, offset)) - 1
        number += number + 1 < len(self.statements) and self.statements[number + 1][0] == offset
        start, end = self.statements[number] if number >= 0 else (0, -1)
        return (start, end) if start <= offset <= end else None


@lru_cache(maxsize=FILES_KEPT)
def spans_of(text: str) -> Spans | None:
    """The spans of *text*, which parses; None if `tokenize` does not read it. O(len(text))."""
    try:
        statements = statements_of(text)
        words, brackets = _words(text), _brackets(text)
    except NoTokensError:
        return None
    syntax = _Syntax(text)
    ends = {end for _, end in statements}
    simple = [span for span in syntax.simple_statements() if span[1] in ends]
    return Spans(statements, words, brackets, simple, syntax.suites(), syntax.bodies())


def _words(text: str) -> list[Span]:
    tokens = kinds_and_tokens(text)
    return [token for kind, token in tokens if kind == tokenize.NAME and token[1] - token[0] > 1]


def _brackets(text: str) -> list[Span]:
    brackets, starts = list[Span](), list[int]()
    for kind, (start, end) in kinds_and_tokens(text):
        if kind != tokenize.OP:
            continue
        if text[start:end] in _PARTNERS:
            starts.append(end)
        elif text[start:end] in _PARTNERS.values() and starts:
            inside = starts.pop(), start
            content = text[slice(*inside)]
            if content.strip() and "\n" not in content:
                brackets.append(inside)
    return brackets


class _Syntax:
    """The statements of a file, with their spans. Only statements at the start of a line count."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._line_starts = [0, *accumulate(len(line) + 1 for line in self._lines)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._nodes = list(ast.walk(ast.parse(text)))

    def suites(self) -> list[list[Span]]:
        """The statements of each indented block."""
        fields = [
            getattr(node, field, None)
            for node in self._nodes
            for field in (() if isinstance(node, ast.Module) else _SUITES)
        ]
        suites = [
            [self._span(statement) for statement in block if isinstance(statement, ast.stmt)]
            for block in fields
            if isinstance(block, list)
        ]
        return [suite for suite in suites if suite and all(map(self._begins_line, suite))]

    def bodies(self) -> list[Span]:
        """The body of each function after its docstring."""
        functions = [node for node in self._nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        bodies = [node.body[ast.get_docstring(node, clean=False) is not None :] for node in functions]
        spans = [(self._span(body[0])[0], self._span(body[-1])[1]) for body in bodies if body]
        return list(filter(self._begins_line, spans))

    def simple_statements(self) -> list[Span]:
        """Statements without a block of their own, in one line."""
        simple = [
            node
            for node in self._nodes
            if isinstance(node, ast.stmt) and not hasattr(node, "body") and not hasattr(node, "cases")
        ]
        spans = [self._span(node) for node in simple if node.lineno == node.end_lineno]
        return list(filter(self._begins_line, spans))

    def _span(self, node: ast.stmt) -> Span:
        """The span of a statement, including its decorators."""
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        start = self._offset(node.lineno, node.col_offset)
        if decorators:
            first = min(decorators, key=lambda decorator: decorator.lineno)
            start = self._text.rfind("@", 0, self._offset(first.lineno, first.col_offset))
        return start, self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def _offset(self, row: int, column: int) -> int:
        """The offset in characters of a line and a column in bytes."""
        return self._line_starts[row - 1] + len(self._lines[row - 1].encode()[:column].decode())

    def _begins_line(self, span: Span) -> bool:
        return not self._text[self._text.rfind("\n", 0, span[0]) + 1 : span[0]].strip()


def rest_of_line(text: str, _: Spans, random: Random) -> Span | None:
    """The cut of `line`."""
    lines = text.split("\n")
    row = random.choice([row for row, line in enumerate(lines) if line.strip()] or [0])
    line, line_start = lines[row], sum(len(line) + 1 for line in lines[:row])
    first = len(line) - len(line.lstrip()) + 1
    columns = [column for column in range(first, len(line)) if not _IN_A_WORD.match(line, column)]
    return (line_start + random.choice(columns), line_start + len(line)) if columns else None


def whole_line(_: str, spans: Spans, random: Random) -> Span | None:
    """The cut of `whole-line`."""
    return random.choice(spans.simple) if spans.simple else None


def inside_bracket(_: str, spans: Spans, random: Random) -> Span | None:
    """The cut of `bracket`."""
    return random.choice(spans.brackets) if spans.brackets else None


def rest_of_word_and_statement(text: str, spans: Spans, random: Random) -> Span | None:
    """The cut of `word`."""
    if not spans.words:
        return None
    word = random.choice(spans.words)
    statement = spans.statement_at(word[0])
    if statement is None or "\n" in text[word[0] : statement[1]]:
        return None
    return random.randrange(word[0] + 1, word[1]), statement[1]


def rest_of_block(_: str, spans: Spans, random: Random) -> Span | None:
    """The cut of `block`."""
    suites = [suite for suite in spans.suites if len(suite) > 1]
    if not suites:
        return None
    suite = random.choice(suites)
    return random.choice(suite[1:])[0], suite[-1][1]


def function_body(_: str, spans: Spans, random: Random) -> Span | None:
    """The cut of `body`."""
    return random.choice(spans.bodies) if spans.bodies else None


Draw = Callable[[str, Spans, Random], Span | None]
"""Draws a cut of a text; None if this draw has no result."""

KINDS: Mapping[str, Draw] = {
    "line": rest_of_line,
    "whole-line": whole_line,
    "bracket": inside_bracket,
    "word": rest_of_word_and_statement,
    "block": rest_of_block,
    "body": function_body,
}
