"""Summarises a run of the judge: its figures, in total or for one kind of cursor."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from fimlsp.datasets.shown.verdict import Shown, Verdict


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures of some cursors; all shares (0 to 1) but `shown` are of what was shown, and None of nothing.

    `saved` is in characters and counts all cursors, as `agreed` of a text that is not shown is nothing.
    """

    cursors: int
    shown: int
    exact: float | None
    right: float | None
    begins: float | None
    saved: float
    undefined: float | None
    broken: float | None
    repeats: float | None
    leaves_block: float | None

    @classmethod
    def of(cls, answers: Sequence[Shown]) -> Summary:
        """The figures of *answers*."""
        verdicts = [each.verdict for each in answers if each.verdict is not None]

        def share(holds: Iterable[object]) -> float | None:
            return mean(map(bool, holds)) if verdicts else None

        return cls(
            cursors=len(answers),
            shown=len(verdicts),
            exact=share(each.exact for each in verdicts),
            right=share(each.right for each in verdicts),
            begins=share(each.begins for each in verdicts),
            saved=sum(each.saved for each in verdicts) / max(1, len(answers)),
            undefined=share(each.undefined for each in verdicts),
            broken=share(each.compile_error for each in verdicts),
            repeats=share(each.repeats for each in verdicts),
            leaves_block=share(each.leaves_block for each in verdicts),
        )


GOOD: Mapping[str, str] = {"exact": "exact", "right": "wholly right", "begins": "begins right"}
"""The figures that should be high, by their fields, and their names."""

BAD: Mapping[str, str] = {
    "undefined": "undefined names",
    "broken": "does not compile",
    "repeats": "repeats",
    "leaves_block": "leaves its block",
}
"""The figures that should be low."""


def faults(verdict: Verdict) -> list[str]:
    """What is wrong with a text besides being another one, in words."""
    found = [f"undefined: {', '.join(verdict.undefined)}"] if verdict.undefined else []
    found += [f"does not compile: {verdict.compile_error}"] if verdict.compile_error else []
    found += ["repeats"] if verdict.repeats else []
    return found + (["leaves its block"] if verdict.leaves_block else [])


def by_kind(answers: Sequence[Shown]) -> dict[str, list[Shown]]:
    """The answers by kind of cursor, in the first order of the kinds."""
    kinds = dict.fromkeys(each.kind for each in answers)
    return {kind: [each for each in answers if each.kind == kind] for kind in kinds}
