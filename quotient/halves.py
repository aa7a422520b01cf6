"""The rules of what only one side of a cursor opens.

`A!` was begun on the left and ends in the middle, `A?` begins in the middle and ends on the right. There are
hundreds of them at any cursor, and a middle needs few. So each has a number as soon as a rule mentions it,
and rules once the parser predicts it. Nobody has to look for those that derive nothing: a spine is found from
the cursor outwards, so whatever is open has a rule of which the open child was found before.

The rules of the right lie in a layer below those of the left. They depend on the text after the cursor alone,
and so serve as long as that stays: every keystroke there finds those that the one before it needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from fimlsp.lexing.indentation import MARGIN
from fimlsp.quotient.automaton import LazyRules, Rhs
from fimlsp.quotient.closing import ClosedBlock, Closing, Remainder, Tail
from fimlsp.quotient.left_blocks import LeftBlock
from fimlsp.quotient.spine import Child, Hole, Open, Spine


class RightHalves(LazyRules):
    """Begun in the middle, ended on the right, as *closing* tells.

    `indents` has the terminals of blocks that the right context closes, as far as they were needed.
    """

    __slots__ = ("_spines", "_start", "_terminals", "closing", "indents", "language")

    def __init__(self, closing: Closing, markers: int) -> None:
        language = self.language = closing.language
        super().__init__(count(language.first_free_symbol + markers))
        self.closing = closing
        self.indents: dict[int, ClosedBlock] = {}
        self._terminals: dict[ClosedBlock, int] = {}
        self._spines: dict[Tail, Spine] = {}
        self._start = language.backward.start(language.bodies)

    def spine(self, tail: Tail) -> Spine:
        """What is open in *tail*."""
        found = self._spines.get(tail)
        if found is None:
            found = self._spines[tail] = tail.spine(self.language)
        return found

    def ended(self, child: Child, tail: Tail) -> int:
        """The symbol of what *tail* leaves open; of the cursor's line itself if there is no child."""
        if child is None:
            assert tail.marker is not None
            return tail.marker
        if isinstance(child, Hole):
            body = self.language.suites[child.suite]
            return self.symbol((tail.suites, body), RightHalves._suites, tail, body)
        return self.symbol((child, tail), RightHalves._rules, child, tail)

    def _rules(self, opened: Open, tail: Tail) -> Iterator[Rhs]:
        for missing, child in self.spine(tail).missing(opened):
            yield (*missing, self.ended(child, tail))

    def _suites(self, tail: Tail, body: int) -> Iterator[Rhs]:
        for block in tail.suites:
            if body in block.bodies:
                yield (self.symbol((block, body), RightHalves._suite, block, body),)

    def _suite(self, block: ClosedBlock, body: int) -> Iterator[Rhs]:
        column = block.shallowest(MARGIN)
        assert column is not None
        indent = self._indent(block)
        groups = self.language.lists[body]
        for remainder in self.closing.remainders_in(block, column):
            if remainder.may_end(body, self.language):
                ended = self.first_group(body, remainder)
                yield (indent, groups, ended)
                if remainder.tail is not None or remainder.on_line:
                    yield (indent, ended)

    def _indent(self, block: ClosedBlock) -> int:
        terminal = self._terminals.get(block)
        if terminal is None:
            terminal = self._terminals[block] = next(self.fresh)
            self.indents[terminal] = block
        return terminal

    def first_group(self, body: int, remainder: Remainder) -> int:
        """What a block's groups end with: the right context itself, or the beginning of a group."""
        if remainder.tail is not None:
            return self.ended((body, self._start), remainder.tail)
        assert remainder.marker is not None
        return remainder.marker


class LeftHalves(LazyRules):
    """Begun on the left, in *blocks*, and ended in the middle."""

    __slots__ = ("blocks", "language")

    def __init__(self, right: RightHalves, blocks: list[LeftBlock]) -> None:
        super().__init__(right.fresh)
        self.language = right.language
        self.blocks = blocks

    def begun(self, child: Open | Hole, depth: int) -> int:
        """The symbol of what is open in the last group of the block at *depth*."""
        if isinstance(child, Hole):
            body = self.language.suites[child.suite]
            return self.symbol((body, depth), LeftHalves._suite, body, depth + 1)
        return self.symbol((child, depth), LeftHalves._rules, child, depth)

    def _rules(self, opened: Open, depth: int) -> Iterator[Rhs]:
        for missing, child in self.blocks[depth].spine.missing(opened):
            yield missing if child is None else (self.begun(child, depth), *missing)

    def _suite(self, body: int, depth: int) -> Iterator[Rhs]:
        dedent, groups = self.language.dedent, self.language.lists[body]
        for begun in self.last_groups(body, depth):
            if begun or not self.blocks[depth].empty:
                yield (*begun, dedent)
            yield (*begun, groups, dedent)

    def last_groups(self, body: int, depth: int) -> Iterator[Rhs]:
        """What is left of the last group of the block at *depth*: nothing, or the rest of it."""
        block = self.blocks[depth]
        if body in block.ended:
            yield ()
        if (body, block.start) in block.spine:
            yield (self.begun((body, block.start), depth),)
