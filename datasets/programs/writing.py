"""What a model writes for a problem, with and without the constraint: behind its prompt, or into a hole."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from time import perf_counter
from typing import Literal

from fimlsp.datasets.languages.judges.go_judge import syntax_error as go_syntax_error
from fimlsp.datasets.languages.judges.python_judge import syntax_error
from fimlsp.datasets.programs.holes import Hole
from fimlsp.datasets.programs.problems import Problem
from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.middle import Middle
from fimlsp.models.decoding.settings import DecodeSettings, StopRule
from fimlsp.models.decoding.unconstrained import Unconstrained
from fimlsp.models.generation import generate
from fimlsp.models.loading import FimModel
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.states.protocol import State

Method = Literal["unconstrained", "constrained"]
Fault = Literal["syntax", "indentation", ""]
METHODS: tuple[Method, ...] = ("unconstrained", "constrained")
PYTHON_STOPS = ("\nclass", "\ndef", "\n#", "\nif", "\nprint")
"""Where an answer ends at the latest: Chen et al. 2021, section 3.1."""

GO_END = "\n}"


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are chosen from left to right; holes are filled with the likeliest."""

    tokens: int
    temperature: float
    top_p: float
    seed: int


@dataclass(frozen=True, slots=True)
class Written:
    """An answer.

    Attributes:
        text: what stands behind the prompt, or in the hole.
        fault: why the program does not parse, if it does not; of indentation if Python says so.
        stop: why the model stopped.
        steered: whether its end was steered.
        tokens, refused: how many tokens were written, and refused.
        ms: on the clock, the constraint's set-up included, without the network's reading of the prompt.
    """

    text: str
    fault: Fault
    stop: str
    steered: bool
    tokens: int
    refused: int
    ms: float


class NoConstraintError(Exception):
    """The engine finds nothing that connects, although the solution does."""


def behind_prompt(
    model: FimModel, engine: Engine, problem: Problem, method: Method, sampling: Sampling
) -> Written:
    """What *model* writes behind the prompt of *problem*, up to the end of the function."""
    since = perf_counter()
    written = problem.prompt.encode()
    before = f"{problem.setup}{problem.prompt}".encode()
    start: State = Unconstrained() if method == "unconstrained" else _start(engine, before, b"")
    settings = DecodeSettings(
        tokens=sampling.tokens,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        seed=sampling.seed,
        stop_when=lambda text: end_of_answer(text, problem.language, start) is not None,
    )
    middle = generate(model, written, start, settings)
    end = end_of_answer(middle.text, problem.language, start)
    text = (middle.text if end is None else middle.text[:end]).decode(errors="replace")
    ms = 1000 * (perf_counter() - since)
    return _written(middle, text, _fault(problem.language, f"{problem.setup}{problem.prompt}{text}"), ms)


def in_hole(model: FimModel, engine: Engine, hole: Hole, method: Method, tokens: int) -> Written:
    """What *model* writes into *hole*, where it ends it by itself, or else at the best place."""
    since = perf_counter()
    setup, left, right = hole.problem.setup, hole.left, hole.right
    start: State = Unconstrained()
    rule: StopRule = "last"
    if method == "constrained":
        start, rule = _start(engine, f"{setup}{left}".encode(), right.encode()), "first"
    settings = DecodeSettings(tokens=tokens, lines=None, stop_rule=rule)
    (middle,) = complete_many(model, left.encode(), right.encode(), start, settings, lambda: False)
    text = middle.text.decode(errors="replace")
    ms = 1000 * (perf_counter() - since)
    return _written(middle, text, _fault(hole.problem.language, f"{setup}{left}{text}{right}"), ms)


def end_of_answer(text: bytes, language: str, start: State) -> int | None:
    """Where *text* has left the function that it writes, if it has.

    Only ends count at which *start*, the constraint, lets a program end: none in a string.
    """
    stops = [GO_END] if language == "go" else PYTHON_STOPS
    found = [at for stop in stops for at in _occurrences(text, stop.encode())]
    for at in sorted(found):
        end = at + len(GO_END) if language == "go" else at
        state = start.feed(text[:end])
        if state is not None and state.complete:
            return end
    return None


def _occurrences(text: bytes, part: bytes) -> list[int]:
    found, at = list[int](), text.find(part)
    while at >= 0:
        found.append(at)
        at = text.find(part, at + 1)
    return found


def _start(engine: Engine, left: bytes, right: bytes) -> State:
    start = engine.document(left + right).middle(len(left), len(left), relax=False).start
    if start is None:
        raise NoConstraintError(f"{left[-40:]!r} and {right[:40]!r} do not connect")
    return start


def _written(middle: Middle, text: str, fault: Fault, ms: float) -> Written:
    return Written(
        text,
        fault,
        middle.stop_reason,
        middle.steered,
        middle.tokens,
        middle.rejected,
        round(ms - middle.prefill_ms, 2),
    )


def _fault(language: str, program: str) -> Fault:
    if language == "go":
        return "syntax" if go_syntax_error(program) else ""
    if syntax_error(program) is None:
        return ""
    try:
        ast.parse(program)
    except IndentationError:
        return "indentation"
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return "syntax"
