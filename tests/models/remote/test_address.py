"""Addresses of model servers, as users write them."""

import pytest

from fimlsp.models.errors import ModelError
from fimlsp.models.remote.address import Address, is_address, is_remote

ADDRESSES = {
    "http://127.0.0.1:8012": Address(False, "127.0.0.1", 8012),
    "http://localhost:11434#qwen2.5-coder:1.5b": Address(
        False, "localhost", 11434, model="qwen2.5-coder:1.5b"
    ),
    "https://models.example.org/team/v1/": Address(True, "models.example.org", 443, "/team"),
    "HTTP://[::1]:80/": Address(False, "::1", 80),
    "http://gpu#owner/name%20x": Address(False, "gpu", 80, model="owner/name x"),
}


@pytest.mark.parametrize("text", ADDRESSES)
def test_parse(text):
    assert is_address(text)
    assert Address.parse(text) == ADDRESSES[text]


@pytest.mark.parametrize(
    "text", ["http://", "http://x:99999", "http://x y", "ftp://x", "http://x\ny", "http://[x", "http://x?a=b"]
)
def test_what_is_no_address_is_told_with_the_remedy(text):
    with pytest.raises(ModelError, match=r"Write it as http://127\.0\.0\.1:8012"):
        Address.parse(text)


def test_a_password_in_it_is_refused_and_not_repeated():
    with pytest.raises(ModelError, match="apiKeyVariable") as raised:
        Address.parse("http://me:secret@host:1")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("http://127.0.0.1:1", False),
        ("http://127.3.2.1", False),
        ("http://[::1]", False),
        ("http://localhost", False),
        ("http://localhost.example.org", True),
        ("http://192.168.1.5", True),
        ("http://me@127.0.0.1", True),
        ("./folder", False),
        ("owner/name", False),
        ("", False),
    ],
)
def test_elsewhere(text, expected):
    assert is_remote(text) is expected
