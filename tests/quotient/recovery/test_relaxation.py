"""Broken contexts: a part of them is ignored, and the constraint reports the side."""

import random

import pytest

from fimlsp.quotient.engine import Constraint
from fimlsp.quotient.recovery.recovery import Recoveries
from fimlsp.quotient.states.shortest_completion import NoCompletionError
from fimlsp.testing.checking import COMPLETE, fed, verdict

from ..middle_support import cursor_in, engine, sides
from ..states.test_files import files

BROKEN = {
    # left<|>right: the side of which a part is left out, and a middle that may stand there all the same
    "x = <|>\ny = )\n": ("right", "1"),
    "x = f(<|>)\ndef\n": ("right", "a"),
    "x = f(<|>)\n    y\n   z\n    w\n": ("right", "a"),
    "if a:\n    <|>\nelse\n": ("right", "x"),
    "x = <|>\n'''\n'": ("right", "1"),
    "x = <|>\n?\ny\n": ("right", "1"),
    "def f(:\n    pass\nx = <|>\n": ("left", "1"),
    "x = )\ny = <|>\n": ("left", "1"),
    "else:\n    x\ny = <|>\nz\n": ("left", "1"),
    "  x\n y\nz = <|>\n": ("left", "1"),
    "?\nx = <|>": ("left", "1"),
    "x = )\ny = <|>\nz = )\n": ("both", "1"),
    "?\nx = <|>\n?\n": ("both", "1"),
    "class\nx = f(<|>)\nclass\n": ("both", "a"),
    " ()<|>\n else: k": ("both", " + 1"),
    " (a<|> if n:\n  (b, c)": ("left", ")"),
    " f._<|>b\n (1*s)": ("left", "(a"),
}
WHOLE = (
    *(
        "<|>",
        "x<|>",
        "<|>x",
        "x = <|>\ny\n",
        "f(<|>)\n",
        "if a:<|>",
        "def f(a):\n    if a:\n        b(a)\n     <|>   c(a)\n",
        "def f(a):\n    if a:\n        b(a)\n       <|> c(a)\n    d\n",
        "def f(a):\n <|>   'text of it.'\n    return a\n",
        "def f(a):\n   <|> 'text of it.'\n    return a\n",
        "(<|>\n",
        "'<|>\n",
    ),
    *("try:\n  a\n<|>\nx\n", "<|>  b\n", "f'{<|>"),
    *("def f(<|>:\n  pass\n", "def f(<|> :\n  pass\n", "x = g(a, h(b, <|>)\ny\n"),  # the middle closes it
    *("x = [\n  'a<|> '\n  'b',\n]\n", "x = {\n  # a<|>b\n  c: d,\n}\n"),  # in a lexeme of a valid file
    *("x = a or\\\n <|>  b\n", "if a and\\\n  <|>  b:\n  c\n"),
)
BOTH = {
    # left<|>right: a middle that makes it valid and does more than finish its line; one that only finishes it
    "x = <|>)\n": ("(1", "1"),
    "if a:\n  <|>\n b\n": ("x\nif c:", "x"),
    "x = f(<|>, b\ny\n": ("a); (0", "a"),
    "if <|> > 1\n  y\n": ("a: 0 ", "a"),
    "x = [\n  <|>\n  b,\ny = 1\n": ("]; (", "a,"),
    "<|>'\n": ("'a", ""),
    "x = <|> 'a\n": ("'b", "c +"),
    "x = {\n  'a'<|> 'b'\n  'c': 'd',\n}\n": ("'': ", ":"),
    "x = {\n  <|>: 'b'\n  'c': 'd',\n}\n": ("lambda", "'a'"),
    "x = {\n  <|>\n  'b': 'c'\n  'd': 'e',\n}\n": ("'a': lambda x=", "'a': 1,"),
    "x = <|>.\ny\n": ("0", "a"),
    "x = f([a<|>, b)\n": ("]", ""),
    "if a:\n  b\n<|> c\n  d\n": (" ", "if"),
}


GARBAGE = (
    *(b"(", b")", b"'", b'"""', b"\n", b" ", b"x", b":", b"if ", b"?", b"\\", b"f'{"),
    *(b"\xff", b"\xc3", b"\0"),
)


def constraint(case: str) -> Constraint:
    left, right = case.split("<|>")
    return engine().document((left + right).encode()).middle_at_bytes(len(left), len(left), relax=True)


@pytest.mark.parametrize("case", BROKEN)
def test_broken_contexts_are_relaxed(case):
    side, middle = BROKEN[case]
    relaxed = constraint(case)
    assert (relaxed.connectable, sides(relaxed, case.index("<|>"))) == (True, side)
    assert fed(relaxed.start, middle.encode()) is not None


KEPT = {
    # left<|>right, of which a part is left out; a middle that the kept part allows, and one that it forbids
    "if a:\n    f(<|>\n    )\n    y = = 1\n": ("c", ")"),
    "if a:\n    f(<|>\n    )\n?\n": ("c", ")"),
    "def f(:\n    x = (a,<|>)\n": ("c", ")"),
    "?\nf'{a<|>}'\n": (" + b", "}"),
    "f(\n    a b<|>\n)\n": (", c=1", ")"),
    "f(\n    a,\n    b c<|>": ("=1)", ":"),
    "x = {\n    a: b 'c'<|>: d}\n": (" ''", "}"),
}


@pytest.mark.parametrize("case", KEPT)
def test_as_much_as_possible_is_kept(case):
    allowed, forbidden = KEPT[case]
    relaxed = constraint(case)
    assert relaxed.relaxed
    assert verdict(fed(relaxed.start, allowed.encode())) == COMPLETE
    assert verdict(fed(relaxed.start, forbidden.encode())) != COMPLETE


@pytest.mark.parametrize("case", BROKEN)
def test_broken_contexts_connect_nothing_unrelaxed(case):
    left, right = case.encode().split(b"<|>")
    assert cursor_in(engine().document(left + right), len(left)) is None


@pytest.mark.parametrize("case", WHOLE)
def test_contexts_that_can_be_connected_are_kept(case):
    kept = constraint(case)
    assert (kept.connectable, kept.relaxed) == (True, ())


@pytest.mark.parametrize("case", BOTH)
def test_contexts_are_kept_and_repaired(case):
    kept, side = constraint(case), sides(constraint(case), case.index("<|>"))
    assert side == "right"
    for middle in BOTH[case]:
        assert fed(kept.start, middle.encode()) is not None
    assert verdict(fed(kept.start, BOTH[case][1].encode())) == COMPLETE


def check_valid_files(count: int, seed: int) -> None:
    rng = random.Random(seed)
    for _, data in zip(range(count), files(seed, longest=10_000), strict=False):
        document = engine().document(data)
        for place in (0, len(data), *(rng.randrange(len(data) + 1) for _ in range(10))):
            assert document.middle_at_bytes(place, place, relax=True).relaxed == ()


def test_valid_files_are_kept():
    check_valid_files(count=5, seed=9)


@pytest.mark.slow
def test_many_valid_files_are_kept():
    check_valid_files(count=500, seed=10)


def check_garbage(count: int, seed: int) -> None:
    """Any bytes have a constraint, which accepts the completion that it offers."""
    rng = random.Random(seed)
    for _ in range(count):
        data = b"".join(rng.choices(GARBAGE, k=rng.randrange(30)))
        place = rng.randrange(len(data) + 1)
        start = (
            engine()
            .document(data)
            .middle_at_bytes(place, place, may_escape=rng.random() < 0.5, relax=True)
            .start
        )
        if start is not None:
            completed = fed(start, start.shortest_completion)
            assert verdict(completed) == COMPLETE, (data, place)


@pytest.mark.slow
def test_garbage():
    check_garbage(count=300, seed=1)


@pytest.mark.slow
def test_much_garbage():
    check_garbage(count=30_000, seed=2)


def test_a_repair_without_a_completion_is_none(monkeypatch):
    def readings(*_arguments):
        raise NoCompletionError

    monkeypatch.setattr(Recoveries, "readings", readings)
    broken = engine().document(b"x = \ny = )\n").middle(4, 4, relax=True)
    assert (broken.start, broken.relaxed) == (None, ())
    whole = engine().document(b"x = \ny = 1\n").middle(4, 4, relax=True)
    assert verdict(fed(whole.start, b"1")) == COMPLETE
