"""Lists the open blocks of a left context, each with the rules that are open in its last group."""

from __future__ import annotations

from fimlsp.quotient.contexts.left import Frame, LeftContext
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.language.escape import NOTHING, Inside
from fimlsp.quotient.language.tables import LanguageTables


class LeftBlock:
    """An open block, with the rules that are open in its last group.

    `empty` means that it has no group yet. `complete_bodies` is what its groups may be if the last one is
    complete at the cursor. *inner* is the open block within its last group.
    """

    def __init__(
        self, tables: LanguageTables, frame: Frame, group: EarleySet, inner: LeftBlock | None = None
    ) -> None:
        self.tables = tables
        self.frame = frame
        self.start = tables.forward.start(frame.bodies)
        suites = (
            None if inner is None else tables.suites_of(frozenset(filter(inner.may_be, inner.frame.bodies)))
        )
        self.open_rules = tables.forward.open_rules(group, suites)
        self.empty = group is self.start
        done = group.completed_from(self.start) & frame.bodies if inner is None else frozenset[int]()
        self.complete_bodies = frame.bodies if self.empty else done

    def may_be(self, body: int) -> bool:
        """Whether its groups so far may be of kind *body*."""
        return body in self.complete_bodies or (body, self.start) in self.open_rules

    @property
    def inside(self) -> Inside:
        """What is open within its last group."""
        insides = self.tables.forward.insides(self.open_rules)
        return insides.get(self.start, NOTHING)


def left_blocks(left: LeftContext) -> list[LeftBlock]:
    """The open blocks of *left*, outermost first: the file's own block."""
    blocks = [LeftBlock(left.tables, left.frame, left.group)]
    frame = left.frame
    while frame.parent is not None and frame.holder is not None:
        blocks.append(LeftBlock(left.tables, frame.parent, frame.holder, blocks[-1]))
        frame = frame.parent
    return blocks[::-1]
