"""Finds names in a suggestion that occur nowhere else, by the pieces of its code.

The symbol table decides about a file that Python can compile. In a broken file, and in one that may have any
name, a name that occurs nowhere is hardly ever right. Often it was given up a moment ago, and an earlier edit
still has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from enum import Enum, auto
from keyword import iskeyword

from fimlsp.languages.python.names.code_state import CodeState, NameRole, first_piece, is_word, state_at_end
from fimlsp.languages.python.names.symbol_tables import ALWAYS_BOUND

_BINDS = re.compile(rb"[ \t]*(?::?=(?!=)|,|:)")
_NAMES_VALUE = re.compile(rb"[ \t]*:=")
_NAMES_ARGUMENT = re.compile(rb"[ \t]*=(?!=)")
_FIELD = re.compile(rb"\{[ \t]*([A-Za-z_\x80-\xff][\w\x80-\xff]*)")
_WORD_BYTE = re.compile(rb"[\w\x80-\xff]")


class _Kind(Enum):
    """The part of a name in some code."""

    USED = auto()
    BOUND = auto()


def new_names(left: bytes, text: bytes, right: bytes) -> Iterator[tuple[int, bytes]]:
    """The names that *text* uses and does not bind, and that neither *left* nor *right* has, with offsets.

    A name that *left* begins has the offset 0. In a string that *left* opens, no name counts.
    """
    names = [*_names(state_at_end(left), text)]
    bound = {name for _, name, kind in names if kind is _Kind.BOUND}
    before = left[: len(left) - len(state_at_end(left).word)]
    for offset, name, kind in names:
        is_known = name in bound or is_always_bound(name) or has_word(before, name) or has_word(right, name)
        if kind is _Kind.USED and not is_known:
            yield offset, name


def is_always_bound(name: bytes) -> bool:
    """True if *name* is a keyword, or need not be bound in a file."""
    word = name.decode(errors="replace")
    return iskeyword(word) or word in ALWAYS_BOUND


def has_word(text: bytes, word: bytes) -> bool:
    """True if *text* has the whole *word*, also in strings and comments. O(len(text))."""
    start = text.find(word)
    while start >= 0:
        end = start + len(word)
        if not (_WORD_BYTE.match(text[max(0, start - 1) : start]) or _WORD_BYTE.match(text[end : end + 1])):
            return True
        start = text.find(word, end)
    return False


def _names(state: CodeState, text: bytes) -> Iterator[tuple[int, bytes, _Kind]]:
    """The names in the code of *text* after *state*, with offsets and kinds."""
    offset, begun = 0, len(state.word)
    while offset < len(text):
        if state.quote:
            end = state.string_end(text, offset)
            if end is None:
                return
            state, offset = replace(state, quote=b""), end
            continue
        piece = first_piece(text, offset)
        after, start = state.after(piece), offset
        offset += len(piece)
        if after.quote and b"f" in state.word.lower() and state.is_prefix(piece):
            yield from _fields(after, text, offset)
        is_name = is_word(piece) and not (
            after.word[:1].isdigit() or after.is_prefix(text[offset : offset + 1])
        )
        if is_name and (kind := _kind(after, text, offset)) is not None:
            yield max(0, start - begun), after.word, kind
        begun, state = 0, after


def _kind(state: CodeState, text: bytes, end: int) -> _Kind | None:
    """The kind of the word at *state*, which ends at *end* of *text*; None if it is no variable."""
    if state.chain.endswith(b".") or state.clause == b"from":
        return None
    match state.role:
        case NameRole.USE | NameRole.ELEMENT:
            return _Kind.BOUND if _NAMES_VALUE.match(text, end) else _Kind.USED
        case NameRole.START:
            return _Kind.BOUND if _BINDS.match(text, end) else _Kind.USED
        case NameRole.ARGUMENT:
            if _NAMES_ARGUMENT.match(text, end):
                return None
            return _Kind.BOUND if _NAMES_VALUE.match(text, end) else _Kind.USED
        case _:
            return _Kind.BOUND


def _fields(state: CodeState, text: bytes, start: int) -> Iterator[tuple[int, bytes, _Kind]]:
    """The names at the start of the fields of an f-string that starts at *start*."""
    end = state.string_end(text, start)
    for field in _FIELD.finditer(text, start, len(text) if end is None else end):
        yield field.start(1), field[1], _Kind.USED
