"""Paths through automata, held against trying all texts."""

import random
from itertools import product

import pytest

from fimlsp.lexing.automata.dfa import DEAD, Dfa
from fimlsp.lexing.automata.paths import Paths

BYTES = 3
LONGEST = 5


def random_dfa(seed: int) -> Dfa:
    rng = random.Random(seed)
    count = rng.randint(2, 6)
    rows = [(DEAD,) * 256]
    for _ in range(1, count):
        row = [rng.choice((DEAD, rng.randrange(count))) for _ in range(BYTES)]
        rows.append((*row, *(DEAD,) * (256 - BYTES)))
    return Dfa(tuple(rows), (-1,) * count, (0,) * count, {"main": 1}, ())


def shortest(dfa: Dfa, start: int) -> dict[int, bytes]:
    """The states that *start* leads to, each with the first of the shortest texts that lead there."""
    found = {start: b""}
    for length in range(1, LONGEST + 1):
        for text in map(bytes, product(range(BYTES), repeat=length)):
            found.setdefault(dfa.run(start, text), text)
    found.pop(DEAD, None)
    return found


@pytest.mark.parametrize("seed", range(60))
def test_paths_are_those_that_texts_take(seed):
    dfa = random_dfa(seed)
    paths = Paths(dfa)
    for start in range(1, len(dfa.rows)):
        expected = shortest(dfa, start)
        assert {state for state in range(len(dfa.rows)) if paths.reachable[start] >> state & 1} == {*expected}
        lengths = paths.lengths_from(start)
        assert lengths == {state: len(text) for state, text in expected.items()}
        assert [*lengths.values()] == sorted(lengths.values())
        for goal in range(1, len(dfa.rows)):
            way = paths.way_to(start, 1 << goal)
            assert (way is None) == (goal not in expected)
            assert way is None or (dfa.run(start, way) == goal and len(way) == len(expected[goal]))
        assert paths.way_to(start, 0) is None
