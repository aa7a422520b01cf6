"""Who is served on a TCP port, and how many."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import pytest

from fimlsp.lsp_server.protocol import serving
from fimlsp.lsp_server.protocol.door import MOST_CLIENTS, Door
from fimlsp.lsp_server.worker_client.worker_pool import MOST_WORKERS, WorkerPool

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
    assert (Door("sesame").admit(options) is None) is is_admitted
    assert Door().admit(options) is None


def test_a_place_is_free_again_when_a_client_is_gone():
    door = Door()
    assert [door.admit({}) for _ in range(MOST_CLIENTS)] == [None] * MOST_CLIENTS
    assert "which is the most" in door.admit({})
    door.leave()
    assert door.admit({}) is None


async def test_who_does_not_know_the_token_is_told_and_left(monkeypatch):
    monkeypatch.setenv("FIMLSP_TOKEN", "sesame")
    async with tcp_server(*SCRIPTED) as server:
        for options in ({}, {"token": "sezame"}):
            wire = await server.connect()
            wire.send(did_open(URI, "x = "), initialize(**options), inline(1, URI, 0, 4))
            error = (await wire.answer("initialize"))["error"]
            assert (error["code"], "initialization options" in error["message"]) == (-32803, True)
            assert "sesame" not in error["message"]
            await asyncio.wait_for(wire.listener, 60)
            assert 1 not in wire.answers
        assert children(server.pid) == [], "no worker for strangers"
        wire = await server.connect()
        await wire.initialize(token="sesame")
        wire.send(did_open(URI, "x = "), inline(1, URI, 0, 4))
        assert (await wire.answer(1))["result"]["items"]


async def first_that_is_let_in(server):
    """The place of one who left is free a little after its connection has ended."""
    for _ in range(100):
        wire = await server.connect()
        wire.send(initialize())
        if "result" in await wire.answer("initialize"):
            return wire
        await asyncio.sleep(0.05)
    raise AssertionError("nobody is let in")


async def test_one_client_too_many_is_told():
    async with tcp_server(*SCRIPTED) as server:
        wires = [await server.connect() for _ in range(MOST_CLIENTS)]
        for wire in wires:
            await wire.initialize()
        extra = await server.connect()
        extra.send(initialize())
        assert "which is the most" in (await extra.answer("initialize"))["error"]["message"]
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
    """A server in this process, for strangers who say nothing: the port it listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = asyncio.create_task(serving._listen(WorkerPool(["true"]), "127.0.0.1", port, Door()))
    yield port
    await asyncio.sleep(0.3)  # those who left are seen off
    server.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await server


async def connect(port):
    for _ in range(500):
        with contextlib.suppress(ConnectionRefusedError):
            return await asyncio.open_connection("127.0.0.1", port)
        await asyncio.sleep(0.02)
    raise AssertionError("nobody listens")


async def is_left(reader, seconds):
    """Whether the server closes the connection within so many *seconds*."""
    try:
        return await asyncio.wait_for(reader.read(), seconds) == b""
    except asyncio.TimeoutError:
        return False


async def test_who_says_nothing_is_left_after_a_while(monkeypatch):
    assert serving.PATIENCE_S == 10
    monkeypatch.setattr(serving, "PATIENCE_S", 0.5)
    async with listening() as port:
        (reader, writer), (other, its_writer) = await connect(port), await connect(port)
        its_writer.write(b"Content-Length: 400\r\n\r\n{")
        assert await is_left(reader, 10)
        assert await is_left(other, 10)
        writer.close()
        its_writer.close()


async def test_more_connections_than_there_may_be_are_closed_at_once():
    assert serving.MOST_CONNECTIONS == 64
    async with listening() as port:
        held = [await connect(port) for _ in range(serving.MOST_CONNECTIONS)]
        extra, extra_writer = await connect(port)
        assert await is_left(extra, 5)
        assert not await is_left(held[-1][0], 0.1)
        held[0][1].close()
        for _ in range(50):
            late, late_writer = await connect(port)
            if kept := not await is_left(late, 0.2):
                break
            late_writer.close()
        assert kept
        for writer in (extra_writer, late_writer, *(writer for _, writer in held)):
            writer.close()


async def test_initialize_comes_once():
    async with tcp_server(*SCRIPTED) as server:
        wire = await server.connect()
        await wire.initialize()
        params = {"processId": None, "rootUri": None, "capabilities": {}}
        wire.send(message("initialize", params, "again"))
        assert (await wire.answer("again"))["error"]["code"] == -32600
