"""Matches after the longest suffixes of the written text, by a scan and by an index."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fimlsp.models.networks.matches import (
    AGREEMENT_MAX,
    OCCURRENCES_MAX,
    CombinedSources,
    Match,
    ScannedTexts,
    TextIndex,
    best_occurrences,
)


def indexed(parts):
    return TextIndex({str(number): part for number, part in enumerate(parts)})


SOURCES = {"scan": ScannedTexts, "index": indexed}

# parts of text, the written text, and the matches that agree most
CASES = [
    ([b"a.b = c\nx.b = d\n"], b"x.b =", [(5, b" d\n"), (4, b" c\nx.b = d\n")]),
    ([b"one", b"two"], b"n", [(1, b"e")]),
    ([b"abc", b"xyz"], b"abc", []),
    ([b"abc"], b"", []),
    ([], b"abc", []),
    ([b""], b"abc", []),
    ([b"x" * 30 + b"y"], b"x" * 30, [(30, b"y"), (29, b"xy"), (28, b"xxy")]),
    (["é = é".encode()], "ü = é".encode()[:-1], [(4, b"\xa9")]),
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("parts", "written", "expected"), CASES)
def test_what_followed(source, parts, written, expected):
    matches = SOURCES[source](parts).after(written)
    assert [match[:2] for match in matches[: len(expected)]] == expected
    assert bool(matches) == bool(expected)
    assert len(matches) <= OCCURRENCES_MAX


TEXTS = st.lists(st.text("ab \n", max_size=60).map(str.encode), max_size=4)


@given(TEXTS, st.text("ab \n", max_size=AGREEMENT_MAX).map(str.encode))
def test_the_index_agrees_with_the_scan(parts, written):
    scanned, matches = (make(parts).after(written) for make in (ScannedTexts, indexed))
    assert [match.agreement for match in scanned] == [match.agreement for match in matches]
    if len(scanned) < OCCURRENCES_MAX:
        assert sorted(scanned) == sorted(matches)


@given(TEXTS, st.sets(st.sampled_from("0123")), st.text("ab", min_size=1, max_size=8).map(str.encode))
def test_files_can_be_left_out(parts, names, written):
    others = [part for number, part in enumerate(parts) if str(number) not in names]
    left_out = indexed(parts).without(names).after(written)
    assert [match.agreement for match in left_out] == [
        match.agreement for match in indexed(others).after(written)
    ]


def test_several_sources_give_the_longest_agreements():
    sources = [ScannedTexts([b"ab1"]), indexed([b"aab2", b"b3"])]
    expected = [Match(3, b"2"), Match(2, b"1"), Match(1, b"3")]
    assert CombinedSources(sources).after(b"aab") == expected
    assert CombinedSources([]).after(b"aab") == []


@given(st.binary(max_size=80), st.binary(min_size=1, max_size=AGREEMENT_MAX))
def test_places_agree_as_far_as_they_say(text, written):
    buffer = bytes(AGREEMENT_MAX) + text + b"\0"
    places, agreement = best_occurrences(buffer, written)
    for place, length in zip(places.tolist(), agreement.tolist(), strict=True):
        assert buffer[place - length : place] == written[-length:]
        assert length == len(written) or buffer[place - length - 1] != written[-length - 1]
    best = max((n for n in range(1, len(written) + 1) if followed(buffer, written[-n:])), default=0)
    assert agreement.max(initial=0) == best


def followed(buffer, run):
    """True if a byte other than zero follows *run* somewhere in *buffer*."""
    return any(
        buffer.startswith(run, at) and buffer[at + len(run)] != 0 for at in range(len(buffer) - len(run))
    )
