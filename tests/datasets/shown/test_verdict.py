"""Verdicts, results on disk, and the report made of them."""

import json
from pathlib import Path

import pytest

from fimlsp.datasets.plan import About
from fimlsp.datasets.run_folder import RESULTS, RunFolder, RunFolderError
from fimlsp.datasets.shown.cursors import DrawnCursor, EditedFile
from fimlsp.datasets.shown.editor import Reply
from fimlsp.datasets.shown.report import write_report
from fimlsp.datasets.shown.run import ShownPlan, ask_all, read_run
from fimlsp.datasets.shown.verdict import Summary, Verdict, by_kind
from fimlsp.datasets.sources import SourceFile

WHOLE = "def area(width):\n    size = width\n    return size\n"
FILE = EditedFile(SourceFile.of("a.py", WHOLE), Path("/nowhere/a.py"))


def cursor(truth, kind="whole-line", column=4):
    start = WHOLE.index(truth)
    return DrawnCursor(kind, "a.py", FILE.file.hash, start, start + len(truth), column)


GOOD = {"exact": False, "right": True, "begins": True}


@pytest.mark.parametrize(
    ("truth", "text", "expected"),
    [
        ("return size", "return size", {**GOOD, "exact": True, "agreed": 11, "saved": 11}),
        ("return size", "return", {**GOOD, "saved": 6}),
        ("return size", "return volume", {"right": False, "begins": True, "undefined": ("volume",)}),
        ("size = width", "while True:\n        if 1:\n            pass", {"undefined": ()}),
        ("return size", "continue", {"begins": False, "compile_error": "'continue' not properly in loop"}),
        ("return size", "size = width", {"repeats": True}),
        ("return size", "x = 1\nprint(x)", {"leaves_block": True, "compile_error": None}),
    ],
)
def test_a_text_is_judged_in_its_file(truth, text, expected):
    verdict = Verdict.of(cursor(truth), text, WHOLE)
    assert {name: getattr(verdict, name) for name in expected} == expected


@pytest.mark.parametrize(
    ("truth", "text", "closing", "expected"),
    [
        ("return len(size)", "return len()", ")", {**GOOD, "agreed": 11, "saved": 11}),
        ("return len(size)", "return sum()", ")", {"right": False, "begins": True, "agreed": 6}),
        ("return len(size)", "return len(str())", "))", {"right": False, "agreed": 11}),
        ("return len()", "return len()", ")", {**GOOD, "exact": True, "agreed": 11}),
    ],
)
def test_the_arguments_of_an_open_call_do_not_count(truth, text, closing, expected):
    whole = WHOLE.replace("return size", truth)
    place = DrawnCursor("whole-line", "a.py", FILE.file.hash, at := whole.index(truth), at + len(truth), 4)
    verdict = Verdict.of(place, text, whole, closing)
    assert {name: getattr(verdict, name) for name in expected} == expected
    assert verdict.compile_error is None


@pytest.mark.parametrize(
    ("truth", "text", "is_right"),
    [
        ("for width in size:\n        print(width)\n", "for width in size:", True),
        ("for width in size:  # each\n        print(width)\n", "for width in size:", True),
        ("for width in size: print(width)", "for width in size:", False),
        ("for width in sizes:\n        print(width)\n", "for width in size:", False),
    ],
)
def test_a_header_is_right_if_the_line_ends_there(truth, text, is_right):
    whole = WHOLE.replace("return size", truth)
    place = DrawnCursor("whole-line", "a.py", FILE.file.hash, at := whole.index(truth), at + len(truth), 4)
    verdict = Verdict.of(place, text, whole, is_header=True)
    assert (verdict.right, verdict.compile_error) == (is_right, None)


def test_faults_in_words():
    assert Verdict.of(cursor("return size"), "return size", WHOLE).faults == []
    bad = Verdict.of(cursor("return size"), "size = width\ncontinue; volume", WHOLE)
    assert bad.faults[0] == "undefined: volume"
    assert bad.faults[2:] == ["repeats", "leaves its block"]


class Scripted:
    """An editor that shows *texts* in turn; None: nothing."""

    model = "scripted"

    def __init__(self, *texts):
        self.texts = list(texts)

    def suggestion(self, path, left, right):
        assert path == FILE.path
        assert left in WHOLE
        assert right in WHOLE
        text = self.texts.pop(0)
        return Reply(
            () if text is None else (text,),
            "none" if text is None else "suggestion",
            None if text else "why",
            None if text else "no names",
            5.0,
        )


CURSORS = [(FILE, cursor("return size")), (FILE, cursor("width", "bracket")), (FILE, cursor("size = width"))]


def run_in(folder, *texts, n=3):
    seen = []
    RunFolder(folder).claim(
        ShownPlan(("src",), 0, {"a": 1}, "scripted", fimlsp="0", code="c"),
        About("fimlsp replay judge src", 1, "a machine", {}),
    )
    ask_all(Scripted(*texts), CURSORS[:n], folder, seen.append)
    return seen


def test_an_interrupted_run_continues(tmp_path):
    assert len(run_in(tmp_path, "return volume", n=1)) == 1
    with (tmp_path / RESULTS).open("a") as file:
        file.write('{"torn')
    seen = run_in(tmp_path, "width", None)
    assert [answer.text for answer in seen] == ["width", None]
    answers = read_run(tmp_path).results
    assert [answer.text for answer in answers] == ["return volume", "width", None]
    assert answers[1:] == seen
    assert list(by_kind(answers)) == ["whole-line", "bracket"]
    assert Summary.of(answers) == Summary(
        cursors=3, shown=2, exact=0.5, right=0.5, begins=1.0, saved=(6 + 5) / 3,
        undefined=0.5, broken=0.0, repeats=0.0, leaves_block=0.0,
    )  # fmt: skip


def test_nothing_shown_has_no_shares():
    assert Summary.of([]) == Summary(0, 0, None, None, None, 0.0, None, None, None, None)


def test_damaged_results_are_reported(tmp_path):
    run_in(tmp_path, "x", "y", None)
    row = json.loads((tmp_path / RESULTS).read_text().splitlines()[0])
    del row["truth"]
    (tmp_path / RESULTS).write_text(json.dumps(row) + "\n")
    with pytest.raises(RunFolderError, match="another version"):
        read_run(tmp_path)
    (tmp_path / RESULTS).write_text("{\n")
    with pytest.raises(RunFolderError, match=r"Line 1 of .* is damaged"):
        read_run(tmp_path)


def test_the_report_has_the_figures_and_the_examples_the_worst(tmp_path):
    run_in(tmp_path, "return volume", "width", None)
    write_report([read_run(tmp_path)], tmp_path)
    report = (tmp_path / "report.md").read_text()
    assert (
        "| all | 3 | 2 = 66.7 % | 50.0 % | 50.0 % | 100.0 % | 3.7 | 50.0 % | 0.0 % | 0.0 % | 0.0 % |"
        in report
    )
    assert "| bracket | 1 | 1 = 100.0 % | 100.0 % |" in report
    assert "| why | 1 |" in report
    assert "<svg" in (tmp_path / "report.html").read_text()
    examples = (tmp_path / "examples.md").read_text()
    assert "⟦return volume⟧" in examples
    assert "undefined: volume" in examples


def test_runs_are_compared_side_by_side(tmp_path):
    for name, texts in {"before": ("x", "y", "z"), "after": (None, "width", None)}.items():
        run_in(tmp_path / name, *texts)
    write_report([read_run(tmp_path / name) for name in ("before", "after")], tmp_path / "both")
    report = (tmp_path / "both" / "report.md").read_text()
    assert "| before | 3 | 3 = 100.0 % | 0.0 % |" in report
    assert "| after | 3 | 1 = 33.3 % | 100.0 % |" in report


def test_a_run_that_shows_nothing_has_a_report(tmp_path):
    run_in(tmp_path, None, None, None)
    write_report([read_run(tmp_path)], tmp_path)
    assert "| all | 3 | 0 = 0.0 % | – |" in (tmp_path / "report.md").read_text()
