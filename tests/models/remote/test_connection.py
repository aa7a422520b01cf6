"""Connections that end without a word."""

import threading

import pytest

from fimlsp.models.remote.address import Address
from fimlsp.models.remote.errors import GoneError
from fimlsp.models.remote.http_client import HttpClient

from .listening import listening

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"


def test_a_server_that_ends_the_connection_instead_of_an_answer_has_gone():
    with (
        listening(lambda client: client.recv(1 << 16)) as (address, _),
        pytest.raises(GoneError, match="it closed the connection"),
    ):
        HttpClient(Address.parse(f"http://{address}")).ask("/v1/models")


def test_half_an_answer_is_told_as_what_it_is():
    def halves(client):
        client.recv(1 << 16)
        client.sendall(ANSWER[:-1])

    with (
        listening(halves) as (address, _),
        pytest.raises(GoneError, match="in the middle of an answer"),
    ):
        HttpClient(Address.parse(f"http://{address}")).ask("/v1/models")


def test_a_connection_that_the_server_has_ended_meanwhile_is_made_anew():
    ended = threading.Event()

    def answers_once(client):
        with client:
            client.recv(1 << 16)
            client.sendall(ANSWER)
        ended.set()

    with listening(answers_once) as (address, asked):
        peer = HttpClient(Address.parse(f"http://{address}"))
        for number in (1, 2, 3):
            assert peer.ask("/v1/models") == []
            assert ended.wait(60)
            ended.clear()
            assert len(asked) == number
        peer.close()
