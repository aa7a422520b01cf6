"""The judge of writing against a server of a few lines: its documents, and the saved answers."""

import json
import sys
from pathlib import Path

import pytest

from fimlsp.datasets.plan import About
from fimlsp.datasets.run_folder import RunFolder, RunFolderError
from fimlsp.datasets.shown.editor import Editor, Reply
from fimlsp.datasets.shown.writing.answers import Answer, Summary
from fimlsp.datasets.shown.writing.corrections import draw_corrections
from fimlsp.datasets.shown.writing.edits import draw_edits
from fimlsp.datasets.shown.writing.from_empty import draw_typing
from fimlsp.datasets.shown.writing.places import Place, Project, Step, Writing
from fimlsp.datasets.shown.writing.report import write_report
from fimlsp.datasets.shown.writing.run import WritingPlan, ask_in_project, read_run

from .packages import NEW, OLD, write

SERVER = Path(__file__).parents[1] / "scripted_lsp.py"
PLAN = WritingPlan(("1/shop → 2/shop",), ("2/shop",), 0, {}, "scripted", "0", "0")
ABOUT = About("fimlsp replay judge", 1, "machine", {})


@pytest.fixture
def pair(tmp_path):
    return write(tmp_path / "1", OLD), write(tmp_path / "2", NEW)


def asked(project, out):
    """The saved answers, and the texts of the documents when they were closed."""
    out.mkdir(parents=True, exist_ok=True)
    warnings, answers = [], []
    command = (sys.executable, str(SERVER), "idle")
    with Editor([project.folder], {}, warnings.append, command) as editor:
        ask_in_project(editor, project, out, answers.append)
    closed = [message.rpartition(" made ")[2] for message in warnings if " made " in message]
    return answers, [eval(text) for text in closed]


def test_the_server_gets_the_document_of_each_step(tmp_path):
    documents = [("a\nb", "c\n"), ("a\nbx", "c\n"), ("a\nb", "c\n"), ("", "é𝄞"), ("é𝄞", "𝄞"), ("é", "𝄞")]
    place = Place("edit-line", "name", "0", 0, "", 0, 0)
    steps = [Step(left, right) for left, right in documents]
    for newline in ("\n", "\r\n"):
        for count in range(1, len(steps) + 1):
            last = Step(*documents[count - 1], place)
            writing = Writing(tmp_path / "a.py", (place,), lambda: iter([*steps[:count], last]), newline)  # noqa: B023
            _, closed = asked(Project(tmp_path, [writing]), tmp_path / f"{len(newline)}-{count}")
            assert closed == ["".join(documents[count - 1]).replace("\n", newline)]


def test_edits_end_with_the_new_release(pair, tmp_path):
    (project,) = draw_edits([pair], 12, 0)
    answers, closed = asked(project, tmp_path / "out")
    assert closed == [NEW["shop/prices.py"]]
    assert [answer.shown.record["case"] for answer in answers] == [place.case for place in project.places]
    assert all(answer.written for answer in answers)


def test_typed_files_stay_open(pair, tmp_path):
    project = draw_typing(pair[1], tmp_path / "empty", 8, 0)
    answers, closed = asked(project, tmp_path / "out")
    assert closed == []
    assert len(answers) == 8


def test_an_interrupted_run_goes_on_where_it_ended(pair, tmp_path):
    (project,) = draw_corrections([pair[1]], 10, 0)
    whole, _ = asked(project, tmp_path / "whole")
    lines = (tmp_path / "whole" / "results.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "half").mkdir()
    (tmp_path / "half" / "results.jsonl").write_text("".join(lines[:4]))
    RunFolder(tmp_path / "half").claim(PLAN, ABOUT)
    rest, _ = asked(project, tmp_path / "half")
    assert [answer.shown.record for answer in rest] == [answer.shown.record for answer in whole[4:]]
    assert [answer.shown.record for answer in read_run(tmp_path / "half").results] == [
        answer.shown.record for answer in whole
    ]


def test_answers_are_read_as_they_were_written(pair, tmp_path):
    RunFolder(tmp_path / "out").claim(PLAN, ABOUT)
    for project in [*draw_edits([pair], 6, 0), *draw_corrections([pair[1]], 10, 0)]:
        answers, _ = asked(project, tmp_path / "out")
        assert read_run(tmp_path / "out").results[-len(answers) :] == answers
    damaged = json.loads((tmp_path / "out" / "results.jsonl").read_text().splitlines()[0])
    del damaged["written"]
    (tmp_path / "out" / "results.jsonl").write_text(json.dumps(damaged) + "\n")
    with pytest.raises(RunFolderError, match="another version"):
        read_run(tmp_path / "out")


# the text, what was really written, its first line, and the figures: right, exact, begins, saved, written
FIGURES = [
    ("total(x)", "total(x)\nreturn", 8, (True, True, True, 8, 8)),
    ("total", "total(x)\nreturn", 8, (True, False, True, 5, 8)),
    ("total(y)", "total(x)\nreturn", 8, (False, False, True, 6, 8)),
    ("total(x)\n    return", "total(x)\n    return 1\nz", 8, (True, True, True, 14, 16)),
    ("\r\n    return", "\n    return 1\nz", 13, (True, False, True, 6, 8)),
    ("other", "total(x)", 8, (False, False, False, 0, 8)),
    ("x", "", 0, (False, False, False, 0, 0)),
]


@pytest.mark.parametrize(("text", "truth", "stop", "figures"), FIGURES)
def test_the_figures_of_a_text(text, truth, stop, figures):
    place = Place("edit-line", "name", "0", 0, truth, stop, 0)
    reply = Reply((text,), "suggestion", None, None, 1.0)
    answer = Answer.of(place, Step("x = ", "\n", place), reply, "\n")
    summary, verdict = Summary.of([answer]), answer.shown.verdict
    assert (summary.right, summary.exact, summary.begins, verdict.saved, answer.written) == figures
    assert summary.saved == (verdict.saved / answer.written if answer.written else None)


def test_a_text_without_a_known_truth_is_neither_right_nor_wrong():
    place = Place("mend-deleted", "name", "0", 0, None, 0, 0, ("price",))
    answer = Answer.of(place, Step("x = ", "\n"), Reply(("price",), "suggestion", None, None, 1.0), "\n")
    summary = Summary.of([answer])
    assert (summary.shown, summary.right, summary.begins, summary.saved) == (1, None, None, None)
    assert summary.faults["brings_back"] == 1
    assert summary.faults["types"] is None


@pytest.mark.slow
def test_the_report_has_a_table_for_each_sort(pair, tmp_path):
    for seed in (0, 1):
        out = tmp_path / f"seed-{seed}"
        plan = WritingPlan(PLAN.edits, PLAN.typing, seed, {}, "scripted", "0", "0")
        RunFolder(out).claim(plan, ABOUT)
        for project in [
            *draw_edits([pair], 6, seed),
            draw_typing(pair[1], tmp_path / "empty", 4, seed),
            *draw_corrections([pair[1]], 5, seed),
        ]:
            asked(project, out)
    runs = [read_run(tmp_path / f"seed-{seed}") for seed in (0, 1)]
    write_report(runs, tmp_path / "both")
    text = (tmp_path / "both" / "report.md").read_text()
    for title in ("### Real edits", "### Written from empty", "### Corrections"):
        assert text.count(title) == 2
    assert "| together, real edits | 12 |" in text
    assert "| edit-line | 2 |" in text
    assert "1/shop → 2/shop, 2/shop" in text
    assert (tmp_path / "both" / "examples.html").exists()
