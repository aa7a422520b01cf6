"""The server's answer at a place of writing, the verdict on its text, and the figures of many answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import mean
from typing import Any

from fimlsp.datasets.shown.editor import Reply
from fimlsp.datasets.shown.verdict import Shown, Verdict
from fimlsp.datasets.shown.writing.faults import FAULTS, Faults
from fimlsp.datasets.shown.writing.places import Place, Step, first_line

BEFORE = 300
"""Characters left of the cursor that are kept for readers."""

SORTS: Mapping[str, str] = {
    "edit": "Real edits",
    "type": "Written from empty",
    "cell": "Notebooks, cell by cell",
    "mend": "Corrections",
}
"""The sorts of places, by the first part of their kinds, with their titles."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer at one place: one line of the results.

    Attributes:
        shown: the server's answer, with a verdict if the text that was really written is known.
        faults: the faults of its text; None if nothing was shown.
        written: the characters that were written here, indentation excluded: to the end of the line, or of
            the line in which the right part of a longer text ends.
    """

    shown: Shown
    faults: Faults | None
    written: int

    @classmethod
    def of(cls, place: Place, step: Step, reply: Reply, newline: str, types: bool | None = None) -> Answer:
        """The answer *reply* at *place* in the document of *step*, with the verdict on it.

        *types* is that of a type checker.
        """
        text = reply.texts[0] if reply.texts else None
        is_known = text is not None and place.truth is not None
        formed, header = _with_line_feeds(text or ""), reply.is_header
        verdict = verdict_on(place, step, formed, reply.closing, is_header=header) if is_known else None
        truth = place.truth or ""
        left, right = step.left, step.right
        return cls(
            shown=Shown(
                record=place.to_json(),
                truth=truth,
                before=step.left[-BEFORE:],
                text=text,
                status=reply.status,
                reason=reply.reason,
                names=reply.names,
                ms=round(reply.ms, 1),
                verdict=verdict,
                closing=reply.closing,
                is_header=header,
            ),
            faults=None
            if text is None
            else Faults.of(place, left, text, right, newline, types, is_header=header),
            written=_written(truth, place.stop, verdict),
        )

    def to_json(self) -> dict[str, Any]:
        """The answer as an object for a line of JSON."""
        faults = None if self.faults is None else asdict(self.faults)
        rest = {"faults": faults, "written": self.written}
        return {**self.shown.to_json(), **rest}

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Answer:
        """The answer that `to_json` wrote.

        Raises:
            KeyError, TypeError: it is of another version.
        """
        faults = None if row["faults"] is None else Faults(**row["faults"])
        return cls(Shown.from_json(row), faults, row["written"])

    @property
    def sort(self) -> str:
        """The sort of the place, a key of `SORTS`."""
        return self.shown.kind.partition("-")[0]


def _with_line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def verdict_on(place: Place, step: Step, text: str, closing: str, *, is_header: bool = False) -> Verdict:
    """The verdict on *text* at *place* of *step*, whose truth is known; the cursor stays before *closing*.

    A text that *is_header* lacks a body.
    """
    assert place.truth is not None
    first = text[: first_line(text)]
    is_exact = bool(text.strip()) and first.rstrip() == place.truth[: place.stop].rstrip()
    left, right, truth = step.left, step.right, place.truth
    original = left + truth[: place.stop] + right
    return Verdict.between(
        left, text, right, truth, original, closing, is_exact, place.column, is_header=is_header
    )


def _written(truth: str, stop: int, verdict: Verdict | None) -> int:
    agreed = 0 if verdict is None else verdict.agreed
    end = stop if agreed <= stop else agreed + first_line(truth[agreed:])
    first, *others = truth[:end].split("\n")
    return len(first) + sum(len(line.lstrip()) for line in others)


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of some answers.

    `shown` is a number. `right`, `exact` and `begins` are shares of the shown texts with a verdict. `faults`,
    by the keys of `FAULTS`, are shares of all shown texts. `saved` is a share of the written characters. A
    share of nothing is None.
    """

    places: int
    shown: int
    right: float | None
    exact: float | None
    begins: float | None
    saved: float | None
    faults: Mapping[str, float | None]

    @classmethod
    def of(cls, answers: Sequence[Answer]) -> Summary:
        """The figures of *answers*."""
        verdicts = [answer.shown.verdict for answer in answers if answer.shown.verdict is not None]
        faults = [answer.faults for answer in answers if answer.faults is not None]
        written = sum(answer.written for answer in answers)
        return cls(
            places=len(answers),
            shown=len(faults),
            right=mean(verdict.right for verdict in verdicts) if verdicts else None,
            exact=mean(verdict.exact for verdict in verdicts) if verdicts else None,
            begins=mean(verdict.begins and verdict.agreed > 0 for verdict in verdicts) if verdicts else None,
            saved=sum(verdict.saved for verdict in verdicts) / written if written else None,
            faults={field: _share([getattr(fault, field) for fault in faults]) for field in FAULTS},
        )


def _share(verdicts: Sequence[bool | None]) -> float | None:
    """The share of true *verdicts* among the known ones."""
    known = [verdict for verdict in verdicts if verdict is not None]
    return mean(known) if known else None
