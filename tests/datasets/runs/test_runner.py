"""Runs that are interrupted, workers that die: nothing is lost, nothing is done twice."""

from dataclasses import dataclass, replace
from importlib import import_module
from itertools import count, islice
from pathlib import Path

import pytest

from fimlsp.datasets import workers
from fimlsp.datasets.cuts import FileCases, Selection
from fimlsp.datasets.plan import About, Plan
from fimlsp.datasets.run_folder import RunFolder, RunFolderError
from fimlsp.datasets.workers import PoolError, Workers, run

from ..scripted_bench import HANGS


@dataclass(frozen=True)
class SomePlan(Plan):
    seed: int = 0
    cuts: tuple[str, ...] = ("line",)
    files: str = "0:"


@dataclass(frozen=True)
class OtherPlan(Plan):
    seed: int = 0
    cuts: tuple[str, ...] = ("line",)


PLAN = SomePlan()
ABOUT = About("fimlsp replay", 1, "a machine", {})


@pytest.fixture(autouse=True)
def _importable(monkeypatch):
    """Worker processes find the scripted bench by the search path of this one."""
    monkeypatch.syspath_prepend(Path(__file__).parents[1])


def make(name="ScriptedBench"):
    return getattr(import_module("scripted_bench"), name)


@pytest.fixture
def sources(tmp_path):
    folder = tmp_path / "sources"
    folder.mkdir()
    for name in ["a.py", "dies.py", "z.py"]:
        (folder / name).write_text(f"x = 1  # {name}\n")
    (folder / "bad.py").write_text("x = (\n")
    return folder


def start(sources, out, workers=None, limit=None, maker="ScriptedBench", report=lambda _: None):
    folder = RunFolder(out)
    folder.claim(PLAN, ABOUT)
    selection = Selection((str(sources),), kinds=("line",), per_file=3)
    run(selection, make(maker), workers or Workers(), folder, limit, report)
    return folder


def outcomes(folder):
    return {result.case: result.crash for result in folder.results()}


def test_a_dying_worker_costs_one_case(sources, tmp_path):
    reported = []
    folder = start(sources, tmp_path / "out", report=reported.append)
    crashed = {case: crash for case, crash in outcomes(folder).items() if crash}
    assert list(crashed.values()) == ["the worker process ended (exit status 7)"]
    assert next(iter(crashed)).endswith("-1")
    assert len(outcomes(folder)) == len(reported) == 9
    assert [file.reason for file in folder.excluded()] == ["does not parse"]


def test_a_hanging_case_is_given_up(tmp_path, monkeypatch):
    """Time passes only while the case hangs, so that the test does not depend on the machine's speed."""
    hangs, ticks = tmp_path / "hangs", count()
    monkeypatch.setenv(HANGS, str(hangs))
    monkeypatch.setattr(workers, "monotonic", lambda: 1_000.0 * next(ticks) if hangs.exists() else 0.0)
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "hangs.py").write_text("x = 1\n")
    folder = start(tmp_path / "sources", tmp_path / "out")
    assert [crash for crash in outcomes(folder).values() if crash] == ["took longer than 600 seconds"]
    assert len(outcomes(folder)) == 3


def test_resuming_equals_one_go(sources, tmp_path):
    whole = start(sources, tmp_path / "one")

    def stop_after_four(_result, seen=[]):  # noqa: B006 - counts
        seen.append(1)
        if len(seen) == 4:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        start(sources, tmp_path / "two", report=stop_after_four)
    with (tmp_path / "two" / "results.jsonl").open("a") as file:
        file.write('{"torn')
    resumed = start(sources, tmp_path / "two")
    assert [result.case for result in resumed.results()] == [result.case for result in whole.results()]
    assert outcomes(resumed) == outcomes(whole)
    assert resumed.excluded() == whole.excluded()
    again = start(sources, tmp_path / "two", report=pytest.fail)
    assert outcomes(again) == outcomes(whole)


@pytest.mark.slow
def test_a_limit_can_be_raised(sources, tmp_path):
    assert len(outcomes(start(sources, tmp_path / "out", limit=2))) == 2
    assert len(outcomes(start(sources, tmp_path / "out", limit=5))) == 5
    assert outcomes(start(sources, tmp_path / "out")) == outcomes(start(sources, tmp_path / "all"))


@pytest.mark.slow
def test_two_workers_do_what_one_does(sources, tmp_path):
    one = start(sources, tmp_path / "one")
    two = start(sources, tmp_path / "two", Workers(2))
    assert outcomes(one) == outcomes(two)


@pytest.mark.parametrize(
    ("maker", "message"), [("no_model", "There is no model"), ("dies_at_once", r"exit status 9")]
)
def test_a_model_that_cannot_be_loaded_ends_the_run(sources, tmp_path, maker, message):
    with pytest.raises(PoolError, match=message):
        start(sources, tmp_path / "out", maker=maker)


def test_tasks_are_read_only_when_a_worker_is_free(sources):
    selection = Selection((str(sources),), kinds=("line",), per_file=1)
    read = []

    def tasks():
        for item in selection:
            if isinstance(item, FileCases):
                read.append(item)
                yield item

    results = workers.run_locally(tasks(), make(), 1, workers.SECONDS_MAX)
    assert len(list(islice(results, 1))) == 1
    assert len(read) < 3
    results.close()


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        (replace(PLAN, seed=1), "seed: 0, now 1"),
        (OtherPlan(), "files: 0:, now None"),
        (replace(PLAN, cuts=("line", "user")), r"cuts: \['line'\], now \['line', 'user'\]"),
    ],
)
def test_a_folder_keeps_its_configuration(tmp_path, plan, message):
    RunFolder(tmp_path).claim(PLAN, ABOUT)
    again = replace(ABOUT, command="again")
    RunFolder(tmp_path).claim(PLAN, again)
    with pytest.raises(RunFolderError, match=message):
        RunFolder(tmp_path).claim(plan, ABOUT)
    assert RunFolder(tmp_path).about == again
    assert RunFolder(tmp_path).plan(SomePlan) == PLAN


@pytest.mark.parametrize(
    ("line", "message"), [("{torn\n", "Line 1 of .* is damaged"), ('{"record": {}}\n', "another version")]
)
def test_a_damaged_line_is_named(tmp_path, line, message):
    RunFolder(tmp_path).claim(PLAN, ABOUT)
    (tmp_path / "results.jsonl").write_text(line)
    with pytest.raises(RunFolderError, match=message):
        list(RunFolder(tmp_path).results())


def test_a_folder_without_a_run_says_so(tmp_path):
    with pytest.raises(RunFolderError, match="holds no run"):
        RunFolder(tmp_path).plan(SomePlan)
    assert not RunFolder(tmp_path).has_run


@pytest.mark.slow
def test_a_resumed_run_counts_to_its_own_total(sources, tmp_path):
    start(sources, tmp_path / "out", limit=4)
    folder, passed, reported = RunFolder(tmp_path / "out"), [], []
    selection = Selection((str(sources),), kinds=("line",), per_file=3)
    run(selection, make("ScriptedBench"), Workers(), folder, 7, reported.append, passed.append)
    assert (sum(passed), len(reported)) == (4, 3)
