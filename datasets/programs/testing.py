"""Tests answers: those that do not parse fail, and equal programs are run once."""

from __future__ import annotations

from fimlsp.datasets.programs.go_programs import run_go
from fimlsp.datasets.programs.problems import Problem
from fimlsp.datasets.programs.sandbox import Limits, Ran, run_python


class Tester:
    """Runs programs within *limits*, and remembers how they came out."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._known: dict[str, Ran] = {}

    def test(self, problem: Problem, fault: str, program: str) -> Ran:
        """How *program*, an answer with its test, comes out; *fault* is why the answer does not parse."""
        if fault:
            return Ran("failed", "does not parse")
        if program not in self._known:
            run = run_go if problem.language == "go" else run_python
            self._known[program] = run(program, self._limits)
        return self._known[program]
