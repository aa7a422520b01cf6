"""The open blocks of a left context, each with what is open within its last group."""

from __future__ import annotations

from fimlsp.quotient.earley import EarleySet
from fimlsp.quotient.escape import NOTHING, Inside
from fimlsp.quotient.language import Language
from fimlsp.quotient.left_context import Frame, LeftContext


class LeftBlock:
    """One open block, with the spine of its last group.

    `empty` tells that it has no group yet, `ended` what its groups may be if the last one ends at the cursor.
    *inner* is the open block in its last group.
    """

    def __init__(
        self, language: Language, frame: Frame, group: EarleySet, inner: LeftBlock | None = None
    ) -> None:
        self.language = language
        self.frame = frame
        self.start = language.forward.start(frame.bodies)
        suites = None if inner is None else language.suites_of(filter(inner.may_be, inner.frame.bodies))
        self.spine = language.forward.spine(group, suites)
        self.empty = group is self.start
        done = group.completed_from(self.start) & frame.bodies if inner is None else frozenset[int]()
        self.ended = frame.bodies if self.empty else done

    def may_be(self, body: int) -> bool:
        """Whether its groups so far may be of kind *body*."""
        return body in self.ended or (body, self.start) in self.spine

    @property
    def inside(self) -> Inside:
        """What is open within its last group."""
        insides = self.language.forward.insides(self.spine)
        return insides.get(self.start, NOTHING)


def left_blocks(left: LeftContext) -> list[LeftBlock]:
    """The open blocks of *left*, the file's own first."""
    blocks = [LeftBlock(left.language, left.frame, left.group)]
    frame = left.frame
    while frame.parent is not None and frame.holder is not None:
        blocks.append(LeftBlock(left.language, frame.parent, frame.holder, blocks[-1]))
        frame = frame.parent
    return blocks[::-1]
