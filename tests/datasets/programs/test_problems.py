"""Problems and holes in their solutions."""

import gzip
import json

import pytest

from fimlsp.datasets.programs import sandbox
from fimlsp.datasets.programs.problems import (
    KINDS,
    Problem,
    ProblemsError,
    holes,
    humaneval,
    read_problems_file,
)
from fimlsp.datasets.programs.report import mean_pass_at, pass_at

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
    packed = tmp_path / "d.jsonl.gz"
    packed.write_bytes(gzip.compress(json.dumps(HUMANEVAL).encode()))
    assert read_problems_file(packed) == [one]


UNUSABLE = [
    ([], "has no problems"),
    ([{"task_id": "a"}], "Line 1 of .* has no 'prompt'"),
    ([[1]], "Line 1 of .* is not a JSON object"),
    ([HUMANEVAL, HUMANEVAL_X], "several languages"),
    ([{**MBXP, "language": "kotlin"}], "is in kotlin; only Python and Go can be tested"),
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
