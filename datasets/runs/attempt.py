"""Values of a case that was run: what each method made of it and what that cost; to JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

METHODS = {
    "unconstrained": "unconstrained",
    "longest": "checked unconstrained, longest",
    "best": "checked unconstrained, best-scored",
    "constrained": "constrained, as in the paper",
    "steered": "constrained with steering",
}
CHECKED = ("longest", "best")
DECODED = ("unconstrained", "constrained", "steered")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One method's answer to a case.

    Attributes:
        ok: whether CPython parses left, text and right together.
        text: what the method answers; None if it answers nothing. Bytes that are no UTF-8 stand in it as
            lone surrogates, as `os.fsdecode` has them.
        cause: why it is not ok.
        compile_error: if it is ok, what CPython's compiler says against it nevertheless.
        exact, similarity, first_line: equality and edit similarity with the truth, whole and first line.
        tokens: tokens written by the network, those not kept included.
        tried: candidates that the constraint was asked about.
        rejected: candidates that it refused.
        rejections: how many tokens came after so many refused candidates.
        steered: whether steering refused a candidate or wrote an ending.
        stop: why writing stopped.
        model_ms, engine_ms: time in the network and in the constraint; steps that another method's run had
            computed already cost the network nothing.
    """

    ok: bool
    text: str | None
    cause: str | None = None
    compile_error: str | None = None
    exact: bool = False
    similarity: float = 0.0
    first_line: float = 0.0
    tokens: int = 0
    tried: int = 0
    rejected: int = 0
    rejections: Mapping[str, int] = field(default_factory=dict)
    steered: bool = False
    stop: str | None = None
    model_ms: float = 0.0
    engine_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class Result:
    """A case with all attempts, or with the error that ended it.

    Attributes:
        case: name of the case; `record` has it in full.
        record: the cut, as `CutRecord.to_json` gives it.
        size: characters of the file.
        truth: characters of the true middle.
        one_line: whether the true middle has no line end.
        connects: whether the engine finds that anything connects left and right.
        compiles: whether CPython compiles the file as it was.
        first: whether the engine had not seen the file before.
        setup_ms: time until the constraint at the cursor was there, that for the file included if `first`.
        attempts: by method.
        excerpt: for a case with a failure of the constraint: text left and right of the cut, and the truth.
        crash: the error that ended the case; all figures are then those known before.
    """

    record: Mapping[str, Any]
    size: int = 0
    truth: int = 0
    one_line: bool = True
    connects: bool = True
    compiles: bool = True
    first: bool = False
    setup_ms: float = 0.0
    attempts: Mapping[str, Attempt] = field(default_factory=dict)
    excerpt: Mapping[str, str] | None = None
    crash: str | None = None

    @property
    def case(self) -> str:
        """The case's name."""
        return str(self.record["case"])

    @property
    def kind(self) -> str:
        """The kind of its cut."""
        return str(self.record["kind"])

    def to_json(self) -> dict[str, Any]:
        """As an object of strings and numbers."""
        return asdict(self)

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Result:
        """The result of an object made by `to_json`.

        Raises:
            KeyError, TypeError: it is none.
        """
        attempts = {name: Attempt(**attempt) for name, attempt in row["attempts"].items()}
        return cls(**{**row, "attempts": attempts})
