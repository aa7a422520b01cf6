"""Suggestions that declare a name twice, or use a label or a private name that nothing declares.

The grammar accepts such texts. Only certain faults count, so an unusual way to declare a name is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from fimlsp.languages.suggested_lines import LinesPolicy

_PIECE = re.compile(
    rb"//[^\n]*|/\*.*?(?:\*/|\Z)|`(?:\\.|[^`\\])*(?:`|\Z)|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?"
    rb"|(?P<code>#?[\w$\x80-\xff]+|[^\s\w])",
    re.DOTALL,
)
_LEXICAL = frozenset((b"let", b"const", b"class"))
_BEFORE_CLASS = frozenset((b"", b";", b"{", b"}", b"export", b"default", b"abstract", b"declare"))
_NO_NAMES = frozenset((b"enum", b"extends", b"in", b"instanceof", b"of", b"as", b"is", b"satisfies"))
_NAME = re.compile(rb"[^\W\d][\w$\x80-\xff]*|[$\x80-\xff][\w$\x80-\xff]*")
_LABEL_USED = re.compile(rb"\b(?:break|continue)[ \t]+([A-Za-z_$][\w$]*)")
_PRIVATE_USED = re.compile(rb"\.(#[A-Za-z_$][\w$]*)")
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


def _declarations(data: bytes) -> Iterator[tuple[bytes, bytes, int]]:
    """The brackets of *data*, and the names that it declares with the offsets of their declarations."""
    before, word, at = b"", b"", 0
    for piece in _PIECE.finditer(data):
        code = piece["code"]
        if code is None:
            continue
        if word and _NAME.fullmatch(code) and code not in _NO_NAMES:
            yield b" ", code, at
        is_declared = code in _LEXICAL and before not in (b".", b"?")
        word = code if is_declared and (code != b"class" or before in _BEFORE_CLASS) else b""
        at, before = piece.start(), code
        if code in b"()[]{}":
            yield code, b"", piece.start()


def first_undeclared(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text* of the first label or private name that no part of the file declares."""
    whole = left + text + right
    labels = (
        used.start(1)
        for used in _LABEL_USED.finditer(text)
        if not re.search(rb"(?<![\w$])%s\s*:" % re.escape(used[1]), left + text)
    )
    private = (
        used.start(1)
        for used in _PRIVATE_USED.finditer(text)
        if not re.search(rb"(?<![.\w$])%s(?![\w$]|\s+in\b)" % re.escape(used[1]), whole)
    )
    return min((*labels, *private), default=None)


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
