"""Problems and holes in their solutions."""

import gzip
import json
from pathlib import Path

import pytest

from fimlsp.datasets.programs import sandbox
from fimlsp.datasets.programs.problems import (
    KINDS,
    Problem,
    ProblemsError,
    holes,
    humaneval,
    read_problems_file,
    solved_examples,
)
from fimlsp.datasets.programs.report import mean_pass_at, pass_at

JSON_PROBLEMS = Path(__file__).parents[3] / "datasets" / "json_problems.jsonl"
HUMANEVAL = {
    "task_id": "HumanEval/0",
    "prompt": "def f(x):\n",
    "entry_point": "f",
    "canonical_solution": "    return x\n",
    "test": "def check(candidate):\n    assert candidate(1) == 1\n",
}
MBXP = {
    "task_id": "MBPP/1",
    "language": "python",
    "prompt": "def f(x):\n",
    "entry_point": "f",
    "canonical_solution": None,
    "test": "def check(candidate):\n    assert candidate(1) == 1\n\ndef test():\n    check(f)\n\ntest()\n",
}
HUMANEVAL_X = {
    "task_id": "Go/0",
    "prompt": "func F(x int) int {\n",
    "canonical_solution": "    return x\n}\n",
    "test": "func TestF(t *testing.T) {}\n",
    "test_setup": 'package main\n\nimport "testing"\n',
    "declaration": "\nfunc F(x int) int {\n",
}
JSON = {
    "prompt": [{"role": "system", "content": "Write JSON."}, {"role": "user", "content": "Ada is 36."}],
    "completion": '{"age": 36}',
    "schema": '{"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}',
}


def saved(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_files_of_three_collections(tmp_path):
    (one,) = read_problems_file(saved(tmp_path / "a.jsonl", HUMANEVAL))
    assert one.test.endswith("check(f)\n")
    (two,) = read_problems_file(saved(tmp_path / "b.jsonl", MBXP))
    assert two.solution == ""
    assert two.test.count("check(f)") == 1
    (three,) = read_problems_file(saved(tmp_path / "c.jsonl", HUMANEVAL_X))
    assert three.language == "go"
    assert three.program(three.solution).startswith("package main")
    (four,) = read_problems_file(saved(tmp_path / "e.jsonl", JSON))
    assert (four.task, four.language, four.prompt) == ("json/1", "json", "")
    assert four.instructions == "Write JSON.\nAda is 36.\nJSON:\n"
    packed = tmp_path / "d.jsonl.gz"
    packed.write_bytes(gzip.compress(json.dumps(HUMANEVAL).encode()))
    assert read_problems_file(packed) == [one]


UNUSABLE = [
    ([], "has no problems"),
    ([{"task_id": "a"}], "Line 1 of .* has no 'prompt'"),
    ([[1]], "Line 1 of .* is not a JSON object"),
    ([HUMANEVAL, HUMANEVAL_X], "several languages"),
    ([{**MBXP, "language": "kotlin"}], "is in kotlin; only Python, Go and JSON can be tested"),
    ([{**JSON, "schema": "{"}], "Line 1 of .* has no schema and messages"),
    ([{**JSON, "schema": {"type": 7}}], "Line 1 of .* has no schema and messages"),
    ([{**JSON, "prompt": "text"}], "Line 1 of .* has no schema and messages"),
]


@pytest.mark.parametrize(("rows", "message"), UNUSABLE)
def test_a_file_that_cannot_be_used(tmp_path, rows, message):
    with pytest.raises(ProblemsError, match=message):
        read_problems_file(saved(tmp_path / "a.jsonl", *rows))


def test_a_file_that_is_no_json(tmp_path):
    (tmp_path / "a.jsonl").write_text("{", encoding="utf-8")
    with pytest.raises(ProblemsError, match=r"Line 1 of .* is not JSON"):
        read_problems_file(tmp_path / "a.jsonl")
    with pytest.raises(ProblemsError, match="Cannot read"):
        read_problems_file(tmp_path / "b.jsonl")


SHOTS = [
    ("ab", 1, {"a": "b", "b": "a"}),
    ("abc", 2, {"a": "bc", "b": "ca", "c": "ab"}),
    ("aXbc", 1, {"a": "b", "X": "b", "b": "c", "c": "a"}),
    ("Xab", 1, {"X": "a", "a": "b", "b": "a"}),
    ("ab", 0, {"a": "", "b": ""}),
]


@pytest.mark.parametrize(("tasks", "shots", "expected"), SHOTS)
def test_the_solved_problems_before_each_prompt(tasks, shots, expected):
    """The task of a capital letter has no solution."""
    problems = [Problem(task, "python", task, "" if task.isupper() else "!", "") for task in tasks]
    found = solved_examples(problems, shots)
    assert found == {task: "".join(f"{shot}!\n\n\n" for shot in shots) for task, shots in expected.items()}


def test_too_few_solved_problems():
    with pytest.raises(ProblemsError, match="Cannot give 1 examples: 1 problems have a solution"):
        solved_examples([Problem("a", "python", "", "x", ""), Problem("b", "python", "", "", "")], 1)


JUDGED = [
    ('{"age": 36}', "passed", ""),
    ('{"age": "36"}', "failed", "type of the schema: '36' is not of type 'integer'"),
    ("{}", "failed", "required of the schema"),
    ("[]", "failed", "type of the schema"),
]


@pytest.mark.parametrize(("text", "outcome", "reason"), JUDGED)
def test_json_is_judged_by_its_schema(text, outcome, reason):
    found = sandbox.judge_json(text, JSON["schema"])
    assert found.outcome == outcome
    assert found.reason.startswith(reason)


def test_the_answers_of_our_own_json_problems_are_right():
    for problem in read_problems_file(JSON_PROBLEMS):
        assert sandbox.judge_json(problem.solution, problem.test).outcome == "passed", problem.task


def test_there_are_as_many_holes_in_humaneval_as_the_paper_has():
    problems = humaneval()
    assert len(problems) == 164
    counts = {kind: sum(1 for _ in holes(kind, problems, 0)) for kind in KINDS}
    assert counts == {"single-line": 1033, "multi-line": 5815, "random-span": 1640}


def test_a_hole_and_what_is_around_it_are_the_solution():
    problem = Problem("a", "python", "def f(x):\n", "    x += 1\n\n    return x\n", "")
    holes_by_kind = {kind: list(holes(kind, [problem], 7)) for kind in KINDS}
    for hole in (hole for kind in KINDS for hole in holes_by_kind[kind]):
        assert hole.left + hole.truth + hole.right == problem.prompt + problem.solution
    assert [hole.truth for hole in holes_by_kind["single-line"]] == ["    x += 1", "    return x"]
    assert len(holes_by_kind["multi-line"]) == 3
    assert [hole.truth for hole in holes("random-span", [problem], 7)] == [
        hole.truth for hole in holes_by_kind["random-span"]
    ]


def test_solutions_of_humaneval_pass_and_others_fail():
    problem, tester = (
        humaneval()[0],
        sandbox.Tester(sandbox.Limits(seconds=60), whole=not sandbox.missing_layers()),
    )
    assert tester.test(problem, "", problem.program(problem.solution)).outcome == "passed"
    assert tester.test(problem, "", problem.program("    return None\n")).outcome == "failed"
    assert tester.test(problem, "syntax", "").reason == "does not parse"


def test_pass_at_k_is_the_share_of_subsets_with_a_right_answer():
    assert pass_at(1, 10, 3) == pytest.approx(0.3)
    assert pass_at(10, 10, 1) == 1
    assert pass_at(2, 4, 1) == pytest.approx(0.5)
    assert pass_at(5, 5, 0) == 0
    assert mean_pass_at(1, [(2, 1), (2, 2)]) == pytest.approx(0.75)
    assert mean_pass_at(10, [(2, 1)]) is None
    with pytest.raises(ValueError, match="Cannot estimate pass@3 from 1 of 2"):
        pass_at(3, 2, 1)
