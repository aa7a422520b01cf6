"""The open blocks of a left context, each with what is open within its last group."""

from __future__ import annotations

from functools import reduce
from operator import or_

from fimlsp.quotient.earley import EarleySet
from fimlsp.quotient.escape import Inside
from fimlsp.quotient.language import Language
from fimlsp.quotient.left_context import Frame, LeftContext
from fimlsp.quotient.spine import Spine


class LeftBlock:
    """One open block, with the spine of its last group.

    `empty` tells that it has no group yet, `ended` what its groups may be if the last one ends at the cursor.
    """

    def __init__(self, language: Language, frame: Frame, group: EarleySet, inner: Frame | None) -> None:
        self.language = language
        self.frame = frame
        self.start = language.forward.start(frame.bodies)
        self.suites = None if inner is None else language.suites_of(inner.bodies)
        self.group = group
        self.spine: Spine = {} if group is self.start else language.forward.spine(group, self.suites)
        self.empty = group is self.start
        done = group.completed_from(self.start) & frame.bodies if inner is None else frozenset[int]()
        self.ended = frame.bodies if self.empty else done

    @property
    def inside(self) -> Inside:
        """What is open within its last group."""
        insides = self.language.forward.insides(self.group, self.suites)
        tops = (inside for (_, origin), inside in insides.items() if origin is self.start)
        return reduce(or_, tops, Inside.NOTHING)


def left_blocks(left: LeftContext) -> list[LeftBlock]:
    """The open blocks of *left*, the file's own first."""
    blocks: list[LeftBlock] = []
    frame, group = left.frame, left.group
    inner: Frame | None = None
    while True:
        blocks.append(LeftBlock(left.language, frame, group, inner))
        parent, holder = frame.parent, frame.holder
        if parent is None or holder is None:
            return blocks[::-1]
        frame, group, inner = parent, holder, frame
