"""The state of a middle between two parts of a script, and the search for a text that connects them.

The search is best-first. It first ends open constructs. If the right text cannot be read there, it opens the
brackets, blocks and statements that the text closes. It also declares the names that the text uses.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from fimlsp.languages.slua.incremental.machine import Environment, LeaveScope, Machine, Stack
from fimlsp.languages.slua.incremental.statements import Block, Branch, ScriptState, begin
from fimlsp.languages.slua.incremental.type_expressions import FieldDeclarations
from fimlsp.languages.slua.interface import Interface
from fimlsp.languages.slua.lexemes import DIGITS, LETTERS, WORD, is_name, needs_space
from fimlsp.languages.slua.middles.candidates import CandidateTokens
from fimlsp.languages.slua.middles.right_text import Junction, Mismatch, RightText, RightTextReader
from fimlsp.languages.slua.middles.type_inference import declarations
from fimlsp.languages.typed.machine import Task

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary


def between(left: bytes, right: bytes, interface: Interface) -> MiddleState | None:
    """The state before a middle between *left* and *right*; None if no connection is found."""
    return middle_between(begin(interface).feed(left), right)


def middle_between(
    left: ScriptState | None, right: bytes, *, may_escape: bool = True, most_nodes: int | None = None
) -> MiddleState | None:
    """As `between`, after the state *left*.

    Unless it *may_escape*, a middle closes nothing that is open at its start. The search for the first
    completion visits at most *most_nodes* if that is given.
    """
    if left is None:
        return None
    kept = None if may_escape else (left.machine_at_end or left.machine).stack
    completion = MiddleState(left, RightSide(right, kept, most_nodes)).completion
    return None if completion is None else MiddleState(left, RightSide(right, kept), completion)


class RightSide:
    """The text right of the cursor, its reader, and the search for connections to it.

    *kept* are the tasks that must stay open; None if anything may be closed. *most_nodes* as in `Search`.
    """

    def __init__(self, data: bytes, kept: Stack | None, most_nodes: int | None = None) -> None:
        self._levels = 0 if kept is None else len(kept.outline)
        self._floor = None if kept is None else level_of(kept, self._levels).below
        self.text = RightText(data)
        self.reader = RightTextReader(self.text)
        self.search = Search(self.reader, self._levels, most_nodes)
        self.is_empty = not data.strip(b" \t\r\n")

    @property
    def has_floor(self) -> bool:
        """True if some construct has to stay open."""
        return self._levels > 0

    def keeps(self, script: ScriptState) -> bool:
        """True if every construct that has to stay open is open at the end of *script*."""
        stack = (script.machine_at_end or script.machine).stack
        if not self._levels:
            return True
        if stack is None or len(stack.outline) < self._levels:
            return False
        return level_of(stack, self._levels).below is self._floor


def level_of(stack: Stack, size: int) -> Stack:
    """The lowest part of *stack* with *size* open brackets and blocks."""
    while stack.below is not None and len(stack.below.outline) >= size:
        stack = stack.below
    return stack


class MiddleState:
    """The state after some bytes of a middle. Immutable; it is never a dead end.

    Attributes:
        script: the state of the script up to here.
        right: the text after the middle.
    """

    def __init__(self, script: ScriptState, right: RightSide, completion: bytes | None = None) -> None:
        self.script = script
        self.right = right
        self._known = completion

    def feed(self, data: bytes) -> MiddleState | None:
        """The state after *data*; None if no middle that starts so is found."""
        script = self.script.feed(data)
        if script is None or not self.right.keeps(script):
            return None
        completion = self.completion
        assert completion is not None
        if completion.startswith(data):
            rest: bytes | None = completion[len(data) :]
        else:
            rest = carry_over(completion, self.script, script, self.right.text)
        state = MiddleState(script, self.right, rest)
        return state if state.completion is not None else None

    @cached_property
    def complete(self) -> bool:
        """True if the middle may end here: the whole script is valid."""
        return self.right.reader.is_complete(self.script)

    @cached_property
    def completion(self) -> bytes | None:
        """A cheap text that completes the middle; None if none is found."""
        if self.right.is_empty and not self.right.has_floor:
            return self.script.shortest_completion
        if self.complete:
            return b""
        if self._known is not None:
            return self._known
        return self._searched()

    @property
    def shortest_completion(self) -> bytes:
        """A text, near the shortest, that completes the middle; empty if it is complete."""
        assert self.completion is not None
        return self.completion

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """As in `fimlsp.quotient.states.protocol.State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """As in `fimlsp.quotient.states.protocol.State`, computed by feeding each text."""
        from fimlsp.quotient.masks.vocabulary import recheck

        numbers = [n for n, may_come in enumerate(self.script.allowed_texts(vocabulary).tolist()) if may_come]
        return recheck(vocabulary, None, numbers, lambda text: self.feed(text) is not None)

    def _searched(self) -> bytes | None:
        search, partial = self.right.search, self.script.partial
        if not partial:
            return search.connect(self.script.machine, "")
        completions = list(self._joining())
        for added in self._endings():
            token = (partial + added).decode("utf-8")
            machine = self.script.machine.take(token)
            text = None if machine is None else search.connect(machine, token)
            if text is not None:
                completions.append(added + text)
        return min(completions, key=len, default=None)

    def _endings(self) -> Iterator[bytes]:
        """Possible ends of the partial lexeme."""
        yield from self.script.endings()
        if self.script.partial[0] in LETTERS:
            partial = self.script.partial.decode("ascii")
            names = self.right.text.used_names
            yield from (name[len(partial) :].encode("ascii") for name in names if name.startswith(partial))

    def _joining(self) -> Iterator[bytes]:
        """Texts that join the partial lexeme to its rest on the right."""
        script, reader = self.script, self.right.reader
        partial, word = script.partial, self.right.text.word
        added: set[bytes] = set()
        if partial[0] in LETTERS and word:
            text = partial.decode("ascii")
            words = script.machine.expected().words | self.right.text.names
            fitting = (w for w in words if w.startswith(text) and w.endswith(word))
            whole = (w for w in fitting if len(w) > len(text) + len(word))
            added = {w[len(text) : -len(word)].encode("ascii") for w in whole} | {b"x"}
        elif partial[0] == ord('"'):
            added = {ending[:-1] for ending in script.endings()}
        for text_between in added:
            lexeme = self.right.text.joined(partial + text_between)
            machine = lexeme and script.machine.take(lexeme.text)
            if lexeme and machine and reader.mismatch(machine, lexeme.end) is None:
                yield text_between


def carry_over(completion: bytes, before: ScriptState, after: ScriptState, right: RightText) -> bytes | None:
    """A completion of *after*, the state that follows *before*; None if only a search can tell.

    *completion* completes *before*. A string, a number or a new name may grow, and space may come between
    lexemes. The same text still completes the script, since only types and scopes decide. A new name is
    renamed in it.
    """
    data, partial = after.partial, before.partial
    if not partial or after.machine is not before.machine or not data.startswith(partial):
        return completion if _is_space_between(completion, before, after) else None
    if not completion or completion[0] in WORD or completion[:1] == b"." or right.word:
        return None
    if partial[0] == ord('"'):
        is_whole = completion[:1] == b'"' and next(after.endings()) == b'"'
        return completion if is_whole else None
    if partial[0] in DIGITS:
        return completion if data[-1] in DIGITS else None
    return _renamed(completion, before, data.decode("ascii"), right) if partial[0] in LETTERS else None


def _is_space_between(completion: bytes, before: ScriptState, after: ScriptState) -> bool:
    """True if only white space was written, and *completion* does not continue the partial lexeme."""
    if after.partial:
        return False
    if not before.partial:
        return after.machine is before.machine
    return (
        after.machine is before.machine_at_end
        and bool(completion)
        and not before.continues_with(completion[0])
    )


def _renamed(completion: bytes, before: ScriptState, name: str, right: RightText) -> bytes | None:
    """*completion* with *name* for the partial name, if both are new and *right* has neither."""
    old, expected = before.partial.decode("ascii"), before.machine.expected()
    if expected.taken_names is None:
        return None
    is_new = {old, name}.isdisjoint({*expected.taken_names, *expected.words, *right.names})
    words = set(re.findall(rb"\w+", completion))
    if not (is_new and is_name(old) and is_name(name)) or name.encode() in words:
        return None
    return re.sub(rb"\b%s\b" % before.partial, name.encode(), completion)


MOST_NODES = 1000
MOST_DECLARATIONS = 300
_MOST_DEPTH = 12

_COMPLETING, _ALTERNATIVE, _MOST_LENGTH = 2, 6, 8
"""Costs of a step: completing an open construct; starting another one, plus its length up to a limit."""

_LEVEL = 20
"""Estimated cost of each bracket or block that is still to be opened."""

_PATIENCE = 2
"""Number of visited nodes that delay the others of their floor by a cost of one."""

BlockStart = tuple[int, Machine, str]
"""A place where a statement could be inserted: the number of tokens before it, its state, its last lexeme."""


@dataclass(frozen=True, slots=True)
class SearchNode:
    """A place that is reached by writing *tokens*.

    Attributes:
        machine: the place.
        before: the last lexeme there.
        first: the last lexeme before the tokens.
        tokens: the written lexemes.
        blocks: the places on the way where a statement could be inserted.
        floor: the fewest brackets and blocks that were open on the way.
        has_begun: True if a construct was started; False if open ones were only completed.
    """

    machine: Machine
    before: str
    first: str
    tokens: tuple[str, ...] = ()
    blocks: tuple[BlockStart, ...] = ()
    floor: int = 0
    has_begun: bool = False

    @property
    def is_own(self) -> bool:
        """True if the place is in a bracket or block that was opened on the way."""
        return self.has_begun and len(self.machine.outline) > self.floor

    @property
    def text(self) -> bytes:
        """The text of the tokens, with spaces where they need them."""
        before, text = self.first, ""
        for token in self.tokens:
            text += f" {token}" if needs_space(before, token) else token
            before = token
        return text.encode("utf-8")

    def after(self, tokens: tuple[str, ...]) -> SearchNode | None:
        """The node after further *tokens*; None if one may not come."""
        node: SearchNode = self
        for token in tokens:
            machine = node.machine.take(token)
            if machine is None:
                return None
            node = replace(node, machine=machine, before=token, tokens=(*node.tokens, token))
            node = node.with_block_start()
        return node

    def with_block_start(self) -> SearchNode:
        """With this place among the blocks, if a statement can be inserted here."""
        if not isinstance(self.machine.task, Block | FieldDeclarations):
            return self
        here = (len(self.tokens), self.machine, self.before)
        return replace(self, blocks=(*self.blocks, here))

    def reached(self, has_begun: bool) -> SearchNode:
        """With the floor of the way here, whose last step started a construct if it *has_begun* one."""
        floor = min(self.floor, len(self.machine.outline))
        return replace(self, floor=floor, has_begun=self.has_begun or has_begun)

    def with_declaration(self, block: BlockStart, tokens: tuple[str, ...]) -> SearchNode | None:
        """With *tokens* inserted at *block*; None if a later token may not come then."""
        number, machine, before = block
        blocks = tuple(start for start in self.blocks if start[0] <= number)
        start = SearchNode(machine, before, self.first, self.tokens[:number], blocks)
        return start.after((*tokens, *self.tokens[number:]))


class Search:
    """Searches for texts that connect places of a script to the text of *reader*; *kept* levels stay open.

    It visits `MOST_NODES` for each search, or *most_nodes* in all.
    """

    def __init__(self, reader: RightTextReader, kept: int = 0, most_nodes: int | None = None) -> None:
        self._reader = reader
        self._kept = kept
        self._nodes_left = most_nodes
        self._most_declarations = MOST_DECLARATIONS if most_nodes is None else most_nodes
        self._candidates = CandidateTokens(reader.right)
        self._declared = 0

    def connect(self, machine: Machine, before: str) -> bytes | None:
        """A cheap text that connects *machine*, after the lexeme *before*; None if none is found."""
        self._declared = 0
        start = SearchNode(machine, before, before, floor=len(machine.outline)).with_block_start()
        frontier = _Frontier()
        frontier.add(0, 0, start)
        numbers, seen = _StackNumbers(), set[object]()
        most = MOST_NODES if self._nodes_left is None else self._nodes_left
        while len(seen) < most and (popped := frontier.pop()):
            cost, node = popped
            key = numbers.of(node.machine.stack), self._meanings(node.machine.environment)
            if key in seen:
                continue
            seen.add(key)
            self._nodes_left = None if self._nodes_left is None else self._nodes_left - 1
            text = self._joined(node)
            if text is not None:
                return text
            for step, following in self._steps(node):
                to_open = self._candidates.levels_to_open(following.machine.outline)
                frontier.add(cost + step, _LEVEL * to_open, following)
        return None

    def _steps(self, node: SearchNode) -> Iterator[tuple[int, SearchNode]]:
        """The nodes after *node*, each with the cost of the step."""
        completing = self._candidates.completing(node.machine, node.is_own)
        following = self._step(node, completing, has_begun=False)
        if following is not None:
            yield _COMPLETING, following
        for tokens in self._candidates.alternatives(node.machine, node.has_begun):
            following = self._step(node, tokens, has_begun=True)
            if following is not None:
                yield _ALTERNATIVE + min(sum(map(len, tokens)), _MOST_LENGTH), following

    def _step(self, node: SearchNode, tokens: tuple[str, ...], *, has_begun: bool) -> SearchNode | None:
        following = node.after(tokens) if tokens else None
        if following is None or len(following.machine.outline) < self._kept:
            return None
        return following.reached(has_begun)

    def _meanings(self, environment: Environment) -> tuple[object, ...]:
        """The meaning of each name of the right text in *environment*."""
        variables, types = environment.variables, environment.types
        return tuple(variables.get(name) or types.get(name) for name in self._reader.right.used_names)

    def _joined(self, node: SearchNode) -> bytes | None:
        """The text after which the right text can be read at *node*, with declarations if it needs any."""
        right = self._reader.right
        for junction in self._reader.junctions(node.machine, node.before):
            if junction.machine.outline not in right.outlines(junction.offset):
                continue
            mismatch = self._reader.mismatch(junction.machine, junction.offset)
            if mismatch is None:
                return node.text + junction.written
            text = self._declaring(node, junction, mismatch, _MOST_DEPTH)
            if text is not None:
                return text
        return self._joined_by_name(node)

    def _joined_by_name(self, node: SearchNode) -> bytes | None:
        """As `_joined`, with a new variable whose name ends with the start of the right text, a digit."""
        word, right = self._reader.right.word, self._reader.right
        if not word[:1].isdigit() or node.machine.outline not in right.outlines(len(word)):
            return None
        junction = Junction(b"a", node.machine, len(word))
        return self._declaring(node, junction, Mismatch(node.machine, 0, f"a{word}"), _MOST_DEPTH)

    def _declaring(
        self, node: SearchNode, junction: Junction, mismatch: Mismatch, depth: int
    ) -> bytes | None:
        """As `_joined`, with the name that is missing at *mismatch* declared in a block around it."""
        if not depth or not (mismatch.lacks_variable or mismatch.lacks_type or mismatch.lacks_field):
            return None
        for changed in self._with_declarations(node, mismatch):
            again = self._same_junction(changed, junction)
            if again is None:
                continue
            following = self._reader.mismatch(again.machine, again.offset)
            if following is None:
                return changed.text + again.written
            if following.offset > mismatch.offset:
                text = self._declaring(changed, again, following, depth - 1)
                if text is not None:
                    return text
        return None

    def _with_declarations(self, node: SearchNode, mismatch: Mismatch) -> Iterator[SearchNode]:
        """*node* with each declaration that may resolve *mismatch*, in the innermost possible block first."""
        size = len(mismatch.machine.outline)
        for block in reversed(node.blocks):
            if not mismatch.lacks_field and len(block[1].outline) > size:
                continue
            for text in declarations(mismatch, block[1], self._reader.right):
                self._declared += 1
                if self._declared > self._most_declarations:
                    return
                changed = node.with_declaration(block, self._candidates.tokens(block[1], text))
                if changed is not None:
                    yield changed

    def _same_junction(self, node: SearchNode, junction: Junction) -> Junction | None:
        """The junction at the changed *node* that corresponds to *junction*."""
        for possible in self._reader.junctions(node.machine, node.before):
            if (possible.written.strip(), possible.offset) == (junction.written.strip(), junction.offset):
                return possible
        return None


class _Frontier:
    """The nodes that are still to be visited.

    A search within open constructs might never end, though a connection lies beyond them. So the more nodes
    of one floor were visited, the later its other ones follow.
    """

    def __init__(self) -> None:
        self._queues: dict[int, list[tuple[int, int, int, SearchNode]]] = {}
        self._visited: Counter[int] = Counter()
        self._count = 0

    def add(self, cost: int, estimate: int, node: SearchNode) -> None:
        """Add *node*, reached at *cost*, with an *estimate* of the remaining cost."""
        self._count += 1
        floor = node.floor if node.has_begun else -1
        heappush(self._queues.setdefault(floor, []), (cost + estimate, self._count, cost, node))

    def pop(self) -> tuple[int, SearchNode] | None:
        """The cost of the next node, and the node, which is removed; None if none is left."""
        if not self._queues:
            return None
        floor = min(self._queues, key=self._priority)
        self._visited[floor] += 1
        _, _, cost, node = heappop(self._queues[floor])
        if not self._queues[floor]:
            del self._queues[floor]
        return cost, node

    def _priority(self, floor: int) -> int:
        return self._queues[floor][0][0] + self._visited[floor] // _PATIENCE


class _StackNumbers:
    """Numbers for stacks: the same for stacks of equal tasks, whatever their scopes."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Task[Machine] | str, int], int] = {}
        self._known: dict[int, tuple[Stack, int]] = {}

    def of(self, stack: Stack | None) -> int:
        """The number of *stack*."""
        if stack is None:
            return 0
        if id(stack) not in self._known:
            task: Task[Machine] | str = stack.task
            if isinstance(task, LeaveScope):
                task = "scope"
            elif isinstance(task, Branch):
                task = f"branch {task.returned} {task.is_last}"
            key = (task, self.of(stack.below))
            self._known[id(stack)] = (stack, self._numbers.setdefault(key, len(self._numbers) + 1))
        return self._known[id(stack)][1]
