"""The faults of a text at a place of writing that need no model to see, and its faults of types."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from ty import find_ty_bin

from fimlsp.datasets.shown.verdict import with_body
from fimlsp.datasets.shown.writing.places import Place, first_line
from fimlsp.languages.python.checker.ty import PythonProjects
from fimlsp.languages.python.versions import DEFAULT_VERSION
from fimlsp.languages.type_checker.language_server import TypeServerError
from fimlsp.languages.type_checker.process import CheckedPlace, CheckQuestion, TypeChecker

DOUBLED_MIN = 4
"""Characters that count as doubled if a text ends with them and they follow as well."""

FAULTS: Mapping[str, str] = {
    "doubled": "doubled",
    "unreachable": "unreachable",
    "brings_back": "deleted text back",
    "line_ends": "wrong line ends",
    "types": "faults of types",
}
"""The faults by their fields, with their names; each is a column of the report."""

_WORD = re.compile(r"\w+")
_LINE_END = re.compile(r"\r\n?|\n")
_EXITS = frozenset({"exit", "quit", "sys.exit", "os._exit"})


@dataclass(frozen=True, slots=True)
class Faults:
    """The faults of a text; a field for each of `FAULTS`.

    Attributes:
        doubled: it writes again a part of the word around the cursor or of the text that follows.
        unreachable: one of its statements follows a jump in the same block.
        brings_back: it starts with text that was deleted a moment ago, or completes the line to it.
        line_ends: it has other line ends than the document.
        types: a type checker finds a fault in it; None if it was not checked.
    """

    doubled: bool
    unreachable: bool
    brings_back: bool
    line_ends: bool
    types: bool | None = None

    @classmethod
    def of(
        cls,
        place: Place,
        left: str,
        text: str,
        right: str,
        newline: str,
        types: bool | None = None,
        *,
        is_header: bool = False,
    ) -> Faults:
        """The faults of *text* at *place* between *left* and *right*; *newline* ends its lines.

        *types* is the verdict of a type checker. A text that *is_header* lacks a body.
        """
        line_ends = any(end != newline for end in _LINE_END.findall(text))
        text = _LINE_END.sub("\n", text)
        truth = place.truth or ""
        return cls(
            doubled=is_doubled(left, text, right, truth),
            unreachable=_unreachable(left, with_body(text, is_header=is_header), right)
            and not _unreachable(left, truth, right),
            brings_back=any(_brings_back(left, text, truth, deleted) for deleted in place.deleted),
            line_ends=line_ends,
            types=types,
        )


class TypeVerdicts:
    """The verdicts of the server's type checker on texts in the project in *folder*."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.resolve()
        self._checker = TypeChecker(PythonProjects(find_ty_bin()), lambda _: _source)

    def has_fault(self, path: Path, left: str, text: str, right: str) -> bool | None:
        """True if *text* has a fault between *left* and *right* in the file at *path*; None if not known."""
        around = left.encode(), right.encode()
        place = CheckedPlace(path.resolve(), (self._folder,), (), DEFAULT_VERSION, *around)
        try:
            return self._checker.answer(CheckQuestion(place, (text.encode(),)))[0] is not None
        except (OSError, TypeServerError):
            return None

    def close(self) -> None:
        """End the checker."""
        self._checker.end()


def _source(path: Path) -> bytes | None:
    try:
        return path.read_bytes() if path.is_file() else None
    except OSError:
        return None


def is_doubled(left: str, text: str, right: str, truth: str) -> bool:
    """True if *text* between *left* and *right* writes again a part of the text that touches the cursor.

    Texts with which *truth* starts double nothing. Directly before `.`, `(` or `[` a name is completed. There
    a text doubles if it has such a bracket itself, or if it is anything but a name before `.`.
    """
    if not text.strip() or truth.startswith(text.rstrip()):
        return False
    line, _, below = right.partition("\n")
    return (
        _doubles_word(left, text, line)
        or _doubles_bracket(left, text, line)
        or _doubles_line(text, line, below)
    )


def _doubles_word(left: str, text: str, follows: str) -> bool:
    """True if a word of *text* has the rest of the word at the cursor, or all of the word before it."""
    before = re.search(r"(?<!\w)\w+$", left)
    after = _WORD.match(follows)
    first = _WORD.match(text)
    if before and first and len(before[0]) > 1 and first[0].startswith(before[0]):
        return True
    if after is None:
        return False
    is_within = before is not None
    words = _WORD.findall(text)
    ends_in_word = bool(words) and text.endswith(words[-1])
    return ends_in_word or (is_within and any(word.endswith(after[0]) for word in words))


def _doubles_bracket(left: str, text: str, follows: str) -> bool:
    """True if *text* completes the name before a bracket or dot with more than its letters."""
    if not left or not (left[-1].isalnum() or left[-1] in "_."):
        return False
    if follows.startswith("."):
        return not _WORD.fullmatch(text)
    return follows[:1] in ("(", "[") and follows[:1] in text


def _doubles_line(text: str, follows: str, below: str) -> bool:
    """True if *text* ends with the start of *follows*, the rest of the line, or with the line *below*."""
    end, follows = text.rstrip(), follows.strip()
    starts = [follows[:length] for length in range(DOUBLED_MIN, len(follows) + 1)]
    if any(end.endswith(start) and _WORD.search(start) for start in starts):
        return True
    next_line = below[: first_line(below)].strip()
    last_line = end[end.rfind("\n") + 1 :].strip()
    return len(next_line) >= DOUBLED_MIN and last_line == next_line and not follows


def _brings_back(left: str, text: str, truth: str, deleted: str) -> bool:
    """True if *text*, but not *truth*, starts with *deleted* or makes the cursor's line equal to it."""
    line = left[left.rfind("\n") + 1 :].lstrip()

    def brings(written: str) -> bool:
        joined = (line + written[: first_line(written)]).strip()
        return bool(written.strip()) and (written.startswith(deleted) or joined == deleted)

    return brings(text) and not brings(truth) and not truth.startswith(text.rstrip())


def _unreachable(left: str, text: str, right: str) -> bool:
    """True if a statement that starts in *text* follows a jump in its block; False without a parse."""
    start, end = left.rfind("\n") + 1, len(left + text)
    joined = left + text + right
    starts = _line_starts(joined)
    return any(
        start <= starts[follower.lineno - 1] + follower.col_offset < end
        for _, follower in _jumps(joined)
        if follower is not None
    )


def after_jumps(text: str) -> list[int]:
    """The ends of the lines below which nothing can run, at the ends of blocks, as offsets in *text*."""
    starts = [*_line_starts(text), len(text) + 1]
    return [starts[jump.end_lineno or jump.lineno] - 1 for jump, follower in _jumps(text) if follower is None]


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts[:-1]


def _jumps(text: str) -> Iterator[tuple[ast.stmt, ast.stmt | None]]:
    """The jumps in *text*, each with the statement that follows it in its block; none without a parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(node, field, None)
            if isinstance(block, list):
                pairs = zip_longest(block, block[1:])
                yield from (pair for pair in pairs if _is_jump(pair[0]))


def _is_jump(node: ast.AST) -> bool:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return ast.unparse(node.value.func) in _EXITS
    return isinstance(node, ast.Return | ast.Raise | ast.Continue | ast.Break)
