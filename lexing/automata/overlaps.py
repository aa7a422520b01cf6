"""All texts that regular expressions match, without the preferences of a matcher.

`overlaps` finds the lexemes that can be taken for each other, by the subset construction of all expressions
at once. Look-arounds count as true there. So an overlap may be reported that they exclude, and none is
missed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

from fimlsp.lexing.automata.leftmost_first import Accept, Again, Ahead, Behind, Bytes, Program, Split


@dataclass(frozen=True, slots=True)
class Overlaps:
    """For each kind, as bit sets.

    Attributes:
        same: the other kinds that match some text of it as a whole.
        beyond: for each other kind that may go on after a text of it, the bytes it goes on with.
    """

    same: tuple[int, ...]
    beyond: tuple[dict[int, int], ...] = field(hash=False)


def overlaps(
    program: Program, starts: Sequence[int], ends: Sequence[int], check: Callable[[int], None]
) -> Overlaps:
    """The overlaps of the expressions that start at the steps *starts*.

    The steps of each were added to *program* one after the other, up to *ends*. *check* receives the number
    of states from time to time, and may raise.
    """
    search = _Joint(program, ends)
    same = [0] * len(starts)
    beyond: list[dict[int, int]] = [{} for _ in starts]
    begin = search.reached(starts)
    seen, pending = {begin}, [begin]
    for state in pending:
        check(len(pending))
        going_on: dict[int, int] = {}
        targets: dict[int, set[int]] = {}
        accepting = 0
        for number in state:
            step = program.steps[number]
            if isinstance(step, Accept):
                accepting |= 1 << step.kind
            elif isinstance(step, Bytes):
                owner = search.owner(number)
                going_on[owner] = going_on.get(owner, 0) | search.bits(number, step.table)
                for byte, target in step.table.items():
                    targets.setdefault(byte, set()).add(target)
        for kind in range(accepting.bit_length()):
            if accepting >> kind & 1:
                same[kind] |= accepting & ~(1 << kind)
                for other, bits in going_on.items():
                    if other != kind:
                        beyond[kind][other] = beyond[kind].get(other, 0) | bits
        for reached in {frozenset(several) for several in targets.values()}:
            following = search.reached(reached)
            if following not in seen:
                seen.add(following)
                pending.append(following)
    return Overlaps(tuple(same), tuple(beyond))


def first_bytes(program: Program, start: int) -> int:
    """The bytes that texts of the expression from the step *start* on may start with, as a bit set."""
    steps = (program.steps[number] for number in _Joint(program, ()).reached([start]))
    return reduce(or_, (_bits(step.table) for step in steps if isinstance(step, Bytes)), 0)


def _bits(table: dict[int, int]) -> int:
    return sum(1 << byte for byte in table)


class _Joint:
    """The steps of a program, without the conditions of its look-arounds."""

    def __init__(self, program: Program, ends: Sequence[int]) -> None:
        self._steps = program.steps
        self._ends = ends
        self._known: dict[int, int] = {}

    def owner(self, number: int) -> int:
        """The expression that step *number* belongs to."""
        return bisect_right(self._ends, number)

    def bits(self, number: int, table: dict[int, int]) -> int:
        """The bytes that step *number* reads."""
        bits = self._known.get(number)
        if bits is None:
            bits = self._known[number] = _bits(table)
        return bits

    def reached(self, steps: Sequence[int] | frozenset[int]) -> frozenset[int]:
        """The steps that read or accept, to which *steps* lead without reading."""
        waiting, seen = list(steps), set(steps)
        while waiting:
            match self._steps[waiting.pop()]:
                case Split(targets):
                    following: Sequence[int] = targets
                case Again(head, exit_):
                    following = (head, exit_)
                case Ahead(_, _, target) | Behind(_, _, target):
                    following = (target,)
                case _:
                    following = ()
            waiting.extend(set(following) - seen)
            seen.update(following)
        return frozenset(one for one in seen if isinstance(self._steps[one], Bytes | Accept))
