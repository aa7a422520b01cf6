"""The laws of a middle on all short texts over small alphabets, with CPython as the judge.

A middle is complete exactly if CPython parses the whole; a dead one has no complete extension; a viable one
has a completion, which is shown. That holds for all texts, so it must hold where pieces are put together
without any sense.
"""

import itertools
import random
from collections.abc import Iterator

import pytest

from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.testing.checking import Fault

from ..middle_support import fault, is_python, start_between

ALPHABETS = {
    "else": ["if a:", "\n", " ", "else:", "x"],
    "columns": ["if a:", "\n", "  ", " ", "x"],
    "try": ["try:", "\n", " ", "except:", "finally:", "x"],
    "brackets": ["(", ")", "\n", "x", "=", " "],
    "bracket kinds": ["[", "]", "{", "}", "x", ":"],
    "quotes": ["'", '"""', "x", "\n", "f"],
    "escapes": ["'", "\\", "x", "\n", "b"],
    "f-strings": ["f'", "{", "}", ":", "x", "'"],
    "long f-strings": ["f'''", "{", "}", "\n", "x", "'''"],
    "joined lines": ["\\", "\n", " ", "x", "#"],
    "tabs": ["\t", " ", "if x:", "\n", "x"],
    "match": ["match x:", "\n", " ", "case x:", "x"],
    "decorators": ["@x", "\n", "def f():", " ", "x"],
    "numbers": ["0", "x", "1", " ", ".", "or"],
    "line ends": ["\r", "\n", "if x:", " ", "x"],
    "form feeds": ["\f", "\n", "if x:", " ", "x"],
    "lambda": ["lambda", ":", " ", "x", "=", ","],
    "bytes of a character": ["é", "\n", "x", "=", "#"],
    "one-line suites": ["class x:", "x;", "\n", " ", "pass"],
}
LONGEST = 3


def texts(alphabet: list[str]) -> list[bytes]:
    """All different texts of at most three pieces."""
    sequences = (itertools.product(alphabet, repeat=length) for length in range(LONGEST + 1))
    return list(dict.fromkeys("".join(pieces).encode() for group in sequences for pieces in group))


def faults_between(left: bytes, right: bytes, pieces: list[bytes]) -> Iterator[Fault]:
    """The faults of all middles between *left* and *right*, each fed piece by piece."""
    todo: list[tuple[bytes, GrammarState | None, int]] = [(b"", start_between(left, right), 0)]
    while todo:
        middle, state, length = todo.pop()
        found = fault(left, middle, right, state)
        if found is not None:
            yield found
        if length < LONGEST:
            todo += [(middle + piece, state and state.feed(piece), length + 1) for piece in pieces]


def check_alphabet(alphabet: list[str], contexts: int, seed: int) -> None:
    sides = texts(alphabet)
    rng = random.Random(seed)
    pairs = [(rng.choice(sides), rng.choice(sides)) for _ in range(contexts)]
    pieces = [piece.encode() for piece in alphabet]
    is_python.cache_clear()
    assert [found for left, right in pairs for found in faults_between(left, right, pieces)] == []


@pytest.mark.parametrize("contexts", [20, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ALPHABETS)
def test_short_texts(name, contexts):
    check_alphabet(ALPHABETS[name], contexts, seed=1)


def test_alphabets_of_many_kinds():
    mixed = [piece for alphabet in ALPHABETS.values() for piece in alphabet]
    rng = random.Random(3)
    for seed in range(15):
        check_alphabet(rng.sample(mixed, 4), contexts=8, seed=seed)
