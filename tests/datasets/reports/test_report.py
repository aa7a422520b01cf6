"""The report from results made up here: every figure in it can be counted by hand."""

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest

from fimlsp.datasets import case_tables
from fimlsp.datasets.case_report import write_report
from fimlsp.datasets.case_result import BETWEEN_TOKENS, METHODS, Attempt, Result
from fimlsp.datasets.pages import Distribution, fenced, number, share, size_class, table
from fimlsp.datasets.plan import About, ReplayPlan
from fimlsp.datasets.run_folder import RunFolder
from fimlsp.datasets.sources import Excluded

PLAN = ReplayPlan(
    sources=("stdlib",), files="0::1", cuts=("boundary",), per_file=10, seed=0, shard="1/1", bytes_max=10,
    model="m", model_files="0", device="any", tokens=500, fimlsp="0", code="0", python="3.11.0",
)  # fmt: skip
ABOUT = About("fimlsp replay stdlib", 1, "a machine", {})


def result(number, ok, kind="boundary", first=False, size=2000, **changes):
    """A case that the methods whose first letters are in *ok* (u, l, b, c, s) solve."""
    record = {
        "case": f"{kind}-{number}", "kind": kind, "source": f"{number % 2}", "name": "a.py", "index": number,
        "seed": 0, "start": 1, "end": 2, "swapped": number == 0,
    }  # fmt: skip
    attempts = {
        method: Attempt(
            ok=method[0] in ok and method not in BETWEEN_TOKENS,
            text="x" if method[0] in ok else None,
            cause=None if method[0] in ok else "ran out of tokens",
            exact=number == 1,
            tokens=10,
            tried=20,
            engine_ms=2.0,
            similarity=0.5,
            rejections={"0": 8, "4": 2},
        )
        for method in METHODS
    }
    lost = not {"c", "s"} <= set(ok)
    excerpt = {"left": "a = ```", "truth": "b", "right": "c"} if lost else None
    setup_ms = 100.0 if first else 10.0
    return Result(
        record, size=size, attempts=attempts, first=first, setup_ms=setup_ms, excerpt=excerpt, **changes
    )


RESULTS = [
    result(0, "lbcs", first=True),
    result(1, "ulbcs"),
    result(2, "s", one_line=False),
    Result({**result(3, "").record}, crash="RuntimeError: no"),
    result(4, "ulcs", kind="randspan", size=90_000),
]


@pytest.fixture
def run(tmp_path):
    folder = RunFolder(tmp_path / "run")
    folder.claim(PLAN, ABOUT)
    with folder:
        for one in RESULTS:
            folder.add(one)
        for name in ("b", "c"):
            folder.exclude(Excluded(f"{name}.py", "does not parse", "bad | pipe"))
    return folder


@pytest.fixture
def report(run):
    write_report([run], run.path)
    return (run.path / "report.md").read_text()


def row(lines, name):
    (match,) = [line for line in lines if line.startswith(f"| {name} |")]
    return [cell.strip() for cell in match.strip("|").split("|")]


def test_results_come_back_as_they_were(run):
    assert list(run.results()) == RESULTS


def test_success_stands_beside_the_paper():
    lines = case_tables.success(case_tables.of_kind(RESULTS, "boundary"), "boundary", "python")
    ours = row(lines, "this run")
    assert ours[1:] == [
        "2", "4", "1 = 25.00 %", "2 = 50.00 %", "2 = 50.00 %", "0 = 0.00 %", "2 = 50.00 %", "0 = 0.00 %",
        "3 = 75.00 %",
    ]  # fmt: skip
    assert row(lines, "the paper, Table I, STACK-BOUNDARY")[1:5] == [
        "9,539", "95,390", "65,353 = 68.51 %", "90,280 = 94.64 %",
    ]  # fmt: skip
    assert len(case_tables.success(RESULTS, "user", "python")) == len(lines) - 1
    assert len(case_tables.success(RESULTS, "boundary", "json")) == len(lines) - 1


def test_the_cells_of_the_tables_stand_beside_the_paper():
    boundary = case_tables.of_kind(RESULTS, "boundary")
    lines = case_tables.paper_cells(boundary, "boundary", "python")
    assert row(lines, "the unconstrained output")[1:] == ["1", "0", "65,342", "11"]
    assert row(lines, "only a beginning of it")[1:] == ["1", "0", "24,833", "94"]
    assert row(lines, "neither")[1:] == ["0", "1", "490", "4,620"]
    assert row(case_tables.paper_cells(RESULTS, "user", "python"), "neither")[1:] == ["0", "1"]
    lines = case_tables.failures(boundary, "boundary", "python")
    assert row(lines, "this run")[1:] == ["0", "1"]
    assert row(lines, "the paper")[1:] == ["29", "4,696"]


@pytest.mark.parametrize(
    "stated", [case_tables.BOUNDARY, case_tables.RANDSPAN], ids=lambda stated: stated.title
)
def test_the_cells_of_the_paper_add_up(stated):
    assert sum(stated.constrained) + sum(stated.without) == stated.cases
    assert sum(stated.constrained) == stated.successes["constrained"]
    assert stated.constrained[0] + stated.without[0] == stated.successes["unconstrained"]
    both = zip(stated.constrained[:2], stated.without[:2], strict=True)
    assert sum(map(sum, both)) == stated.successes["longest"]


def test_what_parses_and_does_not_compile_is_counted():
    outside, repeated = "'return' outside function", "keyword argument repeated"
    bad = {
        "steered": Attempt(ok=True, text="return", compile_error=outside),
        "constrained": Attempt(ok=False, text=None, cause="ran out of tokens"),
    }
    lines = case_tables.compiling(
        [
            replace(RESULTS[0], attempts=bad),
            replace(RESULTS[0], attempts=bad),
            replace(RESULTS[0], attempts={"steered": replace(bad["steered"], compile_error=repeated)}),
            replace(RESULTS[0], attempts=bad, compiles=False),
            *RESULTS,
        ]
    )
    steered = ["7", "4 = 57.14 %", f"{outside} (2); {repeated} (1)"]
    assert row(lines, "constrained with steering")[1:] == steered
    assert row(lines, "constrained, as in the paper")[1:] == ["3", "3 = 100.00 %", ""]


def test_pairs_are_counted():
    lines = case_tables.pairwise([one for one in RESULTS if one.attempts])
    assert row(lines, "**constrained with steering**")[1:] == ["2", "1", "2", "4", "1", "4", "–"]
    assert row(lines, "**checked unconstrained, longest**")[1:] == ["1", "–", "1", "3", "0", "3", "0"]


def test_likeness_tells_one_line_from_several():
    lines = case_tables.likeness(RESULTS)
    assert lines[2] == "| one line | unconstrained | 3 | 1 = 33.33 % | 0.000 | 0.500 |"
    assert lines[9].startswith("| several lines | unconstrained | 1 | 0 = 0.00 % |")


def test_times_stand_beside_the_paper():
    lines = case_tables.ratio(RESULTS)
    assert row(lines, "set-up, first cut of a file")[1:] == ["836", "100", "8"]
    assert row(lines, "per token")[1:] == ["4.50", "0.200", "22"]
    small = row(case_tables.by_size(RESULTS), "below 2,048")
    assert small[1:3] == ["3", "33.3 %"]
    assert small[-4:-1] == ["100", "10.0", "1.10"]


def test_every_lost_case_is_linked_to_what_happened(report, run):
    for suffix in ("md", "html"):
        page = (run.path / f"report.{suffix}").read_text()
        failures = (run.path / f"failures.{suffix}").read_text()
        targets = re.findall(rf"failures\.{suffix}#([\w-]+)", page)
        assert set(targets) == {"boundary-2", "boundary-3"}
        assert all(f'id="{target}"' in failures for target in targets)
    assert "1 × crashed: RuntimeError: no" in report
    assert "1 × constrained, as in the paper: ran out of tokens" in report


def test_all_lost_cases_are_named_and_some_are_shown(tmp_path):
    folder = RunFolder(tmp_path)
    folder.claim(PLAN, ABOUT)
    with folder:
        for n in range(10, 30):
            folder.add(result(n, "s"))
    write_report([folder], tmp_path)
    page = (tmp_path / "failures.md").read_text()
    assert all(f"boundary-{n}" in page for n in range(10, 30))
    assert page.count("Truth:") == 12
    assert "and 8 more" in (tmp_path / "report.md").read_text()


def test_what_was_left_out_is_counted(report):
    assert "| does not parse | 2 | `b.py` (bad \\| pipe); `c.py` (bad \\| pipe) |" in report
    assert "drawn in the wrong order: 1." in report
    assert "5 cases in 2 files; 1 crashed." in report
    assert "fimlsp replay stdlib" in report


def test_pictures_are_well_formed_and_in_the_page(report, run):
    pictures = re.findall(r"!\[\w+\]\((\w+\.svg)\)", report)
    assert len(pictures) == 4
    html = (run.path / "report.html").read_text()
    for picture in pictures:
        text = (run.path / picture).read_text()
        ElementTree.fromstring(text)
        assert "nan" not in text
        assert text.strip() in html


def test_shards_are_reported_together(run, tmp_path):
    other = RunFolder(tmp_path / "other")
    other.claim(PLAN, ABOUT)
    with other:
        other.add(result(9, "ulbcs"))
    write_report([run, other], tmp_path / "both")
    assert "6 cases in 2 files; 1 crashed." in (tmp_path / "both" / "report.md").read_text()


@pytest.mark.parametrize("results", [[], [RESULTS[3]]], ids=["nothing", "only a crash"])
def test_a_run_without_answers_has_a_report(tmp_path, results):
    folder = RunFolder(tmp_path)
    folder.claim(PLAN, ABOUT)
    with folder:
        for one in results:
            folder.add(one)
    write_report([folder], tmp_path)
    assert f"{len(results)} cases" in (tmp_path / "report.md").read_text()


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, None), (0, "0"), (0.1234, "0.123"), (1.234, "1.23"), (12.34, "12.3"), (1234.5, "1,234")],
)
def test_numbers_have_three_digits(value, text):
    assert number(value) == text


def test_pieces_of_markdown():
    assert table(["a", "b"], [[1, None], ["x|y", "z\n"]]) == [
        "| a | b |", "|---|---|", "| 1 | – |", "| x\\|y | z  |", "",
    ]  # fmt: skip
    assert fenced("a ```` b", "python")[0] == "`````python"
    assert share(1, 0) is None
    assert json.dumps(share(1, 3)) == '"1 = 33.33 %"'


@pytest.mark.parametrize(
    ("size", "limit"), [(0, 1024), (1023, 1024), (1024, 2048), (5000, 8192), (8192, 16384)]
)
def test_size_classes_are_powers_of_two(size, limit):
    assert size_class(size) == limit


def test_distributions():
    assert Distribution.of([]) is None
    assert Distribution.of([7]) == Distribution(n=1, median=7, p90=7, max=7, mean=7)
    assert Distribution.of([4, 1, 2, 3]) == Distribution(n=4, median=3, p90=4, max=4, mean=2.5)
    assert Distribution.of(range(1, 101)).p90 == 91
