"""A small seeded part of each suite, and proof that the suites notice a fault."""

import ast
import random
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from fimlsp.quotient.engine import Engine
from tests.quotient.corpus import complaint

from . import completeness, masks, recovery, soundness, typing_replay
from .bench import Tally, Worker
from .breaks import KINDS
from .conformance import Conformance
from .cpython import INVALID, LIMIT, VALID, Verdict, verdict
from .known import stale
from .laws import LAWS, Bench, Case, broken
from .recovery import escapes
from .shrinking import shrunk
from .snippets import Snippet, harvest_program

RUNNING = "{}.{}".format(*sys.version_info)
PYTHON = recovery.breakable("python")
SOME = (
    b"if a:\n    b = (1,\n         2)\nelse:\n    f'{c!r:>}{d}'\n",
    b"match a:\n  case [b, *_] if c: pass\n",
)
VERDICTS = {
    b"": VALID,
    b"\xef\xbb\xbfa": VALID,
    b"# coding: latin-1\na": VALID,
    b"# coding: latin-1\n'\xff'": INVALID,
    b"#\xff": INVALID,
    b"a\\\r\n": INVALID,
    b"a\\\r\r\n": VALID,
    b"a b": INVALID,
    b"\0": LIMIT,
    b"-" * 100_000 + b"a": LIMIT,
}


@cache
def worker() -> Worker:
    return Worker(RUNNING)


def together(tasks) -> Tally:
    """The tally of all *tasks*."""
    tally = Tally()
    for task in tasks:
        tally.include(task.run(worker()))
    return tally


class Liar(Bench):
    """A CPython that refuses semicolons and accepts dollars."""

    def __init__(self) -> None:
        super().__init__(worker().engine, lambda texts: [self._say(text) for text in texts])

    def _say(self, data: bytes) -> Verdict:
        if b";" in data:
            return Verdict(INVALID, "a semicolon")
        return Verdict(VALID) if b"$" in data else verdict(data)


@pytest.mark.parametrize(("data", "kind"), VERDICTS.items())
def test_verdicts(data, kind):
    assert verdict(data).kind == kind


@pytest.mark.parametrize(
    ("law", "case"),
    {
        "complete": Case(b"if a: ", b"b; c", b"\nd\n"),
        "empty middle": Case(b"(a, ", b"$", b")\n"),
        "prefixes": Case(b"(a, ", b"bc $", b")\n"),
        "completion": Case(b"aa = [", b"b", b"]; cc\n"),
    }.items(),
)
def test_faults_are_noticed_and_shrunk(law, case):
    liar = Liar()
    assert broken(law, worker(), case) is None or b"$" in case.whole
    disagreement = broken(law, liar, case)
    assert disagreement is not None
    small = shrunk(liar, disagreement).case
    assert len(small.whole) <= 3
    assert broken(law, liar, small) is not None


def test_all_laws_are_tried():
    assert set(LAWS) == {"complete", "empty middle", "prefixes", "completion", "connection", "relaxed"}


def test_conformance():
    snippets = tuple(Snippet(text, "here", None, ("snippet",)) for text in SOME for _ in range(20))
    invalid = tuple(Snippet(text + b")", "here", "unmatched ')'", ()) for text in SOME)
    tally = Conformance("1", snippets + invalid).run(worker())
    assert tally.found == []
    assert tally.cases == {"snippet": 40, "unmatched …": 2}
    lies = tuple(Snippet(text, "here", "a lie", ()) for text in SOME)
    assert len(Conformance("1", lies).run(Worker(RUNNING, shrinks=False)).found) == 2


def test_completeness():
    paths = sorted(path for path in Path(ast.__file__).parent.glob("*.py") if path.stat().st_size < 4000)
    chosen = [str(path) for path in random.Random(1).sample(paths, 16)]
    tally = together(completeness.tasks(chosen, seed=1))
    assert tally.found == []
    assert tally.cases["whole block"] > 10


def test_soundness():
    snippets = [Snippet(text, "here", None, ()) for text in SOME for _ in range(10)]
    tasks = [task for task, _ in zip(soundness.tasks(snippets, seed=2), range(6), strict=False)]
    tally = together(tasks)
    assert tally.found == []
    assert tally.cases["completion"] > 100
    assert tally.cases["walk"] > 500
    assert tally.cases["short: match"] > 10


@pytest.mark.parametrize(
    ("text", "completion", "leaves"),
    [
        ("f(a, <|>b<|>)\n", "b", False),
        ("f(a, <|>b<|>)\n", "b)", True),
        ("f(a, <|>b<|>)\n", "b(c)", False),
        ("f(a, <|>b)<|>\n", "'(')", False),
        ("f(a, <|>b<|>)\n", "')'", False),
        ("f(a, <|>b<|>)\n", "b\nc", False),
        ("if a:\n    <|>b<|>\n", "c\nd", True),
        ("if a:\n    <|>b<|>\n", "c\n    d", False),
        ("if a:\n    <|>b<|>\n", "c\n    # (\n\n# d", False),
        ("if a:\n<|>    b<|>\n", "  c", False),
        ("x = '(' + <|>b<|>\n", "c)", True),
    ],
)
def test_what_leaves_a_block_or_bracket(text, completion, leaves):
    left, middle, _ = text.split("<|>")
    assert escapes(left, middle, completion) is leaves


def test_recovery():
    """Each case is broken, and is not without its breaks; the unbroken file has the same hole."""
    paths = [Path(ast.__file__).parent / name for name in ("bisect.py", "textwrap.py", "heapq.py")]
    cases = [
        case for breaks in (1, 2) for path in paths for case in recovery.cases(path, PYTHON, "1", breaks)
    ]
    for case in cases:
        assert complaint(case.whole_left + case.middle + case.whole_right) is None
        is_broken = complaint(case.left + case.middle + case.right) is not None
        assert is_broken is (case.hole != "with its break")
    assert {kind for case in cases for kind in case.kinds} <= set(KINDS)
    outcomes = [recovery.judge(worker().engine, case, (1, 1)) for case in cases]
    assert {outcome.verdict for outcome in outcomes} >= {"complete"}
    assert {outcome.connects for outcome in outcomes} == {True, False}
    assert len(outcomes) == len(cases) > 10


@pytest.mark.slow
def test_recovery_breaks_the_own_line_of_the_cursor_too():
    """At distance 0 the break is on its side of the hole, in the same line."""
    path = Path(ast.__file__).parent / "textwrap.py"
    found = (case for seed in range(80) for case in recovery.cases(path, PYTHON, str(seed), 1))
    own = [case for case in found if case.distances == (0,)]
    assert {side for case in own for side in case.sides} == {"above", "below"}
    for case in own:
        if case.hole == "with its break":
            assert (case.left, case.right) == (case.whole_left, case.whole_right)
        else:
            assert (case.left == case.whole_left) is (case.sides == ("below",))
            assert (case.right == case.whole_right) is (case.sides == ("above",))
        assert case.left.count("\n") == case.whole_left.count("\n")


@pytest.mark.parametrize(
    ("line", "left", "right", "middle"),
    [
        ("f(a)\n", "f(", "\n", "a)"),  # the middle closes what was left open
        ("def f(): pass\n", "def ", "): pass\n", "f("),
        ("x: str | int\n", "x:  ", " int\n", " str |"),  # the blanks beside the hole are not compared
        ("f(a)\n", "f(a", ")\n", ""),  # nothing is left to write
        ("f(a)\n", "f(a)", ")\n", None),
        ("'a': b, c\n", "'a: ", ", c\n", None),
        ("    return a\n", "     ", "\n", None),  # another column
    ],
)
def test_recovery_has_a_larger_hole_beside_a_break(line, left, right, middle):
    assert recovery.between(line, left, right) == middle


def test_recovery_counts_a_completion_that_goes_on_in_a_forgotten_bracket():
    """A call left open above the cursor is counted, and a closing bracket offered there is refused."""
    above, line, below = "def f(p):\n    data = open(p", "x = 1", "\n    return data\n"
    case = recovery.Case(
        path="",
        left=above + "\n    ",
        middle=line,
        right=below,
        whole_left=above + ")\n    ",
        whole_right=below,
        kinds=("bracket left open",),
        sides=("above",),
        distances=(1,),
        hole="line",
    )
    outcome = recovery.judge(worker().engine, case, (1, 1))
    assert outcome.connects
    assert "all 1 cases" in recovery.counted([outcome], 1)
    forgotten = {text for text in ("",) if outcome.verdict == "complete"}
    assert forgotten or any(text.startswith(")") for text in outcome.refused)


def test_recovery_of_lua():
    """As above, with the reference parser and the tokens of another language."""
    pytest.importorskip("lupa", reason="Lua's reference parser: pip install lupa")
    lua = recovery.breakable("lua")
    path = Path(__file__).parents[2] / "editors/neovim/lua/fimlsp/init.lua"
    cases = [case for breaks in (1, 2) for case in recovery.cases(path, lua, "1", breaks)]
    assert len(cases) > 5
    for case in cases:
        assert lua.complaint(case.whole_left + case.middle + case.whole_right) is None
        assert lua.complaint(case.left + case.middle + case.right) is not None
    engine = Engine(lua.language)
    assert "complete" in {recovery.judge(engine, case, (1, 1)).verdict for case in cases}


def test_typing():
    """After a half-written line that some repair makes whole, the true rest of the next line is complete."""
    lines = list(typing_replay.lines(Path(ast.__file__).parent / "textwrap.py", 1))
    assert lines
    for line in lines:
        result = typing_replay.replay(worker().engine, line)
        repaired = result.repaired.verdicts
        assert 10 * repaired["complete"] >= 9 * sum(repaired.values())


def test_known_differences_still_differ():
    assert stale(worker(), (3, 11), "parse") == []


@pytest.mark.slow
def test_some_masks_allow_what_feeding_allows():
    for results in masks.judged(4, 300_000):
        assert not results.wrong
    assert results.verdicts >= 300_000
    languages, directions = zip(*(name.split(", ") for name in results.by_language), strict=True)
    assert {*languages} == {*masks.LANGUAGES}
    assert len({*directions}) == 2


def test_a_wrong_bit_of_a_mask_is_seen(monkeypatch):
    vocabulary = masks.vocabulary_of("json", random.Random(1), masks.BUNDLED)
    place = next(masks.places(random.Random(1), "json", vocabulary.texts))
    allowed = place.state.allowed_texts(vocabulary).copy()
    allowed[7] = not allowed[7]
    monkeypatch.setattr(type(place.state), "allowed_texts", lambda *_: allowed)
    results = masks.Judged()
    masks.judge(results, place, vocabulary)
    assert [text for _, text, _ in results.wrong] == [vocabulary.texts[7]]


def test_the_program_that_harvests_snippets_can_be_imported_alone():
    command = [sys.executable, "-c", "import harvest; print(len(harvest.Harvest().origins))"]
    done = subprocess.run(
        command, cwd=harvest_program().parent, capture_output=True, encoding="utf-8", check=False
    )
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
