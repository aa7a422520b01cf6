"""Admission of clients on a TCP port."""

from __future__ import annotations

import asyncio
import contextlib
import socket

import pytest

from fimlsp.lsp_server.protocol import admission, receiving, serving
from fimlsp.lsp_server.protocol.admission import FIRST_BYTES, MOST_CLIENTS, MOST_STRANGERS, Admission
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
    clients = Admission()
    assert [clients.admit({}) for _ in range(MOST_CLIENTS)] == [None] * MOST_CLIENTS
    assert "has its maximum of" in clients.admit({})
    clients.leave()
    assert clients.admit({}) is None


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


async def told(reader):
    """All that the server sends until it closes the connection."""
    return (await finished(reader.read())).decode()


async def test_who_says_nothing_is_told_and_left_after_a_while(monkeypatch):
    assert admission.INITIALIZE_S == 10
    monkeypatch.setattr(admission, "INITIALIZE_S", 0.5)
    async with listening() as port:
        (reader, writer), (other, its_writer) = await connected(port), await connected(port)
        its_writer.write(b"Content-Length: 400\r\n\r\n{")
        assert "no `initialize` arrived in time" in await told(reader)
        assert "no `initialize` arrived in time" in await told(other)
        writer.close()
        its_writer.close()


async def test_silent_connections_keep_nobody_out():
    """Those that have waited longest give way, and are told; admitted clients stay."""
    async with tcp_server(*SCRIPTED) as server:
        known = await server.connect()
        await known.initialize()
        silent = [await connected(server.port) for _ in range(MOST_STRANGERS + 6)]
        late = await server.connect()
        await late.initialize()
        for wire in (known, late):
            wire.send(did_open(URI, "x = "), inline(1, URI, 0, 4))
            assert (await wire.answer(1))["result"]["items"]
        for reader, _ in silent[:6]:
            assert "too many connections wait for admission" in await told(reader)
        for _, writer in silent:
            writer.close()


FLOODS = {
    "one message": message("initialize", {"a": [[]] * 40_000}, 1),
    "its length alone": b"Content-Length: 65537\r\n\r\n",
    "one line": b"x" * (3 * FIRST_BYTES),
    "many lines": b"x\r\n" * FIRST_BYTES,
    "many messages": message("shutdown", None, 1) * 2000,
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
async def test_a_stranger_is_read_up_to_64_kb_and_told(monkeypatch, flood):
    read = []
    parse = receiving.json.loads
    monkeypatch.setattr(receiving.json, "loads", lambda text: [read.append(len(text)), parse(text)][1])
    async with listening() as port:
        reader, writer = await connected(port)
        writer.write(flood)
        assert "may have 65,536 bytes" in await told(reader)
        assert sum(read) <= FIRST_BYTES
        writer.close()


async def test_an_admitted_client_may_send_more():
    async with tcp_server(*SCRIPTED) as server:
        wire = await server.connect()
        await wire.initialize()
        wire.send(did_open(URI, "#" * (3 * FIRST_BYTES) + "\nx = "), inline(1, URI, 1, 4))
        assert "items" in (await wire.answer(1))["result"]


async def test_initialize_comes_once():
    async with tcp_server(*SCRIPTED) as server:
        wire = await server.connect()
        await wire.initialize()
        params = {"processId": None, "rootUri": None, "capabilities": {}}
        wire.send(message("initialize", params, "again"))
        assert (await wire.answer("again"))["error"]["code"] == -32600
