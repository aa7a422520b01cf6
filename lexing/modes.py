"""What is open around a byte, as an immutable stack of lexer modes.

The stack decides in which mode the next lexeme is read, and which bytes whatever is open forbids inside it.
"""

from __future__ import annotations

_NO_BYTES: frozenset[int] = frozenset()

CODE = "code"
"""The mode at the bottom of a file."""


class ModeStack:
    """What is open, innermost first. Equal stacks that were made from one bottom are the same object.

    This class serves languages in which nothing changes the mode; others derive from it and override what
    differs. A bottom is `known` when everything left of it has been read; at an unknown bottom a closing
    lexeme may belong to something further left. `depth` counts what is open above the bottom.
    """

    __slots__ = ("depth", "known", "parent", "shape")

    def __init__(self, shape: str = CODE, parent: ModeStack | None = None, *, known: bool = True) -> None:
        self.shape = shape
        self.parent = parent
        self.known: bool = known if parent is None else parent.known
        self.depth: int = parent.depth + 1 if parent else 0

    def __repr__(self) -> str:
        bottom = f"{type(self).__name__}({self.shape}, known={self.known})"
        return f"{self.parent!r} {self.shape}" if self.parent else bottom

    def after(self, lexeme: str) -> ModeStack | None:
        """The stack after a lexeme of kind *lexeme*; None if it closes what is not open, or opens too much."""
        del lexeme
        return self

    @property
    def mode(self) -> str:
        """The mode of the DFA in which the next lexeme is read."""
        return CODE

    @property
    def in_code(self) -> bool:
        """Whether the text is ordinary code, so that a line may end here."""
        return True

    @property
    def opened(self) -> tuple[str, ...]:
        """What is open from here out to ordinary code, innermost first; equal ones are closed alike."""
        return ()

    @property
    def forbidden(self) -> frozenset[int]:
        """Bytes that whatever is open does not allow here."""
        return _NO_BYTES

    @property
    def forbidden_thrice(self) -> frozenset[int]:
        """Bytes that may not occur three in a row here, as they would end something that is open."""
        return _NO_BYTES

    @property
    def restricted(self) -> bool:
        """Whether what is open restricts the bytes here at all."""
        return bool(self.forbidden or self.forbidden_thrice)

    def permits(self, text: bytes) -> bool:
        """Whether what is open allows *text* here."""
        return not self.restricted or has_none(text, self.forbidden, self.forbidden_thrice)


def has_none(text: bytes, forbidden: frozenset[int], thrice: frozenset[int]) -> bool:
    """Whether *text* has no byte that is *forbidden*, and none of *thrice* three times in a row."""
    return forbidden.isdisjoint(text) and not any(bytes((byte,)) * 3 in text for byte in thrice)
