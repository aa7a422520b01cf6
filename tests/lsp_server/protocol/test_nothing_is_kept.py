"""Finished requests keep no memory: a session of weeks needs as much as one of minutes."""

from __future__ import annotations

import asyncio

import pytest

from fimlsp.lsp_server.protocol.admission import Admission, BoundedReader
from fimlsp.lsp_server.protocol.server import create_server
from fimlsp.lsp_server.worker_pool import WorkerPool

from ..scripted_server import WORKER
from ..waiting import until
from ..wire import did_change, did_open, frame, inline, message

URI = "file:///a.py"
CAPABILITIES = {"processId": None, "rootUri": None, "capabilities": {}}
GREETING = [message("initialize", CAPABILITIES, "hello"), message("initialized", {})]
REPEATED = {
    "settings": message("workspace/didChangeConfiguration", {"settings": {"fimlsp": {"maxTokens": 8}}}),
    "settings that make no sense": message("workspace/didChangeConfiguration", {"settings": 3}),
    "folders": message("workspace/didChangeWorkspaceFolders", {"event": {"added": [], "removed": []}}),
    "an edit": did_change(URI, 2, (0, 0), (0, 0), "x"),
    "a request": inline("ask", URI, 0, 0),
    "a command": message("workspace/executeCommand", {"command": "fimlsp.server.status"}, "command"),
    "a command that fails": message("workspace/executeCommand", {"command": "no.such"}, "command"),
    "a notification that nobody knows": message("no/such", {}),
    "a trace": message("$/setTrace", {"value": "off"}),
    "an answer to nothing": frame({"jsonrpc": "2.0", "id": "unknown", "result": 3}),
}


class Nowhere:
    """Drops the output of the server."""

    def write(self, data):
        pass

    def close(self):
        pass


@pytest.mark.parametrize("frames", REPEATED.values(), ids=list(REPEATED))
async def test_a_message_that_is_repeated(frames):
    reader = asyncio.StreamReader()
    server = create_server(WorkerPool(WORKER), Admission(), lambda _: None)
    server.protocol.set_writer(Nowhere())
    reading = asyncio.ensure_future(server.protocol.receive_all(BoundedReader(reader, None)))
    reader.feed_data(b"".join([*GREETING, did_open(URI, "x = "), *[frames] * 20]))
    reader.feed_eof()
    await reading
    await until(lambda: not server.protocol._request_futures)
    await server.end()
