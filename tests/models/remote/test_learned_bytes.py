"""The bytes of tokens, as a server reports them one after another."""

import pytest

from fimlsp.models.remote.address import Address
from fimlsp.models.remote.errors import ServerError
from fimlsp.models.remote.llama_server import LearnedBytes

CASES = {  # reports of token 1; its bytes after each, or "changed"
    "reported once": ([b"a", b"a"], [b"a", b"a"]),
    "not reported everywhere": ([b"a", None, b"a"], [b"a", b"a", b"a"]),
    "reported late": ([None, b"a"], [None, b"a"]),
    "another model": ([b"a", b"b"], [b"a", "changed"]),
}


def learned(table, token, data):
    try:
        table.learn(token, data)
    except ServerError as error:
        return "changed" if "another model than before" in str(error) else str(error)
    return table[token]


@pytest.mark.parametrize("case", CASES)
def test_the_bytes_of_a_token(case):
    reports, expected = CASES[case]
    table = LearnedBytes(Address.parse("http://127.0.0.1:1"), 3)
    assert [learned(table, 1, data) for data in reports] == expected


def test_known_and_silent_tokens():
    table = LearnedBytes(Address.parse("http://127.0.0.1:1"), 3, [b"a", b"<m>"], [1])
    assert [learned(table, 0, None), learned(table, 0, b"c"), learned(table, 1, b"<m>")] == [
        b"a",
        "changed",
        None,
    ]
    with pytest.raises(ServerError, match="reports token 3"):
        table.learn(3, b"x")
