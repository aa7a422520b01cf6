"""Tokens grouped by the suite they stand in, as the boundary cuts of Melcer et al. 2024 choose them.

A *suite* is whatever nests in a language: the body of a compound statement in Python, an object or array in
JSON; the whole file is the outermost one. A *stretch* is the tokens of a suite between two nested suites.
"""

from __future__ import annotations

from dataclasses import dataclass, field

Span = tuple[int, int]
"""Where something starts and ends, in characters."""

Stretch = tuple[Span, ...]
Suite = tuple[Stretch, ...]


class NoTokensError(Exception):
    """The judge accepts the file, but it cannot be split into tokens."""


@dataclass(slots=True)
class SuiteBuilder:
    """Collects the suites of a file from its tokens in their order."""

    _finished: list[Suite] = field(default_factory=list)
    _open: list[list[list[Span]]] = field(default_factory=lambda: [[[]]])

    def add(self, token: Span) -> None:
        """Add a token to the innermost open suite."""
        self._open[-1][-1].append(token)

    def enter(self) -> None:
        """Open a suite within the innermost open one."""
        self._open[-1].append([])
        self._open.append([[]])

    def leave(self) -> None:
        """Close the innermost open suite."""
        self._finished.append(_without_empty_stretches(self._open.pop()))

    def suites(self) -> tuple[Suite, ...]:
        """All suites in the order in which they end, those still open last."""
        return (*self._finished, *map(_without_empty_stretches, reversed(self._open)))


def _without_empty_stretches(stretches: list[list[Span]]) -> Suite:
    return tuple(tuple(stretch) for stretch in stretches if stretch)
