"""The project's English: counts that only ever go down. `english.py` shows and lowers them."""

from __future__ import annotations

import json

import pytest

from .english import LIMITS, counts, excesses, figures_of

LIMITED = json.loads(LIMITS.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def counted():
    return counts()


def test_every_part_has_limits(counted):
    assert LIMITED.keys() == counted.keys()


@pytest.mark.parametrize("part", LIMITED)
def test_no_count_goes_up(counted, part):
    assert list(excesses({part: counted[part]})) == [], "rewrite the text"


@pytest.mark.parametrize("part", LIMITED)
def test_limits_go_down_with_the_counts(counted, part):
    slack = {name for name, count in counted[part].items() if LIMITED[part][name] > 1.3 * count + 2}
    assert slack == set(), "run `python tests/architecture/english.py --lower`"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What it is. Behind it, `what`.", {"what": 1, "behind": 1}),
        ("```\nwhat\n```\n| whether | x |", {"whether": 1}),
    ],
)
def test_words_are_counted_outside_of_code(text, expected):
    assert figures_of(text, "a").watched == expected


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("word " * 25 + ".", 0),
        ("word " * 26 + ".", 1),
        ("word " * 20 + ". " + "Word " * 20 + ".", 0),
        ("word " * 20 + "\n\n- " + "word " * 20, 0),
        ("word " * 20 + "as follows:\n" + "word " * 20, 0),
        ("| " + "word " * 40 + "|", 0),
    ],
)
def test_long_sentences(text, n):
    assert len(figures_of(text, "a").long_sentences) == n


def test_long_paragraphs():
    assert len(figures_of("A line.\n" * 6 + "\n" + "A line.\n" * 7, "a").long_paragraphs) == 1
