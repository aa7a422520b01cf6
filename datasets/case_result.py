"""The result of a case: each method's answer and its cost, as values that go to JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

METHODS = {
    "unconstrained": "unconstrained",
    "longest": "checked unconstrained, longest",
    "best": "checked unconstrained, best-scored",
    "longest_at_tokens": "checked unconstrained, between tokens",
    "constrained": "constrained, as in the paper",
    "constrained_at_tokens": "constrained, between tokens",
    "steered": "constrained with steering",
}
BETWEEN_TOKENS = ("longest_at_tokens", "constrained_at_tokens")
CONSTRAINED = ("constrained", "steered")
DECODED = ("unconstrained", *CONSTRAINED)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One method's answer to a case.

    Attributes:
        ok: True if the language's reference parser accepts left, text and right together.
        text: the answer; None if there is none. Each byte that is not UTF-8 is a lone surrogate, as in the
            error handler `surrogateescape`.
        written: the written text, in the same form, if it gave no answer; None if it gave one.
        cause: the cause of a failure; None if the attempt is ok.
        compile_error: the compiler's error in a file that parses; None if there is none.
        exact: True if the answer equals the truth.
        similarity, first_line: edit similarities of the whole answer and of its first line.
        tokens: the number of tokens that the network wrote, including those that are not in the answer.
        tried: the number of candidates that the constraint checked.
        rejected: the number of candidates that it refused.
        rejections: the number of tokens by the number of candidates refused before them.
        steered: True if steering refused a candidate or wrote an ending.
        stop: the reason for the end of decoding.
        model_ms, engine_ms: milliseconds in the network and in the constraint. Steps of the network that an
            earlier method of the case had needed already cost nothing here.
    """

    ok: bool
    text: str | None
    written: str | None = None
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
    """A case with all its attempts, or with the error that ended it.

    Attributes:
        record: the cut, as `CutRecord.to_json` gives it.
        size: the length of the file in characters.
        truth: the length of the true middle in characters.
        one_line: True if the true middle has no line end.
        connects: True if the engine finds a text that connects left and right.
        compiles: True if the original file compiles.
        first: True if the engine had not read the file before.
        setup_ms: milliseconds until the constraint was ready, including the reading of the file if `first`.
        check_ms: milliseconds that the reference parser takes for the file with a beginning of the
            unconstrained text in it. Checking without a constraint needs such a call after each character.
        attempts: the attempts by method, a key of `METHODS`.
        excerpt: if the constraint failed, the text left and right of the cut, and the truth.
        crash: the error that ended the case, in one line; all other fields then have their defaults.
        traceback: the traceback of that error; None if a worker process ended.
    """

    record: Mapping[str, Any]
    size: int = 0
    truth: int = 0
    one_line: bool = True
    connects: bool = True
    compiles: bool = True
    first: bool = False
    setup_ms: float = 0.0
    check_ms: float = 0.0
    attempts: Mapping[str, Attempt] = field(default_factory=dict)
    excerpt: Mapping[str, str] | None = None
    crash: str | None = None
    traceback: str | None = None

    @property
    def case(self) -> str:
        """The name of the case."""
        return str(self.record["case"])

    @property
    def kind(self) -> str:
        """The kind of its cut."""
        return str(self.record["kind"])

    def to_json(self) -> dict[str, Any]:
        """The result as an object of strings and numbers."""
        return asdict(self)

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Result:
        """The result that `to_json` wrote as *row*.

        Raises:
            KeyError, TypeError: *row* is not from `to_json`.
        """
        attempts = {name: Attempt(**attempt) for name, attempt in row["attempts"].items()}
        return cls(**{**row, "attempts": attempts})
