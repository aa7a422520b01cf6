"""A text shown at a cursor, and the verdict on it: one line of the results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from fimlsp.datasets.languages.judges.python_judge import compile_error
from fimlsp.datasets.shown import measures
from fimlsp.datasets.shown.cursors import Cursor
from fimlsp.datasets.shown.undefined_names import undefined_names


@dataclass(frozen=True, slots=True)
class Verdict:
    """How good a text is; see `measures` for what each figure means.

    Attributes:
        agreed: characters of its leading words that stood there.
        undefined: names that it uses, that nothing defines, and that are defined in the file as it was.
        compile_error: what the compiler says against the file with it, where the true file compiles.
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


def judge(cursor: Cursor, text: str, whole: str, closing: str = "") -> Verdict:
    """The verdict on *text* at *cursor* in the file that is *whole* as it was.

    The cursor would stay in front of *closing*, with which the text ends.
    """
    left, truth, right = whole[: cursor.start], whole[cursor.start : cursor.end], whole[cursor.end :]
    known = undefined_names("", whole, "")
    error = compile_error(left + text + right)
    said = text.removesuffix(closing)
    return Verdict(
        exact=measures.is_exact(text, truth, cursor.is_within_line),
        right=measures.is_wholly_right(said, truth),
        begins=measures.begins_right(said, truth),
        agreed=measures.agreeing(said, truth),
        saved=measures.saved(said, truth),
        undefined=tuple(sorted(undefined_names(left, text, right) - known)),
        compile_error=error if error is not None and compile_error(whole) is None else None,
        repeats=measures.repeats(left, text, right, truth),
        leaves_block=measures.leaves_block(text, cursor.column),
    )


@dataclass(frozen=True, slots=True)
class Shown:
    """What the server answered at one cursor.

    Attributes:
        record: the cursor, as JSON.
        truth: what stood there.
        before: the end of what stands left of the cursor, for readers.
        text: what was shown; None if nothing was.
        status, reason, names, ms: see `fimlsp.datasets.shown.editor.Reply`.
        verdict: on the text, if there is one.
        closing: what the text ends with, in front of which the cursor would stay.
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

    @property
    def kind(self) -> str:
        """The kind of the cursor."""
        return str(self.record["kind"])

    def to_json(self) -> dict[str, Any]:
        """As an object for a line of JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Shown:
        """The answer of such an object.

        Raises:
            KeyError, TypeError: it is of another version.
        """
        verdict = row["verdict"]
        made = (
            None if verdict is None else Verdict(**{**verdict, "undefined": tuple(verdict["undefined"])})
        )  # fmt: skip
        told = {each.name: row[each.name] for each in fields(cls) if each.name not in ("verdict", "closing")}
        return cls(**told, verdict=made, closing=row.get("closing", ""))
