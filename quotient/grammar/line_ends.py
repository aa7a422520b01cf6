"""Optional line ends: a terminal for them that may stand before any other, without a mention in each rule.

Where a line end may terminate a statement it is a terminal of the grammar. In most other places it means
nothing, so it may come before every terminal. A mark in the rules takes that back. The terminal after
the mark, or the first one of the nonterminal after it, must be on the same line. ECMAScript writes the mark
as [no LineTerminator here].

    jump: "return" SAME_LINE value | "return"
    list: jump (LINE_END jump)*
"""

from __future__ import annotations

from collections.abc import Mapping

from fimlsp.lexing.values import value

Names = tuple[str, ...]
Sides = dict[str, list[Names]]


@value
class OptionalLineEnds:
    """The terminal `line_end`, which may stand before all terminals but those `never` on a new line.

    `same_line` is the mark, which derives nothing.
    """

    line_end: str
    same_line: str
    never: frozenset[str]


def with_line_ends(
    layout: OptionalLineEnds, start: str, rules: Mapping[str, list[Names]], repetitions: Mapping[str, str]
) -> tuple[Sides, dict[str, str]]:
    """The *rules* with optional line ends; their *repetitions*.

    A nonterminal after a mark is copied, without a line end before its first terminal.
    """
    spread = _Spread(layout, rules)
    spread.add_all(start)
    elements = {name: spread.symbol(element) for name, element in repetitions.items() if name in spread.rules}
    return spread.rules, elements


class _Spread:
    """Makes the rules that are reachable, from the start symbol on."""

    def __init__(self, layout: OptionalLineEnds, given: Mapping[str, list[Names]]) -> None:
        self.layout = layout
        self.given = given
        self.rules: Sides = {}
        self._waiting: list[tuple[str, str, bool]] = []

    def add_all(self, start: str) -> None:
        """Make the rules of *start* and of all symbols that they mention."""
        self._name(start, same_line=False)
        while self._waiting:
            name, original, same_line = self._waiting.pop()
            self.rules[name] = [self._side(side, same_line=same_line) for side in self.given[original]]

    def symbol(self, name: str) -> str:
        """The symbol for *name* where a line end may precede it."""
        return self._name(name, same_line=False)

    def _side(self, side: Names, *, same_line: bool) -> Names:
        symbols: list[str] = []
        for name in side:
            if name == self.layout.same_line:
                same_line = True
            else:
                symbols.append(self._name(name, same_line=same_line))
                same_line = False
        if side and side[-1] == self.layout.same_line:
            raise ValueError(f"Cannot read the grammar: a rule ends with {side[-1]}. Put a symbol after it.")
        return tuple(symbols)

    def _name(self, name: str, *, same_line: bool) -> str:
        """The symbol for *name*; its rules are made later."""
        if name not in self.given:
            if same_line or name in self.layout.never:
                return name
            made = f"{name} on any line"
            self.rules.setdefault(made, [(name,), (self.layout.line_end, name)])
            return made
        made = f"{name} on the same line" if same_line else name
        if made not in self.rules:
            self.rules[made] = []
            self._waiting.append((made, name, same_line))
        return made
