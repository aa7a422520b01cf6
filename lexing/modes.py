"""The stack of lexer modes: what is open around a byte, such as brackets and parts of strings.

The stack decides in which mode the next lexeme is read, and which bytes are forbidden because of what is
open. Stacks are immutable.
"""

from __future__ import annotations

_NO_BYTES: frozenset[int] = frozenset()

CODE = "code"
"""The mode of ordinary code, at the bottom of the stack."""


class ModeStack:
    """A stack of modes: `shape` is what was opened last, `parent` the stack outside it, `depth` the height.

    Equal stacks built on the same bottom are the same object. The bottom is `known` if all text before it has
    been read; above an unknown bottom a closing lexeme may match something further left. This class serves
    languages in which no lexeme changes the mode; others derive from it.
    """

    __slots__ = ("depth", "known", "parent", "shape")

    def __init__(self, shape: str = CODE, parent: ModeStack | None = None, *, known: bool = True) -> None:
        self.shape = shape
        self.parent = parent
        self.known: bool = known if parent is None else parent.known
        self.depth: int = parent.depth + 1 if parent else 0

    def __repr__(self) -> str:
        """Differs for stacks that differ; it names them in files too."""
        bottom = f"{type(self).__name__}({self.shape}, known={self.known})"
        return f"{self.parent!r} {self.shape}" if self.parent else bottom

    def after(self, lexeme: str) -> ModeStack | None:
        """The stack after a lexeme of kind *lexeme*; None if it closes nothing open or nests too deeply."""
        del lexeme
        return self

    @property
    def mode(self) -> str:
        """The mode in which the next lexeme is read, a key of `Dfa.starts`."""
        return CODE

    @property
    def in_code(self) -> bool:
        """Whether the text here is ordinary code, so that a logical line may end."""
        return True

    @property
    def line_end(self) -> str | None:
        """The kind of a line end here if the grammar sees it, which only a layout of terminators has."""
        return None

    def may_follow(self, lexeme: str) -> bool:
        """Whether this stack may come directly behind a lexeme of kind *lexeme*."""
        del lexeme
        return True

    @property
    def opened(self) -> tuple[str, ...]:
        """What is open between here and ordinary code, innermost first.

        Stacks with equal values close alike.
        """
        return ()

    def closes_as(self, opened: tuple[str, ...]) -> bool:
        """Whether text that closes *opened* without having opened it may come here."""
        return self.opened == opened

    @property
    def forbidden(self) -> frozenset[int]:
        """Bytes that may not occur here because of what is open."""
        return _NO_BYTES

    @property
    def forbidden_thrice(self) -> frozenset[int]:
        """Bytes that may not occur three times in a row here, as that would end something that is open."""
        return _NO_BYTES

    @property
    def restricted(self) -> bool:
        """Whether any byte is forbidden here."""
        return bool(self.forbidden or self.forbidden_thrice)

    def permits(self, text: bytes) -> bool:
        """Whether *text* may occur here."""
        return not self.restricted or has_none(text, self.forbidden, self.forbidden_thrice)


def has_none(text: bytes, forbidden: frozenset[int], thrice: frozenset[int]) -> bool:
    """Whether *text* contains no *forbidden* byte, and no byte of *thrice* three times in a row."""
    return forbidden.isdisjoint(text) and not any(bytes((byte,)) * 3 in text for byte in thrice)
