"""What a worker does: run one case with all methods. The model is loaded once, a file is read once."""

from __future__ import annotations

import gc
import os
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time

from fimlsp.datasets.cuts.cut_record import CutRecord
from fimlsp.datasets.reports.metrics import edit_similarity, first_line, is_one_line
from fimlsp.datasets.runs.attempt import Attempt, Result
from fimlsp.datasets.runs.methods import Stop, decode, parsing_places, scored_places, whole
from fimlsp.datasets.runs.shared_steps import SharedSteps
from fimlsp.datasets.sources.cpython import compile_error, parses
from fimlsp.datasets.sources.source_file import SourceFile
from fimlsp.languages.python import python
from fimlsp.models.completion import BUFFER_BYTES
from fimlsp.models.decoding.middle import Middle
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import FimModel, load_model
from fimlsp.models.networks.numpy.buffer_cache import BufferCache
from fimlsp.models.prompts.prompt import Prompt, beginning, build_prompt, ending
from fimlsp.models.protocols import MiddleState, NextToken
from fimlsp.quotient.engine import EditedDocument, Engine

EXCERPT = 400
YOUNG = 1
FREE = Attempt(ok=False, text=None)
WRONG = "accepted, but does not parse"
CAUSES = {"budget": "ran out of tokens", "end": "ended early", "dead_end": "50 candidates refused"}


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """What a worker must know: the model, where it runs, and how much it may write."""

    model: str | None = None
    device: str | None = None
    tokens: int = 500


@dataclass(frozen=True, slots=True)
class _Case:
    """A cut with its texts, and the constraint at it (None: the engine finds nothing that connects)."""

    record: CutRecord
    left: str
    truth: str
    right: str
    start: MiddleState | None

    def answered(self, text: bytes | None, cause: str, cost: Attempt = FREE) -> Attempt:
        """The attempt that answers *text* at a *cost*; *cause* is why it fails, if it does."""
        if text is None:
            return replace(cost, cause=cause)
        answer, ok = os.fsdecode(text), parses(self.left, text, self.right)
        return replace(
            cost,
            ok=ok,
            text=answer,
            cause=None if ok else cause,
            compile_error=compile_error(self.left + answer + self.right) if ok else None,
            exact=answer == self.truth,
            similarity=round(edit_similarity(answer, self.truth), 4),
            first_line=round(edit_similarity(first_line(answer), first_line(self.truth)), 4),
        )


class Bench:
    """Runs cases one after the other; those of one file should come together, as they share its charts.

    Raises:
        ModelError: the model cannot be loaded, or has no room for so many tokens.
    """

    def __init__(self, settings: BenchSettings, model: FimModel | None = None) -> None:
        self._settings = settings
        self._model = model = model or load(settings)
        build_prompt(model.vocabulary, model.fim, model.context, b"", b"", settings.tokens)
        self._engine = Engine(python())
        self._file: tuple[str, EditedDocument] | None = None

    @classmethod
    def in_worker(cls, settings: BenchSettings) -> Bench:
        """A bench in a process of its own, where garbage is looked for between files alone.

        The engine leaves none, but a collection at any time would walk the charts.
        """
        gc.disable()
        return cls(settings)

    def run(self, file: SourceFile, record: CutRecord) -> Result:
        """The result of one case; an error that ends it stands in the result."""
        try:
            return self._run(file, record)
        except Exception as error:
            return Result(record.to_json(), crash=describe(error))

    def _run(self, file: SourceFile, record: CutRecord) -> Result:
        case, first, setup_ms = self._connect(file, record)
        attempts = self._attempts(case)
        failed = case.start is None or any(not attempts[name].ok for name in ("constrained", "steered"))
        return Result(
            record=record.to_json(),
            size=len(file.text),
            truth=len(case.truth),
            one_line=is_one_line(case.truth),
            connects=case.start is not None,
            compiles=compile_error(file.text) is None,
            first=first,
            setup_ms=round(setup_ms, 3),
            attempts=attempts,
            excerpt=excerpt(case) if failed else None,
        )

    def _connect(self, file: SourceFile, record: CutRecord) -> tuple[_Case, bool, float]:
        """The case with its constraint, whether its file is new, and the milliseconds of CPU this took."""
        cut, text = record.cut, file.text
        left, truth, right = cut.left(text), cut.middle(text), cut.right(text)
        begin = len(left.encode())
        end = begin + len(truth.encode())
        data = text.encode()
        first = self._file is None or self._file[0] != file.hash
        if first and not gc.isenabled():
            gc.collect(YOUNG)
        since = process_time()
        if self._file is None or first:
            self._file = file.hash, self._read(data)
        start = self._file[1].middle(begin, end, relax=False).start
        return _Case(record, left, truth, right, start), first, 1000 * (process_time() - since)

    def _read(self, data: bytes) -> EditedDocument:
        """The charts of a file: all of them, as the other cuts of it need what this one does not."""
        document = self._engine.document(data)
        document.prepare()
        return document

    def _attempts(self, case: _Case) -> dict[str, Attempt]:
        network, prompt = self._prepare(case)
        tokens = self._settings.tokens
        free = decode(network, prompt, None, tokens=tokens)
        attempts = unconstrained(case, free)
        if case.start is None:
            nothing = Attempt(ok=False, text=None, cause="engine finds no connection")
            return attempts | {"constrained": nothing, "steered": nothing}
        for name, steer in (("constrained", False), ("steered", True)):
            attempts[name] = constrained(
                case, decode(network, prompt, case.start, tokens=tokens, steer=steer)
            )
        return attempts

    def _prepare(self, case: _Case) -> tuple[NextToken, Prompt]:
        model = self._model
        left, right = case.left.encode(), case.right.encode()
        prompt = build_prompt(model.vocabulary, model.fim, model.context, left, right, self._settings.tokens)
        network = model.network
        if model.uses_buffer:
            buffer = ending(left, BUFFER_BYTES), beginning(right, BUFFER_BYTES)
            network = BufferCache(network, model.vocabulary, *buffer)
        return SharedSteps(network), prompt


def load(settings: BenchSettings) -> FimModel:
    """The model with exact weights, reading the text left of the cut first, as in the protocol, if it can.

    Raises:
        ModelError: it cannot be loaded.
    """
    if settings.model is not None:
        with suppress(ModelError):  # what else is wrong with it is said below
            return load_model(settings.model, device=settings.device, bits=None, order="psm")
    return load_model(settings.model, device=settings.device, bits=None)


def unconstrained(case: _Case, free: Middle) -> dict[str, Attempt]:
    """The three methods that only read what the model wrote without a constraint."""
    text = whole(free)
    places = parsing_places(text, scored_places(free), case.start, case.left, case.right)
    longest = max(places, key=lambda place: place.length, default=None)
    best = max(places, key=lambda place: place.score, default=None)
    return {
        "unconstrained": case.answered(text, "does not parse", cost_of(free)),
        "longest": _checked(case, text, longest),
        "best": _checked(case, text, best),
    }


def _checked(case: _Case, text: bytes, stop: Stop | None) -> Attempt:
    if stop is None:
        return case.answered(None, "no beginning parses")
    return case.answered(text[: stop.length], WRONG)


def constrained(case: _Case, middle: Middle) -> Attempt:
    """The attempt of a constrained decoding; a middle that is not complete is no answer."""
    if middle.complete:
        return case.answered(middle.text, WRONG, cost_of(middle))
    return case.answered(None, CAUSES.get(middle.stop_reason, middle.stop_reason), cost_of(middle))


def cost_of(middle: Middle) -> Attempt:
    """What decoding cost, as an attempt without an answer."""
    rejections = Counter(token.rejected for token in middle.trace)
    return Attempt(
        ok=False,
        text=None,
        tokens=middle.tokens,
        tried=middle.tried,
        rejected=middle.rejected,
        rejections={str(refused): tokens for refused, tokens in sorted(rejections.items())},
        steered=middle.steered,
        stop=middle.stop_reason,
        model_ms=round(middle.model_ms + middle.prefill_ms, 3),
        engine_ms=round(middle.engine_ms, 3),
    )


def excerpt(case: _Case) -> dict[str, str]:
    """The text around the cut and in it, shortened, for the report."""
    truth = case.truth
    if len(truth) > 2 * EXCERPT:
        truth = f"{truth[:EXCERPT]} … {truth[-EXCERPT:]}"
    return {"left": case.left[-EXCERPT:], "truth": truth, "right": case.right[:EXCERPT]}


def describe(error: BaseException) -> str:
    """An error in one line, with the place in the code where it was raised."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    where = f" ({Path(frame.tb_frame.f_code.co_filename).name}:{frame.tb_lineno})" if frame else ""
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}{where}"
