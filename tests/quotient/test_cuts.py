"""Cuts that no text has are refused."""

import pytest

from fimlsp.languages.python import python
from fimlsp.quotient.engine import Engine

DOCUMENT = Engine(python()).document("x = 'é'\n".encode())


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        (-1, 3, "the cut -1:3 is not within a text of 9 bytes"),
        (3, 2, "not within"),
        (0, 10, "not within"),
        (6, 7, "the cut 6:7 is inside a character, of which byte 6 is a part"),
        (3, 6, "byte 6"),
    ],
)
def test_a_cut_is_within_the_text_and_between_characters(start, end, message):
    with pytest.raises(ValueError, match=message):
        DOCUMENT.middle(start, end)


def test_a_cut_at_bytes_may_be_inside_a_character_and_has_the_rest_of_it():
    start = DOCUMENT.middle_at_bytes(6, 7).start
    assert start.feed("é".encode()[1:]).complete
    assert start.feed(b"a") is None
