"""The grammar of every middle that connects a left and a right context.

Its nonterminals are those of the language and, for what is open at the cursor: `A!` (begun on the left, ends
in the middle), `A?` (begins in the middle, ends on the right) and the pair `<A!, A?>` (one node, begun on the
left and ended on the right). A pair's rules join each way in which the left has begun a rule with each way in
which the right has ended the same rule. A block that is open on both sides is a pair as well, if its column
is one that the right context closes; for a block begun in the middle the column is checked when its INDENT is
read.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from fimlsp.lexing.indentation import MARGIN, Column
from fimlsp.quotient.cheapest import Choices, Costs
from fimlsp.quotient.closing import ClosedBlock, Remainder
from fimlsp.quotient.earley import Earley, EarleySet
from fimlsp.quotient.escape import Inside, of_child
from fimlsp.quotient.language import Language
from fimlsp.quotient.left_blocks import left_blocks
from fimlsp.quotient.left_context import LeftContext
from fimlsp.quotient.spine import CURSOR, Endings, Hole, Open, Progress, Spine

Rhs = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MiddleGrammar:
    """The grammar of the middles between two contexts.

    Each of its sentences ends with the marker of one reading of the right context. `start` is the set before
    any symbol, `indents` the terminals of blocks that the right context closes.
    """

    language: Language
    earley: Earley
    start: EarleySet
    roots: frozenset[int]
    indents: tuple[tuple[int, ClosedBlock], ...]
    costs: dict[int, tuple[Costs, Choices]] = field(default_factory=dict, repr=False)

    def indent_terminals(self, column: Column) -> list[int]:
        """The terminals that an INDENT to *column* may be."""
        return [self.language.indent, *(terminal for terminal, block in self.indents if block.fits(column))]


def middle_grammar(
    left: LeftContext, rights: Sequence[ClosedBlock], markers: int, kept: int | None = None
) -> MiddleGrammar | None:
    """The middle grammar of *left* and all of *rights*; None if no middle connects any of them.

    The first *markers* symbols beyond those of the language are taken by markers. With *kept* no middle
    escapes (see `escape.py`) from a bracket, or from the outermost *kept* blocks of *left*. O(depth at the
    cursor), independent of the lengths of the contexts.
    """
    builder = _Builder(left, markers, kept)
    return builder.finish([builder.file_pair(right) for right in rights])


class _Builder:
    """Collects the rules of a middle grammar, from the file's own block inwards, each when first needed."""

    def __init__(self, left: LeftContext, markers: int, kept: int | None) -> None:
        self.language = left.language
        self.kept = kept
        self.base = left.language.forward.rules
        self.blocks = left_blocks(left)
        self.next_symbol = self.language.first_free_symbol + markers
        self.symbols: dict[Hashable, int] = {}
        self.rules: dict[int, list[Rhs]] = {}
        self.pending: list[tuple[int, Callable[[], Iterable[Rhs]]]] = []
        self.indents: list[tuple[int, ClosedBlock]] = []

    # Symbols and rules

    def fresh(self) -> int:
        self.next_symbol += 1
        return self.next_symbol - 1

    def symbol(self, key: Hashable, rules: Callable[[], Iterable[Rhs]]) -> int:
        """The nonterminal of *key*; its *rules* are made later, as deep nesting would need deep recursion."""
        number = self.symbols.get(key)
        if number is None:
            number = self.symbols[key] = self.fresh()
            self.pending.append((number, rules))
        return number

    # Begun on the left, ended in the middle

    def left(self, opened: Open, depth: int) -> int:
        return self.symbol((opened, depth), lambda: self._left_rules(opened, depth))

    def _left_rules(self, opened: Open, depth: int) -> Iterable[Rhs]:
        for progress in self.blocks[depth].spine[opened]:
            rest = self.base.rhs(progress.rule)[progress.read :]
            if progress.child is None:
                yield rest
            else:
                yield (self._left_child(progress.child, depth), *rest[1:])

    def _left_child(self, child: Open | Hole, depth: int) -> int:
        if not isinstance(child, Hole):
            return self.left(child, depth)
        body = self.language.suites[child.suite]
        return self.symbol(("suite!", body, depth), lambda: self._left_suite_rules(body, depth + 1))

    def _left_suite_rules(self, body: int, depth: int) -> Iterable[Rhs]:
        block = self.blocks[depth]
        groups = self.language.lists[body]
        for begun in self.left_parts(body, depth):
            if begun or not block.empty:
                yield (*begun, self.language.dedent)
            yield (*begun, groups, self.language.dedent)

    def left_parts(self, body: int, depth: int) -> Iterable[Rhs]:
        """What is left of a block's last group: nothing, or the rest of it."""
        block = self.blocks[depth]
        if body in block.ended:
            yield ()
        if (body, block.start) in block.spine:
            yield (self.left((body, block.start), depth),)

    # Begun in the middle, ended on the right

    def right_spine(self, remainder: Remainder) -> Spine:
        assert remainder.group is not None
        return self.language.backward.spine(
            remainder.group, tuple(self.language.suites) if remainder.suites else None
        )

    def right(self, opened: Open, remainder: Remainder) -> int:
        """`A?` for *opened*; all that is open with it is made at once, from rules that are remembered."""
        suites = tuple(self.language.suites) if remainder.suites else None
        found = self.language.backward.endings(remainder.group, suites) if remainder.group else None
        assert found is not None
        key = remainder.group, remainder.marker, remainder.suites
        first = self.symbols.get(key)
        if first is None:
            first = self.symbols[key] = self.next_symbol
            self.next_symbol += len(found.numbers)
            self._add_endings(first, found, remainder)
        return first + found.numbers[opened]

    def _add_endings(self, first: int, found: Endings, remainder: Remainder) -> None:
        rules = self.rules
        for number in reversed(range(first, first + len(found.numbers))):
            rules[number] = []  # outermost first, as everywhere: `_productive` counts on it
        for lhs, before, following in found.rules:
            if isinstance(following, Hole):
                end = self._open_suites(self.language.suites[following.suite], remainder)
            else:
                end = first + following
            if following == CURSOR:
                assert remainder.marker is not None
                end = remainder.marker
            rules[first + lhs].append((*before, end))

    def _right_child(self, child: Open | Hole | None, remainder: Remainder) -> int:
        if child is None:
            assert remainder.marker is not None
            return remainder.marker
        if not isinstance(child, Hole):
            return self.right(child, remainder)
        return self._open_suites(self.language.suites[child.suite], remainder)

    def _open_suites(self, body: int, remainder: Remainder) -> int:
        key = "suites?", remainder.suites, body
        return self.symbol(key, lambda: [(self.right_suite(closed, body),) for closed in remainder.suites])

    def right_suite(self, closed: ClosedBlock, body: int) -> int:
        return self.symbol(("suite?", closed, body), lambda: self._right_suite_rules(closed, body))

    def _right_suite_rules(self, closed: ClosedBlock, body: int) -> Iterable[Rhs]:
        column = closed.shallowest(MARGIN)
        if column is None:
            return
        indent = self.symbols.get(("indent", closed))
        if indent is None:
            indent = self.symbols["indent", closed] = self.fresh()
            self.indents.append((indent, closed))
        groups = self.language.lists[body]
        for remainder in closed.remainders_in(column):
            for ended in self.right_parts(body, remainder):
                yield (indent, groups, ended)
                if remainder.group is not None or remainder.on_line:
                    yield (indent, ended)

    def right_parts(self, body: int, remainder: Remainder) -> Iterable[int]:
        """What a block's groups end with: the right context itself, or the beginning of a group."""
        if body not in remainder.bodies:
            return
        if remainder.group is None:
            assert remainder.marker is not None
            yield remainder.marker
            return
        top = body, self.language.backward.start(self.language.bodies)
        if top in self.right_spine(remainder):
            yield self.right(top, remainder)

    # Begun on the left, ended on the right

    def file_pair(self, right: ClosedBlock) -> int | None:
        return self.suite_pair(0, right, self.language.file_body)

    def suite_pair(self, depth: int, closed: ClosedBlock, body: int) -> int | None:
        if not closed.fits(self.blocks[depth].frame.column):
            return None
        return self.symbol(
            ("suites", depth, closed, body), lambda: self._suite_pair_rules(depth, closed, body)
        )

    def _suite_pair_rules(self, depth: int, closed: ClosedBlock, body: int) -> Iterable[Rhs]:
        block = self.blocks[depth]
        groups = self.language.lists[body]
        begun_top, ended_top = self._tops(body, depth)
        for remainder in closed.remainders_in(block.frame.column):
            for ended in self.right_parts(body, remainder):
                for begun in self.left_parts(body, depth):
                    if (
                        begun
                        and remainder.group
                        and self._escapes(begun_top, (), ended_top, depth, remainder)
                    ):
                        continue
                    yield (*begun, groups, ended)
                    if begun or remainder.group or remainder.has_groups or not block.empty or not depth:
                        yield (*begun, ended)
            if body in remainder.bodies and remainder.group is not None:
                yield from self._same_group(depth, remainder, body)

    def _same_group(self, depth: int, remainder: Remainder, body: int) -> Iterable[Rhs]:
        begun, ended = self._tops(body, depth)
        pair = self.pair(begun, depth, ended, remainder)
        if pair is not None:
            yield (pair,)

    def _tops(self, body: int, depth: int) -> tuple[Open, Open]:
        """The last group of an open block, as it begins on the left and as it ends on the right."""
        return (body, self.blocks[depth].start), (body, self.language.backward.start(self.language.bodies))

    def _escapes(
        self,
        begun: Open | Hole | None,
        between: Rhs,
        ended: Open | Hole | None,
        depth: int,
        remainder: Remainder,
    ) -> bool:
        """Whether a middle escapes that ends *begun*, goes on with *between*, and begins *ended*."""
        if self.kept is None or remainder.group is None:
            return False
        block, language = self.blocks[depth], self.language
        left = of_child(begun, language.forward.insides(block.group, block.suites))
        if depth + 1 < len(self.blocks):
            left |= self.blocks[-1].inside
        if depth + 1 >= self.kept:
            left &= ~Inside.BLOCK
        suites = tuple(language.suites) if remainder.suites else None
        right = of_child(ended, language.backward.insides(remainder.group, suites)) & ~Inside.BLOCK
        return language.brackets.escapes(left, between, right | remainder.inside)

    def pair(self, begun: Open, depth: int, ended: Open, remainder: Remainder) -> int | None:
        if begun not in self.blocks[depth].spine or ended not in self.right_spine(remainder):
            return None
        key = begun, depth, ended, remainder.group, remainder.marker, remainder.suites
        return self.symbol(key, lambda: self._pair_rules(begun, depth, ended, remainder))

    def _pair_rules(self, begun: Open, depth: int, ended: Open, remainder: Remainder) -> Iterable[Rhs]:
        lefts = self.blocks[depth].spine[begun]
        rights = self.right_spine(remainder)[ended]
        if begun[0] in self.language.grammar.repetitions:
            yield from self._repetition_pair_rules(begun[0], lefts, rights, depth, remainder)
            return
        by_rule: dict[int, list[Progress]] = {}
        for right in rights:
            by_rule.setdefault(right.rule, []).append(right)
        for left in lefts:
            for right in by_rule.get(left.rule, ()):
                yield from self._joined(left, right, depth, remainder)

    def _joined(self, left: Progress, right: Progress, depth: int, remainder: Remainder) -> Iterable[Rhs]:
        rhs = self.base.rhs(left.rule)
        first = left.read + (left.child is not None)
        last = len(rhs) - right.read - (right.child is not None)
        if first <= last:
            between = rhs[first:last]
            if not self._escapes(left.child, between, right.child, depth, remainder):
                ended = self._right_child(right.child, remainder)
                yield (*self._begun(left.child, depth), *between, ended)
        elif left.child is not None and right.child is not None and left.read == last:
            yield from self._same_child(left.child, right.child, depth, remainder)

    def _begun(self, child: Open | Hole | None, depth: int) -> Rhs:
        return () if child is None else (self._left_child(child, depth),)

    def _same_child(
        self, begun: Open | Hole, ended: Open | Hole, depth: int, remainder: Remainder
    ) -> Iterable[Rhs]:
        if isinstance(begun, Hole):
            assert begun == ended
            body = self.language.suites[begun.suite]
            pairs = [self.suite_pair(depth + 1, closed, body) for closed in remainder.suites]
        else:
            assert not isinstance(ended, Hole)
            pairs = [self.pair(begun, depth, ended, remainder)]
        return [(pair,) for pair in pairs if pair is not None]

    def _repetition_pair_rules(
        self,
        symbol: int,
        lefts: Iterable[Progress],
        rights: Iterable[Progress],
        depth: int,
        remainder: Remainder,
    ) -> Iterable[Rhs]:
        """A repetition open on both sides: the rest of an element, elements, the beginning of an element."""
        element = self.language.grammar.repetitions[symbol]
        left_children = _element_children(lefts, element)
        right_children = _element_children(rights, element)
        for begun_child in left_children:
            for ended_child in right_children:
                if not self._escapes(begun_child, (), ended_child, depth, remainder):
                    begun = self._begun(begun_child, depth)
                    ended = self._right_child(ended_child, remainder)
                    yield (*begun, ended)
                    yield (*begun, symbol, ended)
                if begun_child is not None and ended_child is not None:
                    yield from self._same_child(begun_child, ended_child, depth, remainder)

    # The whole

    def finish(self, roots: list[int | None]) -> MiddleGrammar | None:
        for number, make in self.pending:  # grows meanwhile
            self.rules[number] = list(dict.fromkeys(make()))
        self.pending.clear()  # its closures would keep the builder alive until a full collection
        productive = self._productive()
        barren = self.rules.keys() - productive
        present = [root for root in roots if root in productive]
        if not present:
            return None
        rules = self.base.copy()
        for lhs in productive:
            alternatives = self.rules[lhs]
            if barren:
                alternatives = [rhs for rhs in alternatives if barren.isdisjoint(rhs)]
            rules.add_all(lhs, alternatives)
        earley = Earley(self.language.forward.earley.automaton.extended(rules))
        return MiddleGrammar(
            self.language, earley, earley.start(present), frozenset(present), tuple(self.indents)
        )

    def _productive(self) -> set[int]:
        """The new symbols that derive something.

        Symbols are made before those in their rules, so going backwards nearly always takes one pass.
        """
        found: set[int] = set()
        backwards = list(self.rules.items())[::-1]
        before = -1
        while len(found) > before:
            before = len(found)
            for lhs, alternatives in backwards:
                if lhs not in found and any(
                    all(symbol in found or symbol not in self.rules for symbol in rhs) for rhs in alternatives
                ):
                    found.add(lhs)
        return found


def _element_children(progresses: Iterable[Progress], element: int) -> list[Open | Hole | None]:
    """How the elements of a repetition stand at the cursor: between two (None), or in an open one."""
    children: dict[Open | Hole | None, None] = {}
    for progress in progresses:
        if progress.child is None:
            children[None] = None
        elif not isinstance(progress.child, Hole) and progress.child[0] == element:
            children[progress.child] = None
    return list(children)
