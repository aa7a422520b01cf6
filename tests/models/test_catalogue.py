"""The sizes that are offered for a machine, with their cost."""

import pytest

from fimlsp.models.catalogue import FIRST_S_MAX, KNOWN_GGUF, offers

GB = 10**9
MACHINES = {  # free bytes and threads; the largest name, and the number of sizes
    "a laptop": (8 * GB, 2, 3),
    "one thread": (25 * GB, 1, 3),
    "a workstation": (64 * GB, 16, 3),
    "memory unknown": (None, 4, 3),
    "little memory": (1 * GB, 2, 1),
    "none that fits": (GB // 10, 2, 0),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_three_sizes_that_fit(machine):
    free, threads, number = MACHINES[machine]
    found = offers(free, threads)
    assert len(found) == number
    assert [offer.memory for offer in found] == sorted({offer.memory for offer in found})
    for offer in found:
        assert free is None or offer.file.bytes < offer.memory <= free
        assert 0 < offer.next_s < offer.first_s <= FIRST_S_MAX


def test_more_threads_offer_larger_ones():
    assert offers(64 * GB, 16)[-1].file.bytes > offers(64 * GB, 1)[-1].file.bytes


def test_the_smallest_is_offered_even_if_it_is_slow(monkeypatch):
    monkeypatch.setattr("fimlsp.models.catalogue.READ_PER_SECOND", 0.1)
    (offer,) = offers(64 * GB, 1)
    assert offer.file == min(KNOWN_GGUF, key=lambda file: file.bytes)
