"""A client that speaks bytes: it may send anything, and sees how often each of its requests is answered."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import sys
from collections import Counter
from pathlib import Path

import psutil

from .waiting import connected, finished, until

INLINE = "textDocument/inlineCompletion"


def frame(body):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(data), data)


def message(method, params, id=None):
    return frame({"jsonrpc": "2.0", "method": method, "params": params} | ({} if id is None else {"id": id}))


def inline(id, uri, line, character, kind=1):
    position = {"line": line, "character": character}
    context = {"triggerKind": kind}
    return message(INLINE, {"textDocument": {"uri": uri}, "position": position, "context": context}, id)


def did_open(uri, text, version=1):
    item = {"uri": uri, "languageId": "python", "version": version, "text": text}
    return message("textDocument/didOpen", {"textDocument": item})


def did_change(uri, version, start, end, text):
    span = {
        side: dict(zip(("line", "character"), at, strict=True))
        for side, at in (("start", start), ("end", end))
    }
    changes = [{"range": span, "text": text}]
    document = {"uri": uri, "version": version}
    return message("textDocument/didChange", {"textDocument": document, "contentChanges": changes})


class Wire:
    """Both directions of one connection. `answers` has the answer to each request, `counts` their number.

    `too_early` are the methods that no client expects before `initialize` is answered.
    """

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self.answers = {}
        self.counts = Counter()
        self.too_early = []
        self.status = {"state": None}
        self.arrived = asyncio.Condition()
        self.listener = asyncio.get_running_loop().create_task(self.listen())

    def send(self, *frames):
        self.writer.write(b"".join(frames))

    async def listen(self):
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await self.reader.readuntil(b"\r\n\r\n")
                length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
                body = json.loads(await self.reader.readexactly(length))
                async with self.arrived:
                    self.take(body)
                    self.arrived.notify_all()

    def take(self, body):
        if (
            "initialize" not in self.answers
            and body.get("method", "window/logMessage") != "window/logMessage"
        ):
            self.too_early.append(body["method"])
        if "method" not in body:
            self.answers[body["id"]] = body
            self.counts[body["id"]] += 1
        elif "id" in body:
            self.send(frame({"jsonrpc": "2.0", "id": body["id"], "result": None}))
        elif body["method"] == "fimlsp/status":
            self.status = body["params"]

    async def until(self, condition):
        async with self.arrived:
            await finished(self.arrived.wait_for(condition))

    async def answer(self, id):
        await self.until(lambda: id in self.answers)
        return self.answers[id]

    async def initialize(self, workspace_folders=None, **options):
        params = {"processId": None, "rootUri": None, "capabilities": {}, "initializationOptions": options}
        params["workspaceFolders"] = workspace_folders
        self.send(message("initialize", params, "initialize"))
        await self.answer("initialize")
        assert not self.too_early
        self.send(message("initialized", {}))

    async def idle(self, model=None):
        """Wait until the server has a model, *model* if one is named, and nothing to do."""
        await self.until(lambda: self.status["state"] == "idle" and model in (None, self.status["model"]))

    async def leave(self):
        self.send(message("shutdown", None, "shutdown"))
        await self.answer("shutdown")
        self.send(message("exit", None))
        await finished(self.listener)
        self.close()

    def close(self):
        self.writer.close()
        self.listener.cancel()


class TcpServer:
    """A server process on a port of its own, and the clients connected to it."""

    def __init__(self, process, port):
        self.process, self.port = process, port
        self.pid = process.pid
        self.wires = []

    async def connect(self):
        self.wires.append(Wire(*await connected(self.port)))
        return self.wires[-1]

    async def worker(self):
        """A worker process of the server, once there is one."""
        await until(lambda: children(self.pid), lambda: "there is no worker")
        return children(self.pid)[0]


@contextlib.asynccontextmanager
async def tcp_server(*command, address=lambda port: f"{port}", stderr=None):
    """Start *command* with `--tcp` and the *address* of a free port; end it at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(*command, "--tcp", address(port), stderr=stderr)
    server = TcpServer(process, port)
    try:
        yield server
    finally:
        if process.returncode is None:
            process.terminate()
        for wire in server.wires:
            wire.close()
        await finished(process.wait())


def children(pid):
    """Processes that a process has started."""
    return psutil.Process(pid).children()


SCRIPTED = (sys.executable, str(Path(__file__).with_name("scripted_server.py")))
REAL = (sys.executable, "-m", "fimlsp")
