"""The pieces of a file that cursors of each kind may cut out: found once for a file, drawn from often."""

from __future__ import annotations

import ast
import tokenize
import warnings
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from fimlsp.datasets.languages.suites import NoTokensError
from fimlsp.datasets.languages.tokens.python_tokens import kinds_and_tokens, statements_of

Span = tuple[int, int]
"""Where a piece starts and ends, in characters."""

FILES_KEPT = 1024
_PARTNERS = {"(": ")", "[": "]", "{": "}"}
_SUITES = ("body", "orelse", "finalbody")


@dataclass(frozen=True, slots=True)
class Spans:
    """The pieces of a file.

    Attributes:
        statements: its logical lines, in order, without comments and line ends.
        words: names and keywords of at least two letters.
        brackets: what stands between two brackets of one line, if that is not blank.
        simple: simple statements that have a line to themselves, comments behind them left aside.
        suites: indented blocks, as their statements.
        bodies: the statements of functions behind their docstrings.
    """

    statements: list[Span]
    words: list[Span]
    brackets: list[Span]
    simple: list[Span]
    suites: list[list[Span]]
    bodies: list[Span]

    def statement_at(self, offset: int) -> Span | None:
        """The logical line that *offset* is in, or stands behind."""
        number = bisect_right(self.statements, (offset, offset)) - 1
        number += number + 1 < len(self.statements) and self.statements[number + 1][0] == offset
        found = self.statements[number] if number >= 0 else (0, -1)
        return found if found[0] <= offset <= found[1] else None


@lru_cache(maxsize=FILES_KEPT)
def spans_of(text: str) -> Spans | None:
    """The pieces of *text*, which parses; None if `tokenize` does not read it. O(len(text))."""
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
    found, opened = list[Span](), list[int]()
    for kind, (start, end) in kinds_and_tokens(text):
        if kind != tokenize.OP:
            continue
        if text[start:end] in _PARTNERS:
            opened.append(end)
        elif text[start:end] in _PARTNERS.values() and opened:
            inside = opened.pop(), start
            content = text[slice(*inside)]
            if content.strip() and "\n" not in content:
                found.append(inside)
    return found


class _Syntax:
    """The statements of a file, and where they stand. Only those that begin a line of their own count."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._begins = [0, *accumulate(len(line) + 1 for line in self._lines)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._nodes = list(ast.walk(ast.parse(text)))

    def suites(self) -> list[list[Span]]:
        """See `Spans`."""
        fields = [
            getattr(node, field, None)
            for node in self._nodes
            for field in (() if isinstance(node, ast.Module) else _SUITES)
        ]
        suites = [
            [self._span(each) for each in found if isinstance(each, ast.stmt)]
            for found in fields
            if isinstance(found, list)
        ]
        return [suite for suite in suites if suite and all(map(self._begins_line, suite))]

    def bodies(self) -> list[Span]:
        """See `Spans`."""
        functions = [each for each in self._nodes if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)]
        bodies = [each.body[ast.get_docstring(each, clean=False) is not None :] for each in functions]
        spans = [(self._span(body[0])[0], self._span(body[-1])[1]) for body in bodies if body]
        return list(filter(self._begins_line, spans))

    def simple_statements(self) -> list[Span]:
        """Statements without a block of their own, in one line."""
        simple = [
            node
            for node in self._nodes
            if isinstance(node, ast.stmt) and not hasattr(node, "body") and not hasattr(node, "cases")
        ]
        spans = [self._span(each) for each in simple if each.lineno == each.end_lineno]
        return list(filter(self._begins_line, spans))

    def _span(self, node: ast.stmt) -> Span:
        """Where a statement stands, its decorators included."""
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        start = self._offset(node.lineno, node.col_offset)
        if decorators:
            first = min(decorators, key=lambda each: each.lineno)
            start = self._text.rfind("@", 0, self._offset(first.lineno, first.col_offset))
        return start, self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def _offset(self, row: int, column: int) -> int:
        """The offset in characters of a line and a column in bytes."""
        return self._begins[row - 1] + len(self._lines[row - 1].encode()[:column].decode())

    def _begins_line(self, span: Span) -> bool:
        return not self._text[self._text.rfind("\n", 0, span[0]) + 1 : span[0]].strip()
