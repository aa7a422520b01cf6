"""The text that is read again after an edit does not grow with the file, however few line ends it has."""

import json
import random

import pytest

from fimlsp.lexing.interruption import Interrupted, interruptible
from fimlsp.quotient.engine import Document
from fimlsp.testing.edited import counting

from ...sampling import sampled
from .suites import JSON


def prepared(count: int, indent: int | None) -> Document:
    """A document of *count* records, of which everything is known."""
    records = [{"id": n, "text": f"one, {n}, two", "list": [n, [n + 1], {}]} for n in range(count)]
    document = JSON.fresh_engine().document(json.dumps(records, indent=indent).encode())
    document.prepare()
    return document


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("share", sampled([0.5, 0.1, 0.9], 3))
def test_a_keystroke_reads_its_surroundings(indent, share):
    document = prepared(1000, indent)
    place = document.data.index(b"one", int(share * len(document.data)))
    document.middle(place, place, relax=True)
    with counting(document) as read:
        document.edit(place, place, b"x")
        assert document.middle(place, place + 1, relax=True).start.feed(b"x").complete
    assert read.count < 1000


@pytest.mark.parametrize("indent", [None, 2])
def test_a_jump_after_an_edit_elsewhere_reads_both_surroundings(indent):
    document = prepared(1000, indent)
    for edited, asked in ((0.9, 0.1), (0.1, 0.9)):
        place = document.data.index(b"one", int(edited * len(document.data)))
        document.edit(place, place, b"x")
        other = int(asked * len(document.data))
        with counting(document) as read:
            assert document.middle(other, other, relax=True).connectable
        assert read.count < 2000


def varied(rng: random.Random, depth: int) -> object:
    if not depth:
        return rng.choice([1, "a", True, None])
    parts = [varied(rng, depth - (rng.random() < 0.8)) for _ in range(rng.randrange(1, 4))]
    return parts if rng.random() < 0.5 else {f"k{n}": part for n, part in enumerate(parts)}


@pytest.mark.slow
def test_equal_contexts_are_one_however_many_others_lie_between():
    rng = random.Random(1)
    between = ",\n".join(json.dumps(varied(rng, 6), indent=1) for _ in range(15))
    marked = '{"a": [[{"b": [\n0,\n1]}]]}'
    data = f"[0,\n0,\n{marked},\n{between},\n{marked}]".encode()
    document = JSON.fresh_engine().document(data)
    document.prepare()
    first, last = data.index(b"\n0,\n1") + 1, data.rindex(b"\n0,\n") + 1
    assert document.left_at(first)[1] is document.left_at(last)[1]


@pytest.mark.slow
def test_a_line_of_50_megabytes_can_be_given_up_and_is_read_on():
    rows = (b'{"id":%d,"text":"one","list":[%d,[1,{}]]},' % (n % 999, n % 99) for n in range(1_250_000))
    data = b"[" + b"".join(rows) + b"1]"
    assert len(data) > 50_000_000
    document = JSON.fresh_engine().document(data)
    left_to_ask = iter(range(1_000, -1, -1))
    with pytest.raises(Interrupted), interruptible(lambda: next(left_to_ask) == 0):
        document.middle(len(data) // 2, len(data) // 2, relax=True)
    start = document.middle(len(data) - 1, len(data) - 1, relax=True).start
    assert start is not None
    assert start.feed(b',{"id":1}').complete
    assert start.feed(b"]") is None
