"""The verdict on a shown text, the answer that is saved with it, and the figures of many answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from statistics import mean
from typing import Any

from fimlsp.datasets.languages.python import compile_error
from fimlsp.datasets.shown import measures
from fimlsp.datasets.shown.cursors import DrawnCursor
from fimlsp.datasets.shown.measures import undefined_names
from fimlsp.languages.python.editor_policy import PYTHON_POLICY
from fimlsp.models.learnt import agreeing, begins_right, is_wholly_right


@dataclass(frozen=True, slots=True)
class Verdict:
    """The quality of a text; `measures` defines each figure.

    Attributes:
        agreed: the number of characters of its leading words that agree with the truth.
        undefined: the undefined names that it uses, except those that the original file leaves undefined.
        compile_error: the compiler's error in the file with it, if the original file compiles.
    """

    exact: bool
    right: bool
    begins: bool
    agreed: int
    saved: int
    undefined: tuple[str, ...]
    compile_error: str | None
    repeats: bool
    leaves_block: bool

    @classmethod
    def of(
        cls, cursor: DrawnCursor, text: str, original: str, closing: str = "", *, is_header: bool = False
    ) -> Verdict:
        """The verdict on *text* at *cursor* in a file whose finished text is *original*.

        The cursor would stay before *closing*, with which the text ends. A text that *is_header* lacks a
        body.
        """
        left, right = original[: cursor.start], original[cursor.end :]
        truth = original[cursor.start : cursor.end]
        is_exact = measures.is_exact(text, truth, cursor.is_within_line)
        return cls.between(
            left, text, right, truth, original, closing, is_exact, cursor.column, is_header=is_header
        )

    @classmethod
    def between(
        cls,
        left: str,
        text: str,
        right: str,
        truth: str,
        original: str,
        closing: str,
        is_exact: bool,
        column: int,
        *,
        is_header: bool = False,
    ) -> Verdict:
        """The verdict on *text* between *left* and *right*, in place of *truth*, in a block at *column*.

        The faults of *original*, the file with the true text, do not count. A text that *is_header* is
        compiled with the shortest body. It is right only if *truth* ends a line there.
        """
        whole = with_body(text, is_header=is_header)
        error = compile_error(left + whole + right)
        before_cursor = text.removesuffix(closing)
        is_right = is_wholly_right(before_cursor, truth)
        return cls(
            exact=is_exact,
            right=is_right and not (is_header and measures.goes_on(before_cursor, truth)),
            begins=begins_right(before_cursor, truth),
            agreed=agreeing(before_cursor, truth),
            saved=measures.saved(before_cursor, truth),
            undefined=tuple(sorted(undefined_names(left, whole, right) - undefined_names("", original, ""))),
            compile_error=error if error is not None and compile_error(original) is None else None,
            repeats=measures.repeats(left, text, right, truth),
            leaves_block=measures.leaves_block(text, column),
        )

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Verdict:
        """The verdict that `asdict` wrote."""
        return cls(**{**row, "undefined": tuple(row["undefined"])})

    @property
    def faults(self) -> list[str]:
        """The faults of the text apart from its difference from the truth, in words."""
        faults = {
            f"undefined: {', '.join(self.undefined)}": self.undefined,
            f"does not compile: {self.compile_error}": self.compile_error,
            "repeats": self.repeats,
            "leaves its block": self.leaves_block,
        }
        return [fault for fault, is_present in faults.items() if is_present]


@dataclass(frozen=True, slots=True)
class Shown:
    """The server's answer at one cursor: one line of the results.

    Attributes:
        record: the cursor, as JSON.
        truth: the code that was cut out.
        before: the end of the text left of the cursor, for readers.
        text: the shown text; None if nothing was shown.
        status, reason, names, ms: see `fimlsp.datasets.shown.editor.Reply`.
        verdict: on the text, if there is one.
        closing: the end of the text before which the cursor would stay.
        is_header: True if the text is a header whose body the user writes next.
    """

    record: Mapping[str, Any]
    truth: str
    before: str
    text: str | None
    status: str
    reason: str | None
    names: str | None
    ms: float
    verdict: Verdict | None
    closing: str = ""
    is_header: bool = False

    @property
    def kind(self) -> str:
        """The kind of the cursor."""
        return str(self.record["kind"])

    def to_json(self) -> dict[str, Any]:
        """The answer as an object for a line of JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Shown:
        """The answer that `to_json` wrote.

        Raises:
            KeyError, TypeError: it is of another version.
        """
        newer = {"closing": "", "is_header": False}
        values = {field.name: row[field.name] for field in fields(cls) if field.name not in newer}
        verdict = None if row["verdict"] is None else Verdict.from_json(row["verdict"])
        return cls(**{**values, "verdict": verdict, **{name: row.get(name, newer[name]) for name in newer}})


def with_body(text: str, *, is_header: bool) -> str:
    """*text*, followed by the shortest body if it *is_header*."""
    return text + PYTHON_POLICY.shortest_body.decode() if is_header else text


GOOD: Mapping[str, str] = {"exact": "exact", "right": "wholly right", "begins": "begins right"}
"""The figures that should be high, by their fields, and their names."""

BAD: Mapping[str, str] = {
    "undefined": "undefined names",
    "broken": "does not compile",
    "repeats": "repeats",
    "leaves_block": "leaves its block",
}
"""The figures that should be low."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of some answers.

    All shares (0 to 1) except `shown` refer to the shown texts, and are None if there are none. `saved` is in
    characters and refers to all cursors; a text that is not shown saves none.
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
        verdicts = [answer.verdict for answer in answers if answer.verdict is not None]

        def share(flags: Iterable[object]) -> float | None:
            return mean(map(bool, flags)) if verdicts else None

        return cls(
            cursors=len(answers),
            shown=len(verdicts),
            exact=share(verdict.exact for verdict in verdicts),
            right=share(verdict.right for verdict in verdicts),
            begins=share(verdict.begins for verdict in verdicts),
            saved=sum(verdict.saved for verdict in verdicts) / max(1, len(answers)),
            undefined=share(verdict.undefined for verdict in verdicts),
            broken=share(verdict.compile_error for verdict in verdicts),
            repeats=share(verdict.repeats for verdict in verdicts),
            leaves_block=share(verdict.leaves_block for verdict in verdicts),
        )


def by_kind(answers: Sequence[Shown]) -> dict[str, list[Shown]]:
    """The answers by kind of cursor, in the order of their first occurrence."""
    kinds = dict.fromkeys(answer.kind for answer in answers)
    return {kind: [answer for answer in answers if answer.kind == kind] for kind in kinds}
