"""Hostile clients: malformed frames and invalid messages."""

from __future__ import annotations

import asyncio

from fimlsp.lsp_server.protocol.admission import BoundedReader
from fimlsp.lsp_server.protocol.receiving import read_body

from ..lsp_server.waiting import finished
from ..lsp_server.wire import INLINE, SCRIPTED, Wire, frame
from .campaign import for_some_seconds, run_async
from .nonsense import changed, damaged, value

NOISE = [
    b"\r\n",
    b"\n",
    b"Content-Type: x\r\n",
    b"Content-Length: many\r\n",
    b"nonsense\r\n",
    b": 3\r\n",
    b"\xff\r\n",
]
BROKEN = [
    b"Content-Length: 10\r\n\r\n",
    b"POST / HTTP/1.1\r\n",
    b"Content-Length: 999999999999\r\n\r\n",
    b"\0" * 70_000,
]


def reader_of(data):
    reader = asyncio.StreamReader(limit=1 << 16)
    reader.feed_data(data)
    reader.feed_eof()
    return reader


async def all_bodies(data):
    reader = reader_of(data)
    found = []
    try:
        bounded = BoundedReader(reader, None)
        while (body := await read_body(bounded)) is not None:
            found.append(body)
    except (ConnectionError, asyncio.IncompleteReadError, ValueError):  # each ends the connection
        return found, True
    return found, False


@for_some_seconds
async def test_framing(seconds):
    async def case(rng):
        bodies = [rng.randbytes(rng.choice([1, 20, 3000])) for _ in range(rng.randint(0, 5))]
        parts = [
            (rng.choice([b"", *NOISE]), b"Content-Length: %d\r\n\r\n" % len(body), body) for body in bodies
        ]
        data = b"".join(b"".join(part) for part in parts)
        assert await all_bodies(data) == (bodies, False), "noise between messages changes none"
        await all_bodies(damaged(rng, data + rng.choice(BROKEN)))

    await run_async("framing", seconds, case)


URI = "file:///project/a.py"
RANGE = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
PLACE = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 2}}
DOCUMENT = {"uri": URI, "languageId": "python", "version": 1, "text": "x = 1\n"}
CELL = {"document": "file:///project/a.ipynb#1", "kind": 2}
REQUESTS = {
    INLINE: PLACE | {"context": {"triggerKind": 1}},
    "textDocument/completion": PLACE,
    "workspace/executeCommand": {"command": "fimlsp.server.accept", "arguments": ["1.0"]},
    "initialize": {"processId": None, "rootUri": None, "capabilities": {}},
    "no/such/request": {"a": [1]},
}
NOTIFICATIONS = {
    "textDocument/didOpen": {"textDocument": DOCUMENT},
    "textDocument/didChange": {
        "textDocument": {"uri": URI, "version": 2},
        "contentChanges": [{"range": RANGE, "text": "y"}],
    },
    "textDocument/didClose": {"textDocument": {"uri": URI}},
    "notebookDocument/didOpen": {
        "notebookDocument": {"uri": "a.ipynb", "notebookType": "x", "version": 1, "cells": [CELL]},
        "cellTextDocuments": [DOCUMENT],
    },
    "notebookDocument/didChange": {
        "notebookDocument": {"uri": "a.ipynb", "version": 2},
        "change": {"cells": {"textContent": [{"document": {"uri": URI, "version": 3}, "changes": []}]}},
    },
    "workspace/didChangeConfiguration": {"settings": {"fimlsp": {"maxTokens": 5, "exclude": ["*b"]}}},
    "workspace/didChangeWorkspaceFolders": {
        "event": {"added": [{"uri": "file:///project", "name": "p"}], "removed": []}
    },
    "$/cancelRequest": {"id": 1},
    "$/setTrace": {"value": "off"},
}


async def started():
    pipes = {"stdin": asyncio.subprocess.PIPE, "stdout": asyncio.subprocess.PIPE}
    process = await asyncio.create_subprocess_exec(*SCRIPTED, **pipes, stderr=asyncio.subprocess.DEVNULL)
    wire = Wire(process.stdout, process.stdin)
    await wire.initialize()
    return process, wire


@for_some_seconds
async def test_messages(seconds):
    """Every request is answered once, whatever its parameters are, and the server goes on."""
    process, wire = await started()
    n_asked = 0

    async def case(rng):
        nonlocal n_asked
        asked = []
        for _ in range(20):
            if rng.random() < 0.5:
                method, params = rng.choice([*REQUESTS.items()])
                asked.append(f"r{n_asked}")
                n_asked += 1
                body = {"jsonrpc": "2.0", "id": asked[-1], "method": method}
            else:
                method, params = rng.choice([*NOTIFICATIONS.items()])
                body = {"jsonrpc": "2.0", "method": method}
            params = changed(rng, params, rng.randint(0, 3))
            wire.send(frame(body | {"params": params}))
            if rng.random() < 0.1:
                wire.send(frame(damaged(rng, b'{"jsonrpc": "2.0", "method": "no/such", "params": {}}')))
                wire.send(frame(value(rng)))
        for id in asked:
            await wire.answer(id)
            assert wire.counts[id] == 1
            del wire.answers[id]
        probe = f"probe {n_asked}"
        open_ = {"jsonrpc": "2.0", "method": "textDocument/didOpen"}
        document = DOCUMENT | {"uri": "file:///probe.py"}
        where = {"textDocument": {"uri": document["uri"]}, "position": PLACE["position"]}
        wire.send(frame(open_ | {"params": {"textDocument": document}}))
        ask = {"jsonrpc": "2.0", "id": probe, "method": INLINE}
        wire.send(frame(ask | {"params": where | {"context": {"triggerKind": 1}}}))
        assert "items" in (await wire.answer(probe))["result"]

    await run_async("messages", seconds, case, process.pid)
    print(f"messages: {n_asked} requests, all answered once")
    await wire.leave()
    assert await finished(process.wait()) == 0
