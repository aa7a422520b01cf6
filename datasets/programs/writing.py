"""Answers of a model, each written by one of several methods and judged by the language's own parser.

The methods differ in the constraint alone; with the same seed they draw with the same noise.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from time import perf_counter
from typing import Literal

from fimlsp.datasets.languages.go import syntax_error as go_syntax_error
from fimlsp.datasets.languages.json_and_toml import json_error
from fimlsp.datasets.languages.python import syntax_error
from fimlsp.datasets.programs.problems import Hole, Problem
from fimlsp.languages.custom.schema.language import json_schema
from fimlsp.models.completion import complete_many, generate
from fimlsp.models.decoding.middle import Middle
from fimlsp.models.decoding.settings import DecodeSettings, StopRule, Unconstrained
from fimlsp.models.loading import FimModel
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary
from fimlsp.quotient.states.protocol import State, by_grammar

Method = Literal["unconstrained", "constrained", "masked", "schema"]
Fault = Literal["syntax", "indentation", ""]
METHODS: tuple[Method, ...] = ("unconstrained", "constrained", "masked", "schema")
"""`constrained` checks proposed tokens only. `masked` also makes the mask of all tokens at each step.
`schema` holds JSON to the schema of its problem."""

PYTHON_STOPS = ("\nclass", "\ndef", "\n#", "\nif", "\nprint")
"""The strings that end an answer: Chen et al. 2021, section 3.1."""

GO_END = "\n}"
JSON_ENDS = (b"}", b"]")
REFUSALS = {"go": go_syntax_error, "json": json_error}


@dataclass(frozen=True, slots=True)
class Sampling:
    """The choice of tokens from left to right; holes are filled with the likeliest tokens."""

    tokens: int
    temperature: float
    top_p: float
    seed: int


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer.

    Attributes:
        text: the text after the prompt, or in the hole.
        fault: the kind of syntax error in the program; empty if it parses.
        stop: the reason for the end of decoding.
        steered: True if steering refused a candidate or wrote an ending.
        tokens, refused: the number of written tokens, and of refused ones.
        ms: milliseconds on the clock, with the constraint's set-up, without the prefill of the prompt.
    """

    text: str
    fault: Fault
    stop: str
    steered: bool
    tokens: int
    refused: int
    ms: float


class NoConstraintError(Exception):
    """The engine finds no text that connects, although the solution does."""


class MaskedAtEachStep:
    """A state that also makes the mask of all tokens, as decoding without opportunistic masking has to."""

    def __init__(self, state: State, vocabulary: Vocabulary) -> None:
        self._state = state
        self._vocabulary = vocabulary
        by_grammar(state).allowed_texts(vocabulary)

    def feed(self, data: bytes) -> MaskedAtEachStep | None:
        """The state after *data*, with its mask."""
        following = self._state.feed(data)
        return None if following is None else MaskedAtEachStep(following, self._vocabulary)

    @property
    def complete(self) -> bool:
        """As in the state."""
        return self._state.complete

    @property
    def shortest_completion(self) -> bytes:
        """As in the state."""
        return self._state.shortest_completion

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """As in the state."""
        return self._state.mask(vocabulary)

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """As in the state."""
        return self._state.allowed_texts(vocabulary)


class Writer:
    """Writes answers with *model*, left to right by *sampling*, under the constraint of *engine*."""

    def __init__(self, model: FimModel, engine: Engine, sampling: Sampling) -> None:
        self._model = model
        self._engine = engine
        self._sampling = sampling
        self._vocabulary = Vocabulary(model.vocabulary.token_bytes)

    def after_prompt(self, problem: Problem, method: Method, sample: int, examples: str = "") -> Answer:
        """The *sample*-th answer to *problem*, up to the end of the function or of the JSON value.

        The model reads *examples* before the prompt, and the instructions of the problem if it has any.
        """
        started = perf_counter()
        start = self._start_of(problem, method)
        sampling = self._sampling
        settings = DecodeSettings(
            tokens=sampling.tokens,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            seed=10_000 * sampling.seed + sample,
            stop_when=lambda text: end_of_answer(text, problem.language, start) is not None,
        )
        is_chat = bool(problem.instructions) and self._model.chat is not None
        middle = generate(
            self._model,
            problem.prompt.encode(),
            MaskedAtEachStep(start, self._vocabulary) if method == "masked" else start,
            settings,
            context=(examples if is_chat else f"{examples}{problem.instructions}").encode(),
            instructions=problem.instructions if is_chat else "",
        )
        end = end_of_answer(middle.text, problem.language, start)
        text = (middle.text if end is None else middle.text[:end]).decode(errors="replace")
        ms = 1000 * (perf_counter() - started)
        fault = _fault(problem.language, f"{problem.setup}{problem.prompt}{text}")
        return _answer(middle, text, fault, ms)

    def in_hole(self, hole: Hole, method: Method) -> Answer:
        """The answer in *hole*, up to its own end, or else up to the best stop."""
        started = perf_counter()
        setup, left, right = hole.problem.setup, hole.left, hole.right
        start: State = Unconstrained()
        rule: StopRule = "last"
        if method != "unconstrained":
            start, rule = _start(self._engine, f"{setup}{left}".encode(), right.encode()), "first"
        settings = DecodeSettings(tokens=self._sampling.tokens, lines=None, stop_rule=rule)
        around = left.encode(), right.encode()
        (middle,) = complete_many(self._model, *around, start, settings, lambda: False)
        text = middle.text.decode(errors="replace")
        ms = 1000 * (perf_counter() - started)
        return _answer(middle, text, _fault(hole.problem.language, f"{setup}{left}{text}{right}"), ms)

    def _start_of(self, problem: Problem, method: Method) -> State:
        """The constraint of *method* after the prompt."""
        if method == "unconstrained":
            return Unconstrained()
        engine = _of_schema(problem.test) if method == "schema" else self._engine
        return _start(engine, f"{problem.setup}{problem.prompt}".encode(), b"")


@lru_cache(maxsize=64)
def _of_schema(schema: str) -> Engine:
    return Engine(json_schema(json.loads(schema)))


def end_of_answer(text: bytes, language: str, start: State) -> int | None:
    """The end of the answer in *text*; None if the text is still within the function or value.

    The constraint *start* must let the program end there, which excludes strings. A JSON value without a
    constraint ends where the model ends it.
    """
    if language == "json":
        is_whole = not isinstance(start, Unconstrained) and text.rstrip().endswith(JSON_ENDS)
        return len(text) if is_whole and (state := start.feed(text)) and state.complete else None
    stops = [GO_END] if language == "go" else PYTHON_STOPS
    for offset in sorted(offset for stop in stops for offset in _occurrences(text, stop.encode())):
        end = offset + len(GO_END) if language == "go" else offset
        state = start.feed(text[:end])
        if state is not None and state.complete:
            return end
    return None


def _occurrences(text: bytes, part: bytes) -> Iterator[int]:
    offset = text.find(part)
    while offset >= 0:
        yield offset
        offset = text.find(part, offset + 1)


def _start(engine: Engine, left: bytes, right: bytes) -> State:
    start = engine.document(left + right).middle(len(left), len(left), relax=False).start
    if start is None:
        raise NoConstraintError(f"{left[-40:]!r} and {right[:40]!r} do not connect")
    return start


def _answer(middle: Middle, text: str, fault: Fault, ms: float) -> Answer:
    return Answer(
        text=text,
        fault=fault,
        stop=middle.stop_reason,
        steered=middle.steered,
        tokens=middle.tokens,
        refused=middle.rejected,
        ms=round(ms - middle.prefill_ms, 2),
    )


def _fault(language: str, program: str) -> Fault:
    if (refusal := REFUSALS.get(language)) is not None:
        return "syntax" if refusal(program) else ""
    if syntax_error(program) is None:
        return ""
    try:
        ast.parse(program)
    except IndentationError:
        return "indentation"
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return "syntax"
