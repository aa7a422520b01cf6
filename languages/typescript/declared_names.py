"""Suggestions that declare a name twice, or use a label or a private name that nothing declares.

The grammar accepts such texts. Only certain faults count, so an unusual way to declare a name is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import NamedTuple

from fimlsp.languages.suggested_lines import LinesPolicy

_PIECE = re.compile(
    rb"//[^\n]*|/\*.*?(?:\*/|\Z)|`(?:\\.|[^`\\])*(?:`|\Z)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?"
    rb"|(?P<code>#?[\w$\x80-\xff]+|[^\s\w])",
    re.DOTALL,
)
_LEXICAL = frozenset((b"let", b"const", b"class"))
_BEFORE_NONE = frozenset((b".", b"?", b"<", b","))
"""Signs before a member, or before a parameter of types."""
_BEFORE_CLASS = frozenset((b"", b";", b"{", b"}", b"export", b"default", b"abstract", b"declare"))
_NO_NAMES = frozenset((b"enum", b"extends", b"in", b"instanceof", b"of", b"as", b"is", b"satisfies"))
_NAME = re.compile(rb"[^\W\d][\w$\x80-\xff]*|[$\x80-\xff][\w$\x80-\xff]*")
_AFTER_NAME = frozenset((b"=", b":", b";", b",", b"!", b"<", b"{", b"in", b"of", b"extends", b"implements"))
_JUMPS = frozenset((b"break", b"continue"))
_AFTER_LABEL = frozenset((b";", b"}"))
_LABEL = re.compile(rb"(?<![\w$])([A-Za-z_$][\w$]*)\s*:")
_PRIVATE = re.compile(rb"(?<!\.)(#[A-Za-z_$][\w$]*)(?![\w$]|\s+in\b)")
"""Whatever may declare a label or a private name, also in the text of templates."""
_MOST_READ = 200_000


def first_declared_twice(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text* of the first declaration whose name its block declares already. O(text)."""
    if len(left) + len(right) > _MOST_READ or not any(word in text for word in _LEXICAL):
        return None
    begin, end = len(left), len(left) + len(text)
    blocks: list[dict[bytes, int]] = [{}]
    ending: list[dict[bytes, int]] | None = None  # the blocks that are open at the end of the suggestion
    for sign, name, at in _declarations(left + text + right):
        if at >= end and ending is None:
            ending = list(blocks)
        if sign in b"([{":
            blocks.append({})
        elif sign in b")]}":
            if len(blocks) > 1:
                blocks.pop()
            if ending is not None and not any(block is blocks[-1] for block in ending):
                return None
        elif name in (block := blocks[-1]):
            later = max(at, block[name])
            if begin <= later < end:
                return later - begin
            if begin <= block[name] < end:
                return block[name] - begin
        else:
            block[name] = at
    return None


class _Piece(NamedTuple):
    """A word or a sign of code at an offset; `is_last` if its line ends after it."""

    text: bytes
    offset: int
    is_last: bool


def _pieces(data: bytes) -> Iterator[_Piece]:
    """The words and signs of *data*, without comments and strings."""
    found = [piece for piece in _PIECE.finditer(data) if piece["code"] is not None]
    for piece, after in zip_longest(found, found[1:]):
        is_last = after is None or b"\n" in data[piece.end() : after.start()]
        yield _Piece(piece["code"], piece.start(), is_last)


def _declarations(data: bytes) -> Iterator[tuple[bytes, bytes, int]]:
    """The brackets of *data*, and the names that it declares with the offsets of their declarations."""
    before, word, at = b"", b"", 0
    for piece, after in pairwise((*_pieces(data), _Piece(b"", len(data), is_last=True))):
        code = piece.text
        is_name = word and _NAME.fullmatch(code) and code not in _NO_NAMES
        if is_name and (piece.is_last or after.text in _AFTER_NAME):
            yield b" ", code, at
        is_declared = code in _LEXICAL and before not in _BEFORE_NONE
        word = code if is_declared and (code != b"class" or before in _BEFORE_CLASS) else b""
        at, before = piece.offset, code
        if code in b"()[]{}":
            yield code, b"", piece.offset


def first_undeclared(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text* of the first label or private name that nothing declares. O(text)."""
    whole, begin, end = left + text + right, len(left), len(left) + len(text)
    if len(whole) > _MOST_READ or not any(word in text for word in (*_JUMPS, b"#")):
        return None
    pieces = list(_pieces(whole))
    edge = _Piece(b"", len(whole), is_last=True)
    triples = list(zip((edge, *pieces), pieces, (*pieces[1:], edge), strict=False))
    labels, private = {*_LABEL.findall(left + text)}, {*_PRIVATE.findall(whole)}
    for before, name, after in triples:
        is_label = before.text in _JUMPS and not before.is_last and _NAME.fullmatch(name.text)
        is_private = before.text == b"." and name.text.startswith(b"#")
        is_lacking = (is_private and name.text not in private) or (
            is_label and name.text not in labels and (name.is_last or after.text in _AFTER_LABEL)
        )
        if is_lacking and begin <= name.offset < end:
            return name.offset - begin
    return None


@dataclass(frozen=True)
class NamesPolicy(LinesPolicy):
    """The policy of lines, which also holds back certain faults of names."""

    def first_unwanted(self, left: bytes, text: bytes, right: bytes) -> int | None:
        """As in `EditorPolicy`."""
        issues = (
            super().first_unwanted(left, text, right),
            first_declared_twice(left, text, right),
            first_undeclared(left, text, right),
        )
        return min((issue for issue in issues if issue is not None), default=None)
