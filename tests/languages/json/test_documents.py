"""After any edits a document answers as one made anew by an engine that has seen nothing, minified or not."""

import random

import pytest

from fimlsp.quotient.engine import Document
from fimlsp.testing.checking import fed, verdict
from fimlsp.testing.suites import cuts, mutated

from ...sampling import sampled
from . import realistic
from .suites import JSON, PIECES

PROBES = (
    b"",
    b"1",
    b" ",
    b"\n",
    b",",
    b'"',
    b'"a": 1',
    b", 1",
    b"]",
    b"}",
    b": [",
    b'": "',
    b'", "',
    b"],[",
    b"null",
)


def answers(document: Document, start: int, end: int, *, relax: bool) -> object:
    """The relaxed sides for a middle, the start of its line, and the verdicts on all probes."""
    constraint = document.middle_at_bytes(start, end, relax=relax)
    verdicts = [verdict(fed(constraint.start, probe)) for probe in PROBES]
    return constraint.relaxed, document.left_at(start)[0], verdicts


def difference(document: Document, start: int, end: int, *, relax: bool) -> object:
    """The difference between the answers of *document* and of a new one; None if there is none."""
    found = answers(document, start, end, relax=relax)
    expected = answers(JSON.fresh_engine().document(document.data), start, end, relax=relax)
    return None if found == expected else (document.data, start, end, relax, found, expected)


def edit_randomly(document: Document, rng: random.Random) -> tuple[int, bytes]:
    """Change something, as if typed; returns its place and the text before."""
    start, end = next(cuts(document.data, rng, 1))
    end = min(end, start + 40)
    old = document.data[start:end]
    document.edit(start, end, rng.choice([b"", rng.choice(PIECES), mutated(JSON, old, rng)]))
    return start, old


def check_edits(data: bytes, seed: int, count: int) -> None:
    """Edit *data*, also back to its old text, and compare verdicts at the edit and elsewhere."""
    rng = random.Random(seed)
    document = JSON.engine.document(data)
    for _ in range(count):
        length = len(document.data)
        start, old = edit_randomly(document, rng)
        end = start + len(old) + len(document.data) - length
        for places in [(start, end), *cuts(document.data, rng, 2)]:
            assert difference(document, *places, relax=rng.random() < 0.5) is None
        if rng.random() < 0.3:
            document.prepare()
        if rng.random() < 0.5:
            document.edit(start, end, old)
            for places in cuts(document.data, rng, 2):
                assert difference(document, *places, relax=False) is None


@pytest.mark.parametrize("seed", sampled(range(6), 3))
def test_edits(seed):
    check_edits(realistic.text(random.Random(seed), 400), seed, 12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 150))
def test_many_edits(seed):
    check_edits(realistic.text(random.Random(seed), random.Random(seed).choice((50, 400, 3000))), seed, 100)


EDITS = {
    "a quote comes": (b'["a,b","c",1,2,"d"]', 1, 1, b'"'),
    "a quote goes": (b'["a,b","c",1,2,"d"]', 5, 6, b""),
    "a quote is escaped": (b'["a,","b,c","d",[1,2]]', 3, 3, b"\\"),
    "a line end behind a comma": (b"[1,2,3]", 3, 3, b"\n"),
    "half a line end behind a comma": (b"[1,\n2,3]", 3, 3, b"\r"),
    "a line end behind a comma goes": (b"[1,\r\n2,3]", 3, 5, b""),
    "half of it goes": (b"[1,\r\n2,3]", 4, 5, b""),
    "a comma comes": (b"[1,23,4]", 4, 4, b","),
    "a comma goes": (b"[1,2,3]", 4, 5, b""),
    "a comma at the end": (b"[1,2", 4, 4, b","),
    "all goes": (b"[1,2]", 0, 5, b""),
    "a bracket comes": (b'{"a":1,"b":[2,{"c":3}]}', 7, 7, b"["),
}


@pytest.mark.parametrize("name", sampled(EDITS, 2))
def test_edits_that_change_where_lines_end(name):
    data, *edit = EDITS[name]
    for place in range(len(data) + len(edit[2]) - edit[1] + edit[0] + 1):
        document = JSON.engine.document(data)
        document.prepare()
        for asked in range(len(data) + 1):
            document.middle_at_bytes(asked, asked)
        document.edit(*edit)
        assert difference(document, place, place, relax=False) is None
        assert difference(document, place, place, relax=True) is None


def test_minified_text_is_read_in_small_parts():
    data = b"[" + b",".join(b'{"n":%d,"s":"x,y"}' % n for n in range(1000)) + b"]"
    document = JSON.engine.document(data)
    document.prepare()
    starts = {document.left_at(place)[0] for place in range(0, len(data), 7)}
    assert max(b - a for a, b in zip(sorted(starts), sorted(starts)[1:], strict=False)) < 40


def test_a_long_string_with_separators_is_one_line():
    data = b'["' + b"a,b " * 1000 + b'", 1]'
    document = JSON.engine.document(data)
    assert document.left_at(2000)[0] == 0
    assert document.left_at(len(data))[0] == data.rindex(b",") + 1
