"""Slots: a text goes on where most of it was read; another one takes the oldest slot."""

import pytest

from fimlsp.models.remote.llama_server import Slots, common_prefix

A, B, C = list(range(100)), list(range(200, 300)), list(range(300, 400))
CASES = {
    "typing goes on in its slot": ([A, [*A, 1], [*A, 1, 2]], [0, 0, 0]),
    "a deleted text goes on in its slot": ([A, A[:40], A], [0, 0, 0]),
    "files edited in turn keep theirs": ([A, B, [*A, 1], [*B, 1]], [0, 1, 0, 1]),
    "another text takes the oldest": ([A, B, C, [*B, 1], C], [0, 1, 0, 1, 0]),
    "a beginning that all texts share is not enough": ([A, A[:10] + B], [0, 1]),
    "empty texts": ([[], []], [0, 1]),
}


@pytest.mark.parametrize("case", CASES)
def test_the_slot_of_a_text(case):
    texts, expected = CASES[case]
    slots = Slots(2)
    assert [slots.choose(text) for text in texts] == expected


def test_a_common_prefix_ends_at_the_first_difference():
    assert [common_prefix(A, text) for text in (A, A[:3], [*A[:5], -1], [], B)] == [100, 3, 5, 0, 0]
