"""Admission of clients on a TCP port."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import pytest

from fimlsp.lsp_server.protocol import serving
from fimlsp.lsp_server.protocol.receiving import MOST_CLIENTS, Admission
from fimlsp.lsp_server.worker_pool import MOST_WORKERS, WorkerPool

from ..waiting import connected, finished, until
from ..wire import SCRIPTED, children, did_open, inline, message, tcp_server

URI = "file:///a.py"


def initialize(**options):
    params = {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": options}
    return message("initialize", params, "initialize")


TOKENS = [
    ({"token": "sesame"}, True),
    ({"token": "sesame", "model": "x"}, True),
    ({"token": "Sesame"}, False),
    ({"token": ""}, False),
    ({"token": ["sesame"]}, False),
    ({"token": "é\ud800"}, False),
    ({}, False),
    (None, False),
    ("sesame", False),
]


@pytest.mark.parametrize(("options", "is_admitted"), TOKENS, ids=ascii)
def test_the_token(options, is_admitted):
    assert (Admission("sesame").admit(options) is None) is is_admitted
    assert Admission().admit(options) is None


def test_a_place_is_free_again_when_a_client_is_gone():
    admission = Admission()
    assert [admission.admit({}) for _ in range(MOST_CLIENTS)] == [None] * MOST_CLIENTS
    assert "has its maximum of" in admission.admit({})
    admission.leave()
    assert admission.admit({}) is None


async def test_who_does_not_know_the_token_is_told_and_left(monkeypatch):
    monkeypatch.setenv("FIMLSP_TOKEN", "sesame")
    async with tcp_server(*SCRIPTED) as server:
        for options in ({}, {"token": "sezame"}):
            wire = await server.connect()
            wire.send(did_open(URI, "x = "), initialize(**options), inline(1, URI, 0, 4))
            error = (await wire.answer("initialize"))["error"]
            assert (error["code"], "initialization options" in error["message"]) == (-32803, True)
            assert "sesame" not in error["message"]
            await finished(wire.listener)
            assert 1 not in wire.answers
        assert children(server.pid) == [], "no worker for strangers"
        wire = await server.connect()
        await wire.initialize(token="sesame")
        wire.send(did_open(URI, "x = "), inline(1, URI, 0, 4))
        assert (await wire.answer(1))["result"]["items"]


async def first_that_is_let_in(server):
    """A client that is admitted. A place is free a little after the connection of its client has ended."""
    while True:
        wire = await server.connect()
        wire.send(initialize())
        if "result" in await wire.answer("initialize"):
            return wire


async def test_one_client_too_many_is_told():
    async with tcp_server(*SCRIPTED) as server:
        wires = [await server.connect() for _ in range(MOST_CLIENTS)]
        for wire in wires:
            await wire.initialize()
        extra = await server.connect()
        extra.send(initialize())
        assert "has its maximum of" in (await extra.answer("initialize"))["error"]["message"]
        await wires[0].leave()
        late = await first_that_is_let_in(server)
        late.send(did_open(URI, "x = "), inline(1, URI, 0, 4))
        assert "items" in (await late.answer(1))["result"]


async def test_one_model_too_many_is_told_and_may_be_changed():
    async with tcp_server(*SCRIPTED) as server:
        wires = [await server.connect() for _ in range(MOST_WORKERS + 1)]
        for number, wire in enumerate(wires[:-1]):
            await wire.initialize(model=f"m{number}")
            await wire.idle(f"m{number}")
        extra = wires[-1]
        await extra.initialize(model="extra")
        await extra.until(lambda: "models in use" in (extra.status.get("reason") or ""))
        extra.send(did_open(URI, "x = "), inline(1, URI, 0, 4))
        assert (await extra.answer(1))["result"]["items"] == []
        assert f"{MOST_WORKERS} models in use" in extra.status["reason"]
        assert len(children(server.pid)) == MOST_WORKERS
        extra.send(message("workspace/didChangeConfiguration", {"settings": {"fimlsp": {"model": "m0"}}}))
        await extra.idle("m0")
        extra.send(message("workspace/didChangeConfiguration", {"settings": {"fimlsp": {"model": "m9"}}}))
        await extra.until(lambda: "Until then m0 is used" in (extra.status.get("reason") or ""))
        extra.send(inline(2, URI, 0, 4))
        assert (await extra.answer(2))["result"]["items"][0]["insertText"] == "m0 v1 'x = ' ''"


@contextlib.asynccontextmanager
async def listening():
    """The port of a server in this process, for silent connections."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = asyncio.create_task(serving._listen(WorkerPool(["true"]), "127.0.0.1", port, Admission()))
    yield port
    await until(lambda: asyncio.all_tasks() <= {server, asyncio.current_task()})  # all clients are gone
    server.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await server


async def is_served(reader, writer):
    """True if the server answers a request, false if it closes the connection."""
    writer.write(message("shutdown", None, 1))
    with contextlib.suppress(ConnectionError):
        return await finished(reader.readline()) != b""
    return False


async def test_who_says_nothing_is_left_after_a_while(monkeypatch):
    assert serving.INITIALIZE_S == 10
    monkeypatch.setattr(serving, "INITIALIZE_S", 0.5)
    async with listening() as port:
        (reader, writer), (other, its_writer) = await connected(port), await connected(port)
        its_writer.write(b"Content-Length: 400\r\n\r\n{")
        assert await finished(reader.read()) == b""
        assert await finished(other.read()) == b""
        writer.close()
        its_writer.close()


async def test_more_connections_than_there_may_be_are_closed_at_once():
    assert serving.MOST_CONNECTIONS == 64
    async with listening() as port:
        held = [await connected(port) for _ in range(serving.MOST_CONNECTIONS)]
        extra, extra_writer = await connected(port)
        assert await finished(extra.read()) == b""
        assert await is_served(*held[-1])
        held[0][1].close()
        while not await is_served(*(late := await connected(port))):
            late[1].close()
        for writer in (extra_writer, late[1], *(writer for _, writer in held)):
            writer.close()


async def test_initialize_comes_once():
    async with tcp_server(*SCRIPTED) as server:
        wire = await server.connect()
        await wire.initialize()
        params = {"processId": None, "rootUri": None, "capabilities": {}}
        wire.send(message("initialize", params, "again"))
        assert (await wire.answer("again"))["error"]["code"] == -32600
