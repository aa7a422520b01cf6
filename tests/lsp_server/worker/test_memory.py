"""The bound on the memory of a worker: when freed memory is returned, and when caches are emptied."""

from __future__ import annotations

import gc
import sys

import pytest

from fimlsp.lexing.bounded_dict import BoundedDict, WeighedDict
from fimlsp.lsp_server.worker.memory import MOST_GROWTH, MemoryBound, resident_memory

HALF = MOST_GROWTH // 2


class Process:
    """A process of memory in use, in caches, and freed but not returned."""

    def __init__(self, used):
        self.used, self.freed = used, 0
        self.n_returned = 0
        self.cache = BoundedDict[int, bytes](10)
        self.cached = 0

    def resident(self):
        if not self.cache:
            self.freed, self.cached = self.freed + self.cached, 0
        return self.used + self.cached + self.freed

    def give_back(self):
        self.resident()
        self.freed, self.n_returned = 0, self.n_returned + 1


# growth of what is used, of caches and of what was freed; times that memory is returned, and if caches stay
LOOKS = [
    ((0, HALF, HALF), 0, True),
    ((0, HALF, HALF + 1), 1, True),
    ((0, 0, 9 * MOST_GROWTH), 1, True),
    ((0, HALF + 1, HALF), 2, False),
    ((0, MOST_GROWTH + 1, 0), 2, False),
    ((MOST_GROWTH + 1, 1, 0), 2, False),
    ((-9, HALF, HALF), 0, True),
    ((-9, HALF, HALF + 1), 1, True),
    ((-9, HALF + 1, HALF), 2, False),
]


@pytest.mark.parametrize(("growth", "n_returned", "is_kept"), LOOKS)
def test_a_look(growth, n_returned, is_kept):
    process = Process(5 * MOST_GROWTH)
    bound = MemoryBound(process.resident, process.give_back)
    process.freed = 100
    bound.look()
    assert (process.n_returned, process.resident()) == (1, 5 * MOST_GROWTH), "after the start"
    process.used += min(0, growth[0])
    bound.look()
    process.used += max(0, growth[0])
    process.cached, process.freed = growth[1:]
    process.cache[1] = b"a"
    bound.look()
    assert (process.n_returned - 1, bool(process.cache)) == (n_returned, is_kept)
    bound.look()
    assert process.n_returned - 1 == n_returned, "what remains is the new base"


def test_a_system_that_does_not_say_is_left_alone():
    process = Process(1)
    MemoryBound(lambda: None, process.give_back).look()
    assert process.n_returned == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how much memory is resident")
def test_memory_is_level_however_much_is_cached():
    bound = MemoryBound()
    bound.look()
    before = resident_memory()
    cache = WeighedDict[int, list[bytes]](10 * MOST_GROWTH, lambda *_: 100_000)
    most = 0
    for key in range(3_000):
        cache[key] = [bytes(100) for _ in range(700)]
        if not key % 10:
            bound.look()
            most = max(most, resident_memory())
    assert most < before + 1.3 * MOST_GROWTH


def test_all_caches_are_emptied_and_work_as_before():
    bounded, weighed = BoundedDict[int, int](8), WeighedDict[int, int](8, lambda _, value: value)
    gone = BoundedDict[int, int](8)
    gone[1] = 1
    del gone
    gc.collect()
    for _ in range(2):
        for key in range(20):
            bounded[key] = key
            weighed[key] = 3
        assert ([*bounded][-1], [*weighed]) == (19, [18, 19])
        process = Process(1)
        bound = MemoryBound(process.resident, process.give_back)
        bound.look()
        process.used = 2 * MOST_GROWTH
        bound.look()
        assert (len(bounded), len(weighed)) == (0, 0)
