"""Keys of dicts and names of arguments that a suggestion writes a second time in the same bracket."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fimlsp.languages.python.names.code_state import near_start

FAR = 4_000
"""Bytes behind the suggestion in which its bracket is read."""

_STRINGS = (
    rb'"""(?:\\.|[^\\])*?"""',
    rb"'''(?:\\.|[^\\])*?'''",
    rb'"(?:\\.|[^"\\\n])*"',
    rb"'(?:\\.|[^'\\\n])*'",
)
PIECE = re.compile(
    rb"(?i:[rbu]{0,2})(?:%b)|#[^\n]*|\s+|[\w\x80-\xff.]+|[()\[\]{},:]|[-+*/%%&|^@<>=!]+|."
    % b"|".join(_STRINGS),
    re.DOTALL,
)
_KEY_SIGN = {b"{": b":", b"(": b"="}


@dataclass(slots=True)
class _Bracket:
    """An open bracket with the offsets of its keys; *begun* is what may be one, as an element starts so."""

    sign: bytes
    keys: dict[bytes, int] = field(default_factory=dict)
    begun: tuple[bytes, int] | None = None
    is_start: bool = True


def first_repeated_key(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text* of the first key that its bracket has twice; None if there is none.

    A bracket that the file leaves in another way than as code does not count. O(len(text)) and some lines.
    """
    near = left[near_start(left) :]
    code, begin = near + text + right[:FAR], len(near)
    end, brackets = begin + len(text), [_Bracket(b"")]
    for found in PIECE.finditer(code):
        piece, inner = found[0], brackets[-1]
        if piece[:1].isspace() or piece[:1] == b"#":
            continue
        if piece in (b"(", b"[", b"{"):
            inner.is_start, inner.begun = False, None
            brackets.append(_Bracket(piece))
        elif piece in (b")", b"]", b"}"):
            if len(brackets) > 1:
                brackets.pop()
            elif found.start() >= end:
                return None
        elif piece == b",":
            inner.is_start, inner.begun = True, None
        elif inner.begun is not None and piece == _KEY_SIGN.get(inner.sign):
            key, offset = inner.begun
            twice = [
                each for each in (inner.keys.get(key), offset) if each is not None and begin <= each < end
            ]
            if key in inner.keys and twice:
                return max(twice) - begin
            inner.keys[key] = offset
            inner.begun = None
        else:
            inner.begun = (piece, found.start()) if inner.is_start else None
            inner.is_start = False
        if found.start() >= end and len(brackets) == 1:
            return None
    return None
