"""Cuts that no text has are refused."""

import pytest

from fimlsp.languages.python import python
from fimlsp.quotient.engine import Engine

DOCUMENT = Engine(python()).document("x = 'é'\n".encode())


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [
        (-1, 3, "Cannot cut at -1:3: the text has 9 bytes."),
        (3, 2, "has 9 bytes"),
        (0, 10, "has 9 bytes"),
        (6, 7, "Cannot cut at 6:7: byte 6 is inside a character."),
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
