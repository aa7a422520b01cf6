"""What is said of a server's failures is one sentence, whatever the server wrote."""

import pytest

from fimlsp.models.served.http.failures import nonsense

CASES = [
    ("no candidates", "(no candidates)"),
    ("a token numbered \n", "(a token numbered)"),
    ("\n", "(nothing that can be read)"),
    ("line one\r\n  line two", "(line one line two)"),
]


@pytest.mark.parametrize(("what", "told"), CASES)
def test_nonsense_is_told_in_one_line(what, told):
    message = str(nonsense("127.0.0.1:1", what))
    assert told in message
    assert message.endswith(".")
    assert "\n" not in message
