"""Errors of servers are one line, independent of the server's text."""

import pytest

from fimlsp.models.remote.errors import invalid_answer

CASES = [
    ("no candidates", ": no candidates. "),
    ("token id \n", ": token id. "),
    ("\n", ": unreadable data. "),
    ("line one\r\n  line two", ": line one line two. "),
]


@pytest.mark.parametrize(("problem", "shown"), CASES)
def test_nonsense_is_told_in_one_line(problem, shown):
    message = str(invalid_answer("127.0.0.1:1", problem))
    assert shown in message
    assert message.endswith(".")
    assert "\n" not in message
