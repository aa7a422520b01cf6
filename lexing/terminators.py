"""The layout of terminators: a line end ends a statement or means nothing, as the lexeme before it decides.

Go calls this the automatic insertion of semicolons. Behind some kinds of lexemes, such as names, a line may
end; a line end there is a lexeme of the grammar. Everywhere else it is white space. So there are two modes,
and each lexeme that the grammar sees says which of them follows it. Lines always begin in the first one,
hence a line still has the same lexemes in every context.
"""

from __future__ import annotations

from collections.abc import Iterable

from fimlsp.lexing.modes import CODE, ModeStack

MAY_END = "code whose line may end"
"""The mode behind a lexeme after which a line end ends a statement."""


class TerminatorModes(ModeStack):
    """Code in which a line end has the kind `line_end`, or none if it means nothing.

    After lexemes of the kinds *enders* a line may end, after those that are *unseen* nothing changes, and
    after all others it may not end.
    """

    __slots__ = ("_enders", "_line_end", "_other", "_unseen")

    def __init__(
        self, line_end: str, enders: Iterable[str], unseen: Iterable[str] = (), *, known: bool = True
    ) -> None:
        super().__init__(CODE, known=known)
        self._line_end: str | None = None
        self._enders, self._unseen = frozenset(enders), frozenset(unseen)
        ended = self._other = object.__new__(type(self))
        ModeStack.__init__(ended, MAY_END, known=known)
        ended._line_end, ended._other = line_end, self
        ended._enders, ended._unseen = self._enders, self._unseen

    @property
    def may_end(self) -> TerminatorModes:
        """The modes in which a line may end."""
        return self._other if self._line_end is None else self

    def after(self, lexeme: str) -> TerminatorModes:
        """As in `ModeStack`."""
        if lexeme in self._unseen or (lexeme in self._enders) == (self._line_end is not None):
            return self
        return self._other

    @property
    def mode(self) -> str:
        """As in `ModeStack`."""
        return self.shape

    @property
    def line_end(self) -> str | None:
        """As in `ModeStack`."""
        return self._line_end

    def may_follow(self, lexeme: str) -> bool:
        """As in `ModeStack`."""
        return (lexeme in self._enders) == (self._line_end is not None)

    @property
    def opened(self) -> tuple[str, ...]:
        """As in `ModeStack`: text that begins where a line may end is read in another way."""
        return () if self._line_end is None else (self.shape,)
