"""Finds a cheap text with which a place of a script connects to the right text: best-first search.

First what is open is ended; where that does not lead to a place from which the right text can be read,
brackets, blocks and statements are begun as it needs them, and what it uses is declared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush

from fimlsp.languages.slua.both_sides.declarations import declarations
from fimlsp.languages.slua.both_sides.moves import Moves
from fimlsp.languages.slua.both_sides.reading import Entrance, Reader, Stop
from fimlsp.languages.slua.incremental.environment import Environment
from fimlsp.languages.slua.incremental.machine import Machine, Restore, Stack, Task
from fimlsp.languages.slua.incremental.statements import Block, Branch
from fimlsp.languages.slua.incremental.tokens import needs_blank
from fimlsp.languages.slua.incremental.written_types import Fields

MOST_PLACES = 1000
MOST_DECLARATIONS = 300
_MOST_DEPTH = 12
_ENDING = 2
_DETOUR = 6
_LEVEL = 20
_LONG = 8
_PATIENCE = 2
"""So many places cost what one blank does."""


@dataclass(frozen=True, slots=True)
class Written:
    """A place that was come to by writing *tokens*.

    Attributes:
        machine: the place.
        before: the last lexeme there.
        first: the last lexeme before the tokens.
        tokens: what was written.
        blocks: where on the way a statement might be written: the number of tokens before, the place, and the
            last lexeme there.
        floor: the fewest brackets and blocks that were open on the way.
        has_begun: whether something was begun, and not only ended what was open before.
    """

    machine: Machine
    before: str
    first: str
    tokens: tuple[str, ...] = ()
    blocks: tuple[tuple[int, Machine, str], ...] = ()
    floor: int = 0
    has_begun: bool = False

    @property
    def is_own(self) -> bool:
        """Whether the place is in a bracket or block that was opened on the way."""
        return self.has_begun and len(self.machine.outline) > self.floor

    @property
    def text(self) -> bytes:
        """The text of the tokens, with blanks where they need them."""
        before, text = self.first, ""
        for token in self.tokens:
            text += f" {token}" if needs_blank(before, token) else token
            before = token
        return text.encode("utf-8")

    def after(self, tokens: tuple[str, ...]) -> Written | None:
        """Behind further *tokens*; None if one may not come."""
        found: Written = self
        for token in tokens:
            machine = found.machine.take(token)
            if machine is None:
                return None
            found = replace(found, machine=machine, before=token, tokens=(*found.tokens, token))._marked()
        return found

    def _marked(self) -> Written:
        """With this place among the blocks, if it is one."""
        if self.machine.stack is None or not isinstance(self.machine.stack.task, Block | Fields):
            return self
        here = (len(self.tokens), self.machine, self.before)
        return replace(self, blocks=(*self.blocks, here))

    def reached(self, has_begun: bool) -> Written:
        """With what is known of the way here, on which at last something was begun or not."""
        floor = min(self.floor, len(self.machine.outline))
        return replace(self, floor=floor, has_begun=self.has_begun or has_begun)

    def with_declaration(self, block: tuple[int, Machine, str], tokens: tuple[str, ...]) -> Written | None:
        """With *tokens* written at that *block*; None if something may not come then."""
        number, machine, before = block
        blocks = tuple(each for each in self.blocks if each[0] <= number)
        start = Written(machine, before, self.first, self.tokens[:number], blocks)
        return start.after((*tokens, *self.tokens[number:]))


class Search:
    """Searches for what connects places of a script to what *reader* reads; *kept* levels stay open.

    It looks at `MOST_PLACES` each time, or at *places* in all.
    """

    def __init__(self, reader: Reader, kept: int = 0, places: int | None = None) -> None:
        self._reader = reader
        self._kept = kept
        self._places = places
        self._declarations = MOST_DECLARATIONS if places is None else places
        self._moves = Moves(reader.right)
        self._declared = 0

    def connecting(self, machine: Machine, before: str) -> bytes | None:
        """A cheap text that connects *machine*, behind the lexeme *before*; None if none is found."""
        self._declared = 0
        start = Written(machine, before, before, floor=len(machine.outline))._marked()
        waiting = _Waiting()
        waiting.add(0, 0, start)
        shapes, seen = _Shapes(), set[object]()
        most = MOST_PLACES if self._places is None else self._places
        while len(seen) < most and (found := waiting.next()):
            cost_before, place = found
            shape = shapes.of(place.machine.stack), self._known_names(place.machine.environment)
            if shape in seen:
                continue
            seen.add(shape)
            self._places = None if self._places is None else self._places - 1
            text = self._entered(place)
            if text is not None:
                return text
            finishing = self._moves.finishing(place.machine, place.is_own)
            others = self._moves.others(place.machine, place.has_begun)
            for tokens, cost in ((finishing, _ENDING), *((t, _DETOUR + _size(t)) for t in others)):
                following = place.after(tokens) if tokens else None
                if following is not None and len(following.machine.outline) >= self._kept:
                    following = following.reached(tokens is not finishing)
                    ahead = _LEVEL * self._moves.levels_to_open(following.machine.outline)
                    waiting.add(cost_before + cost, ahead, following)
        return None

    def _known_names(self, environment: Environment) -> tuple[object, ...]:
        """What the names of the right text mean in *environment*."""
        variables, types = environment.variables, environment.types
        return tuple(variables.get(name) or types.get(name) for name in self._reader.right.used_names)

    def _entered(self, place: Written) -> bytes | None:
        """What is written if the right text can be read from *place*, after declarations if it needs any."""
        right = self._reader.right
        for entrance in self._reader.entrances(place.machine, place.before):
            if entrance.machine.outline not in right.outlines(entrance.offset):
                continue
            stop = self._reader.stop(entrance.machine, entrance.offset)
            if stop is None:
                return place.text + entrance.written
            found = self._declaring(place, entrance, stop, _MOST_DEPTH)
            if found is not None:
                return found
        return self._named(place)

    def _named(self, place: Written) -> bytes | None:
        """As `_entered`, with a variable declared whose name ends with what the right text begins with."""
        word, right = self._reader.right.word, self._reader.right
        if not word[:1].isdigit() or place.machine.outline not in right.outlines(len(word)):
            return None
        entrance = Entrance(b"a", place.machine, len(word))
        return self._declaring(place, entrance, Stop(place.machine, 0, f"a{word}"), _MOST_DEPTH)

    def _declaring(self, place: Written, entrance: Entrance, stop: Stop, depth: int) -> bytes | None:
        """As `_entered`, with what is missing at *stop* declared in a block around it."""
        if not depth or not (stop.lacks_variable or stop.lacks_type or stop.lacks_field):
            return None
        for changed in self._with_declarations(place, stop):
            again = self._same_entrance(changed, entrance)
            if again is None:
                continue
            following = self._reader.stop(again.machine, again.offset)
            if following is None:
                return changed.text + again.written
            if following.offset > stop.offset:
                found = self._declaring(changed, again, following, depth - 1)
                if found is not None:
                    return found
        return None

    def _with_declarations(self, place: Written, stop: Stop) -> Iterator[Written]:
        """*place* with each declaration that may mend *stop*, in the innermost block that it can be in."""
        size = len(stop.machine.outline)
        for block in reversed(place.blocks):
            if not stop.lacks_field and len(block[1].outline) > size:
                continue
            for text in declarations(stop, block[1], self._reader.right):
                self._declared += 1
                if self._declared > self._declarations:
                    return
                changed = place.with_declaration(block, self._moves.tokens(block[1], text))
                if changed is not None:
                    yield changed

    def _same_entrance(self, place: Written, entrance: Entrance) -> Entrance | None:
        """The entrance at the changed *place* that is like *entrance*."""
        for each in self._reader.entrances(place.machine, place.before):
            if (each.written.strip(), each.offset) == (entrance.written.strip(), entrance.offset):
                return each
        return None


def _size(tokens: tuple[str, ...]) -> int:
    return min(sum(map(len, tokens)), _LONG)


class _Waiting:
    """The places that are still to be looked at.

    A search within what is open could last for ever, and what connects be beyond it; so the more places were
    looked at with so much left open, the later come others.
    """

    def __init__(self) -> None:
        self._queues: dict[int, list[tuple[int, int, int, Written]]] = {}
        self._taken: Counter[int] = Counter()
        self._count = 0

    def add(self, cost: int, ahead: int, place: Written) -> None:
        """Add *place*, come to at *cost*, with *ahead* still to go."""
        self._count += 1
        queue = place.floor if place.has_begun else -1
        heappush(self._queues.setdefault(queue, []), (cost + ahead, self._count, cost, place))

    def next(self) -> tuple[int, Written] | None:
        """The cost of a place and the place, which is no longer here; None if none is left."""
        if not self._queues:
            return None
        floor = min(self._queues, key=lambda each: self._queues[each][0][0] + self._taken[each] // _PATIENCE)
        self._taken[floor] += 1
        _, _, cost, place = heappop(self._queues[floor])
        if not self._queues[floor]:
            del self._queues[floor]
        return cost, place


class _Shapes:
    """Numbers for what is open, the same for stacks of equal tasks whatever is in scope."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Task | str, int], int] = {}
        self._known: dict[int, tuple[Stack, int]] = {}

    def of(self, stack: Stack | None) -> int:
        """The number of *stack*."""
        if stack is None:
            return 0
        if id(stack) not in self._known:
            task: Task | str = stack.task
            if isinstance(task, Restore):
                task = "scope"
            elif isinstance(task, Branch):
                task = f"branch {task.returned} {task.is_last}"
            key = (task, self.of(stack.below))
            self._known[id(stack)] = (stack, self._numbers.setdefault(key, len(self._numbers) + 1))
        return self._known[id(stack)][1]
