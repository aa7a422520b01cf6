"""The bound on the memory of a worker: when freed memory is returned, and when caches are emptied."""

from __future__ import annotations

import gc
import sys
from types import SimpleNamespace

import pytest

from fimlsp.lexing.bounded_dict import BoundedDict, WeighedDict
from fimlsp.lsp_server.worker import memory
from fimlsp.lsp_server.worker.memory import LEAST_GROWTH, MOST_GROWTH, MemoryBound, resident_memory

HALF = MOST_GROWTH // 2


@pytest.fixture
def collects_nothing(monkeypatch):
    """Collections take seconds in the process of the tests, and the processes below need none."""
    monkeypatch.setattr(memory, "gc", SimpleNamespace(unfreeze=lambda: None, collect=lambda: None))


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


MOST, LEAST = MOST_GROWTH, LEAST_GROWTH

# growth of what is used, of caches and of what was freed; times that memory is returned, and if caches stay
LOOKS = [
    ((0, HALF, HALF), 0, True),
    ((0, HALF, HALF + 1), 1, True),
    ((0, 0, 9 * MOST), 1, True),
    ((0, MOST - LEAST, LEAST + 1), 1, True),
    ((0, MOST - LEAST + 1, LEAST), 2, False),
    ((0, MOST + 1, 0), 2, False),
    ((MOST + 1, 1, 0), 2, False),
    ((-9, HALF, HALF), 0, True),
    ((-9, HALF, HALF + 1), 1, True),
    ((-9, MOST - LEAST + 1, LEAST), 2, False),
]


@pytest.mark.parametrize(("growth", "n_returned", "is_kept"), LOOKS)
@pytest.mark.usefixtures("collects_nothing")
def test_a_look(growth, n_returned, is_kept):
    process = Process(5 * MOST)
    bound = MemoryBound(process.resident, process.give_back)
    process.freed = 100
    bound.look()
    assert (process.n_returned, process.resident()) == (1, 5 * MOST), "after the start"
    process.used += min(0, growth[0])
    bound.look()
    process.used += max(0, growth[0])
    process.cached, process.freed = growth[1:]
    process.cache[1] = b"a"
    bound.look()
    assert (process.n_returned - 1, bool(process.cache)) == (n_returned, is_kept)
    bound.look()
    assert process.n_returned - 1 == n_returned, "what remains is accepted"


class Holed:
    """A process whose allocator keeps most memory of emptied caches, and fills that first."""

    def __init__(self, kept):
        self.kept, self.held, self.most = kept, 0, 0
        self.cache = BoundedDict[int, bytes](10)
        self.cached = 0

    def add(self, n_bytes):
        self.cache[1] = b"a"
        self.cached += n_bytes
        self.held = max(self.held, self.cached)
        self.most = max(self.most, self.held)

    def resident(self):
        return 5 * MOST + self.held

    def give_back(self):
        if not self.cache:
            self.cached, self.held = 0, int(self.held * self.kept)


@pytest.mark.usefixtures("collects_nothing")
@pytest.mark.parametrize("kept", [0, 0.5, 0.75, 0.8])
def test_memory_is_level_though_the_allocator_keeps_most_of_it(kept):
    process = Holed(kept)
    bound = MemoryBound(process.resident, process.give_back)
    peaks = []
    for _ in range(3):
        process.most = 0
        for _ in range(200):
            process.add(MOST // 20)
            bound.look()
        peaks.append(process.most)
    assert peaks[0] < 1.3 * MOST
    assert peaks[0] == pytest.approx(peaks[2], abs=MOST // 20)


def test_a_system_that_does_not_say_is_left_alone():
    process = Process(1)
    MemoryBound(lambda: None, process.give_back).look()
    assert process.n_returned == 0


@pytest.mark.slow
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


@pytest.mark.usefixtures("collects_nothing")
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
