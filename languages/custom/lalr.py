"""The stack of an LALR parser as the modes of the lexer: it decides which terminals a place expects.

Lark's contextual lexer asks the state of the parser for the terminals that it takes, and tries no others
there. So the text is read in the *mode* of the state at the top of the stack. Several states share a mode
where that makes no difference (`contextual.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from fimlsp.lexing.nesting import ModeStack
from fimlsp.quotient.language.contract import OpenModes


@dataclass(frozen=True, slots=True, eq=False)
class LalrTables:
    """The tables of an LALR(1) parser, in which shifting is preferred to reducing.

    Attributes:
        shifts: for each state the next one after a symbol.
        reduces: for each state the rule to reduce before a terminal, as its nonterminal and length.
        modes: the mode of each state after a terminal; that of others is -1.
        terminals: the terminal of each kind of lexemes.
    """

    shifts: tuple[Mapping[str, int], ...] = field(repr=False)
    reduces: tuple[Mapping[str, tuple[str, int]], ...] = field(repr=False)
    start: int
    modes: tuple[int, ...]
    terminals: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def number_of_modes(self) -> int:
        """The number of modes."""
        return max(self.modes) + 1


def mode_name(mode: int) -> str:
    """The key of a mode in `Dfa.starts`."""
    return f"mode {mode}"


class LalrStack(ModeStack):
    """A stack of states. Equal stacks on the same bottom are the same object."""

    __slots__ = ("__weakref__", "_above", "_mode", "state", "tables", "under")

    def __init__(self, tables: LalrTables, state: int, under: LalrStack | None = None) -> None:
        super().__init__()
        self.tables = tables
        self.state = state
        self.under = under
        self._mode = mode_name(tables.modes[state])
        self._above: WeakValueDictionary[int, LalrStack] = WeakValueDictionary()

    def __repr__(self) -> str:
        states = [self.state]
        stack = self.under
        while stack is not None:
            states.append(stack.state)
            stack = stack.under
        return f"LalrStack({states})"

    def after(self, lexeme: str) -> LalrStack | None:
        """As in `ModeStack`; None if the parser does not take *lexeme* here."""
        tables = self.tables
        terminal = tables.terminals[lexeme]
        stack = self
        while (following := tables.shifts[stack.state].get(terminal)) is None:
            rule = tables.reduces[stack.state].get(terminal)
            if rule is None:
                return None
            name, length = rule
            for _ in range(length):
                assert stack.under is not None
                stack = stack.under
            stack = stack._with(tables.shifts[stack.state][name])
        return stack._with(following)

    def _with(self, state: int) -> LalrStack:
        above = self._above.get(state)
        if above is None:
            above = self._above[state] = LalrStack(self.tables, state, self)
        return above

    @property
    def mode(self) -> str:
        """As in `ModeStack`."""
        return self._mode


class SomeStack(ModeStack):
    """Any stack whose text is read in a given mode."""

    __slots__ = ("_mode",)

    def __init__(self, mode: int) -> None:
        super().__init__(known=False)
        self._mode = mode_name(mode)

    def __repr__(self) -> str:
        return f"SomeStack({self._mode})"

    @property
    def mode(self) -> str:
        """As in `ModeStack`."""
        return self._mode


class AnyMode(OpenModes):
    """A place whose text is read in any of *number* modes; the grammar tells them apart."""

    def __init__(self, number: int) -> None:
        self._places = tuple(map(SomeStack, range(1, number)))

    def places(self) -> Iterable[ModeStack]:
        """As in `OpenModes`; the first mode is that of ordinary code."""
        return self._places
