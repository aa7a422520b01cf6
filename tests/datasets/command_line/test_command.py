"""`fimlsp replay` as a user has it: with the bundled model, on files made here."""

import json
import re

import pytest
from click.testing import CliRunner
from rich.console import Console

from fimlsp.datasets.case_result import Attempt
from fimlsp.datasets.command_line.case_commands import CasePrinter
from fimlsp.datasets.command_line.command import replay
from fimlsp.datasets.command_line.options import KINDS, LANGUAGES
from fimlsp.datasets.cuts import STRATEGIES
from fimlsp.datasets.languages import LANGUAGES as KNOWN
from fimlsp.extras import MODULES

SOURCE = {
    "good.py": 'def area(width, height):\n    """Box."""\n    return width * height\n\n\nprint(area(2, 3))\n',
    "bad.py": "print 1\n",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "src").mkdir()
    for name, text in SOURCE.items():
        (tmp_path / "src" / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments):
    return CliRunner().invoke(replay, [str(argument) for argument in arguments])


def results(folder):
    return [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]


def test_a_run_from_cuts_to_report(folder):
    command = ("src", "--cuts", "boundary,line", "--per-file", 2, "--tokens", 12, "--out", "out")
    done = call(*command)
    assert done.exit_code == 0, done.output
    rows = results(folder / "out")
    assert [row["record"]["kind"] for row in rows] == ["boundary", "boundary", "line", "line"]
    assert all(row["attempts"]["steered"]["ok"] for row in rows)
    assert "src/bad.py" in (folder / "out" / "report.md").read_text()
    assert (folder / "out" / "report.html").exists()

    again = call(*command)
    assert again.exit_code == 0
    assert results(folder / "out") == rows
    other = call(*command[:-2], "--seed", 1, "--out", "out")
    assert other.exit_code == 1
    assert "choose another --out" in other.output

    check_show(rows[-1]["record"])
    assert call("report", "out", "--out", "copy").exit_code == 0
    assert (folder / "copy" / "report.md").read_text() == (folder / "out" / "report.md").read_text()
    check_saved(folder, rows)


def check_show(record):
    shown = call("show", record["case"], "--out", "out")
    assert shown.exit_code == 0, shown.output
    assert "the truth" in shown.output
    truth = SOURCE["good.py"][record["start"] : record["end"]]
    assert f"⟦{truth}⟧" in shown.output
    assert shown.output.count("constrained") >= 4
    missing = call("show", "line-0-0", "--out", "out")
    assert missing.exit_code == 1
    assert "no case line-0-0" in missing.output


def check_saved(folder, rows):
    """Cases saved by `cut` give the same answers."""
    saved = call("cut", "src", "--cuts", "boundary,line", "--per-file", 2, "--out", "cases.jsonl")
    assert saved.output == "4 cases in cases.jsonl; left out: 1 files\n"
    replayed = call("src", "--cases", "cases.jsonl", "--tokens", 12, "--out", "again")
    assert replayed.exit_code == 0, replayed.output

    def answers(rows):
        return [{name: attempt["text"] for name, attempt in row["attempts"].items()} for row in rows]

    assert answers(results(folder / "again")) == answers(rows)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere", "--out", "out"], "Cannot find nowhere. Give a shard, a folder"),
        (["src", "--out", "out", "--cuts", "line,word"], "'word' is not one of boundary, randspan"),
        (["src", "--out", "out", "--shard", "3/2"], "'3/2' is not I/N"),
        (["src", "--out", "out", "--files", "1:x"], "'1:x' is not START:STOP"),
        (["src", "--out", "out", "--files", "1"], "'1' is not START:STOP"),
        (["src", "--out", "out", "--files", "0:9:0"], "'0:9:0' is not START:STOP"),
        (["src", "--out", "out", "--model", "./none"], "Cannot find a model"),
        (["src", "--out", "out", "--tokens", "5000"], "Ask for fewer"),
        (["src", "--out", "out", "--cases", "src/bad.py"], "line 1 of bad.py is not a case"),
        (["show", "line-1-1", "--out", "src"], "holds no run"),
        (["report", "src", "--out", "out"], "holds no run"),
        (["src", "--out", "src/good.py"], "is a file"),
        (["cut", "src", "--out", "none/cases.jsonl"], "No such file"),
        (["src", "--out", "out", "--language", "ada"], "'ada' is not one of 'python', 'json'"),
        (["src"], "Missing option '--out'"),
    ],
    ids=lambda part: " ".join(part)[:40] if isinstance(part, list) else "",
)  # fmt: skip
@pytest.mark.usefixtures("folder")
def test_errors_are_one_sentence(arguments, message):
    done = call(*arguments)
    assert done.exit_code in (1, 2)
    assert message in re.sub(r"\s+", " ", done.output)
    assert "Traceback" not in done.output


def test_files_of_another_language_are_cut(folder):
    (folder / "src" / "a.json").write_text('{"a": [1, 2]}')
    (folder / "src" / "b.json").write_text("[NaN]")
    cuts = "boundary,randspan,line,block,user"
    saved = call("cut", "src", "--language", "json", "--cuts", cuts, "--per-file", 2, "--out", "cases.jsonl")
    assert saved.output == "10 cases in cases.jsonl; left out: 1 files\n"


@pytest.mark.slow
def test_a_run_in_another_language(folder):
    (folder / "src" / "a.json").write_text('{"name": [1, 2, {"b": "text"}], "c": null}')
    cuts = "boundary,line,block,user"
    done = call("src", "--language", "json", "--cuts", cuts, "--per-file", 2, "--tokens", 8, "--out", "out")
    assert done.exit_code == 0, done.output
    rows = results(folder / "out")
    assert [row["crash"] for row in rows] == [None] * 8
    assert all(row["attempts"]["steered"]["ok"] for row in rows)
    report = (folder / "out" / "report.md").read_text()
    assert "| language | json |" in report
    assert "if Python's json module" in report
    assert "compiler" not in report
    shown = call("show", rows[0]["record"]["case"], "--out", "out")
    assert shown.exit_code == 0, shown.output
    assert "the truth" in shown.output


def test_the_options_name_what_there_is():
    assert tuple(STRATEGIES) == KINDS
    assert tuple(KNOWN) == LANGUAGES


@pytest.mark.usefixtures("folder")
def test_missing_libraries_are_named(monkeypatch):
    monkeypatch.setitem(MODULES, "replay", ("no_such_module",))
    done = call("src", "--out", "out")
    assert done.exit_code == 1
    assert "no_such_module is not installed; run: " in done.output
    assert " install 'markdown-it-py>=3' 'pyarrow>=17' " in done.output
    assert call("--help").exit_code == 0


@pytest.mark.slow
def test_files_in_a_grammar_of_the_users_own(folder):
    (folder / "sums.lark").write_text(
        'start: (NUMBER ("+" NUMBER)* ";")+\nNUMBER: /[0-9]+/\n%ignore /[ \\n]+/\n'
    )
    (folder / "src" / "a.sums").write_text("1 + 2 + 33;\n4 + 5;\n")
    (folder / "src" / "bad.sums").write_text("1 +\n")
    command = ("src", "--grammar", "sums.lark", "--per-file", 2, "--tokens", 4, "--out", "out")
    done = call(*command)
    assert done.exit_code == 0, done.output
    rows = results(folder / "out")
    assert len(rows) == 4
    assert all(row["attempts"]["steered"]["ok"] for row in rows)
    (folder / "sums.lark").write_text('start: "1"\n')
    assert "another grammar" in call(*command).output
    assert call("report", "out", "--out", "copy").exit_code == 0
    assert "bad.sums" in (folder / "copy" / "report.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--start", "x"], "need --grammar"),
        (["--grammar", "bad.lark"], "Cannot read bad.lark: Unclosed parenthesis, at line 1"),
    ],
)
def test_errors_of_a_grammar_are_reported(folder, arguments, message):
    (folder / "bad.lark").write_text("start: (\n")
    result = call("src", *arguments, "--out", "out")
    assert result.exit_code
    assert message in result.output


ANSWERS = [
    (Attempt(ok=True, text="b", tokens=3, rejected=1), "with steering: parses, 3 tokens, 1 refused", "⟦b⟧"),
    (
        Attempt(ok=True, text="a=1, a=2", compile_error="keyword argument repeated"),
        "with steering: parses, but does not compile (keyword argument repeated)",
        "f(⟦a=1, a=2⟧)",
    ),
    (Attempt(ok=False, text=")", cause="does not parse"), "with steering: does not parse", "f(⟦)⟧)"),
    (Attempt(ok=False, text=None, cause="ran out of tokens"), "with steering: ran out of tokens", ""),
]


@pytest.mark.parametrize(("attempt", "verdict", "shown"), ANSWERS)
def test_answers(attempt, verdict, shown):
    console = Console(width=100)
    with console.capture() as printed:
        CasePrinter("x = 1\nf(", ")\n", "python", console).print_attempt("steered", attempt)
    assert verdict in printed.get()
    assert shown in printed.get()
