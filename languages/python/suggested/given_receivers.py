"""Arguments of a call that are the object whose method it is: `key.match(key)`, `super().__init__(self)`."""

from __future__ import annotations

from dataclasses import dataclass

from fimlsp.languages.python.names.code_state import near_start
from fimlsp.languages.python.suggested.repeated_keys import FAR, PIECE

_RECEIVERS = {b"super()": b"self"}


@dataclass(slots=True)
class _Bracket:
    """An open bracket: what is called with it, whose method that is, and what the argument has so far."""

    callee: bytes = b""
    receiver: bytes = b""
    argument: bytes = b""
    start: int = 0

    @classmethod
    def of_call(cls, callee: bytes) -> _Bracket:
        """The bracket behind *callee*."""
        receiver, _, name = callee.rpartition(b".")
        return cls(callee, b"" if name == b"__new__" else _RECEIVERS.get(receiver, receiver))


def first_given_receiver(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text* of the first argument that is the object of its own call; None if there is none.

    Hardly anybody writes that, but for `cls.__new__(cls)`. O(len(text)) and some lines.
    """
    near = left[near_start(left) :]
    code, begin = near + text + right[:FAR], len(near)
    end, brackets, last = begin + len(text), [_Bracket()], b""
    for found in PIECE.finditer(code):
        piece, inner = found[0], brackets[-1]
        if piece[:1].isspace() or piece[:1] == b"#":
            continue
        if piece in (b"(", b"[", b"{"):
            brackets.append(_Bracket.of_call(last) if piece == b"(" else _Bracket())
        elif piece in (b")", b"]", b"}", b","):
            if inner.argument and inner.argument == inner.receiver and begin <= inner.start < end:
                return inner.start - begin
            inner.argument = b""
            if piece != b"," and len(brackets) > 1:
                brackets.pop()
                brackets[-1].argument += b"()"
                piece = b"super()" if inner.callee == b"super" else piece
        else:
            inner.start = inner.start if inner.argument else found.start()
            inner.argument += piece
        last = last + piece if piece.startswith(b".") else piece
        if found.start() >= end and len(brackets) == 1:
            return None
    return None
