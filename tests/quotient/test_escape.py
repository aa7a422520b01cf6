"""Context escape: middles that must stay in the bracket or block around both contexts."""

import random
from pathlib import Path

import pytest

from fimlsp.languages.python import python
from fimlsp.languages.python.versions import PYTHON_VERSIONS
from fimlsp.quotient.engine import Engine
from fimlsp.testing.checking import COMPLETE, cases, fed, verdict

from .middle_support import engine
from .states.test_files import files

FILES = sorted((Path(__file__).parent / "cases" / "escape").glob("*.txt"))
WALKS = 6
WORDS = (
    *(b"(", b")", b"[", b"]", b":", b"\n", b"\n    ", b"    ", b" ", b"x", b"1", b",", b".", b"="),
    *(b"if ", b"else:", b"def f():", b'"', b"'", b"#", b"\\", b'f"', b"{", b"}", b"\t", b"@", b"return"),
)


def staying(left, right):
    return (
        engine()
        .document(left + right)
        .middle_at_bytes(len(left), len(left), relax=False, may_escape=False)
        .start
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_cases(path):
    wrong = [
        (left, middle, right, expected, verdict(fed(staying(left, right), middle)))
        for left, middle, right, expected in cases(path)
        if verdict(fed(staying(left, right), middle)) != expected
    ]
    assert wrong == []


@pytest.mark.parametrize("seed", range(3))
def test_what_stays_is_a_part_of_what_connects(seed):
    rng = random.Random(seed)
    data = next(files(seed, longest=20_000))
    document = engine().document(data)
    for _ in range(WALKS):
        start, end = (
            sorted(rng.sample(range(len(data) + 1), 2))
            if rng.random() < 0.2
            else [rng.randrange(len(data) + 1)] * 2
        )
        free = document.middle_at_bytes(start, end, relax=False).start
        forbid_escape = document.middle_at_bytes(start, end, relax=False, may_escape=False).start
        assert (free is None) == (forbid_escape is None)
        check_walk(rng, free, forbid_escape)


@pytest.mark.parametrize("version", [(3, 13), PYTHON_VERSIONS[-1]])
@pytest.mark.parametrize("left", [b"f'", b"x = f'a", b"f'{0"])
def test_a_way_that_no_cheapest_sentence_tells(version, left):
    document = Engine(python(version)).document(left + b"{}'\n")
    state = document.middle(len(left), len(left), may_escape=False).start
    assert verdict(state.feed(state.shortest_completion)) == COMPLETE


def check_walk(rng, free, forbid_escape):
    """Along a random middle that stays: it connects as well, and a completion is always known."""
    while forbid_escape is not None:
        assert free is not None
        assert free.complete or not forbid_escape.complete
        assert verdict(forbid_escape.feed(forbid_escape.shortest_completion)) == COMPLETE
        words = rng.sample(WORDS, 8)
        word = next((word for word in words if forbid_escape.feed(word) is not None), None)
        if word is None or rng.random() < 0.1:
            return
        free, forbid_escape = free and free.feed(word), forbid_escape.feed(word)
