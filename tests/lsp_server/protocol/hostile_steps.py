"""Hostile clients and workspaces beside regular clients: one step at a time, each short.

A stranger finds the port and speaks HTTP, half a message, or nothing. A workspace has pipes and devices where
files should be. Its own client sets globs that backtrack and models that cannot be loaded.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from itertools import count

from ...fuzz.nonsense import put
from ..wire import did_open, frame, inline, message

GLOBS = [["*" * 40 + "b"], ["*a" * 18 + "b"], ["{" * 1500], ["{a,b}" * 40], ["a*b*c"] * 100_000, [7], []]
PLACES = [".python-version", ".venv/pyvenv.cfg", "venv/pyvenv.cfg", "a.py", "b/__init__.py", "b/c.py"]
SOURCE = b"version = 3.12\nfrom a import f\nimport b.c\n\n\nclass A:\n    def f(self): ...\n" * 20
IMPORTS = "from a import f\nfrom b.c import g\nimport b\n\nx = "
FIRST_WORDS = [
    b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 7\r\n\r\n1234567",
    b"GET / HTTP/1.1\r\n\r\n",
    b"Content-Length: 400\r\n\r\n{",
    b"Content-Length: 999999999999\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    b"\0" * 70_000,
    b"",
]
LONG_LINES = ["a if b else " * 3_000, "f(" * 190, "a, " * 15_000, "[" * 60 + "{x: " * 60, "f'{" * 140]


def bad_models(folder):
    """Names of models that cannot be loaded, some of them folders made below *folder*."""
    folders = [folder / name for name in ("pipe", "device", "lies", "pickle", "nothing")]
    for path in folders:
        path.mkdir(parents=True)
    os.mkfifo(folder / "pipe" / "config.json")
    (folder / "device" / "config.json").symlink_to("/dev/zero")
    (folder / "lies" / "config.json").write_text(
        '{"model_type": "llama", "max_position_embeddings": 1000000000}'
    )
    os.mkfifo(folder / "lies" / "model.safetensors")
    (folder / "pickle" / "config.json").write_text('{"model_type": "llama"}')
    (folder / "pickle" / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'exit 1'\ntR.")
    return [
        *(str(folder / name) for name in ("pipe", "device", "lies", "pickle", "nothing")),
        "~nosuch/x",
        "a\0b",
    ]


class Hostile:
    """Does hostile things to *server*, as the random numbers *rng* say; *wire* is a client of its own."""

    def __init__(self, server, wire, folder, rng):
        self.server, self.wire, self.rng = server, wire, rng
        self.workspace = folder / "workspace"
        self.models = bad_models(folder / "models")
        self.ids = count(1)
        self.asked = []
        self.silent = []

    async def begin(self):
        self.litter()
        folders = [{"uri": self.workspace.as_uri(), "name": "hostile"}]
        await self.wire.initialize(workspace_folders=folders, maxTokens=4, minLength=1)
        self.write()

    async def step(self):
        """One hostile step, mostly of the kinds that cost little."""
        kinds = [
            self.litter,
            self.exclude,
            self.ask,
            self.half_a_request,
            self.write_much,
            self.call,
            self.choose,
        ]
        (do,) = self.rng.choices(kinds, [10, 10, 30, 10, 5, 20, 1])
        if (waited := do()) is not None:
            await waited

    def litter(self):
        """Put other things where the workspace has its files."""
        shutil.rmtree(self.workspace, ignore_errors=True)
        for place in PLACES:
            path = self.workspace / place
            path.parent.mkdir(parents=True, exist_ok=True)
            put(self.rng, path, SOURCE)

    def exclude(self):
        settings = {"fimlsp": {"exclude": self.rng.choice(GLOBS)}}
        self.wire.send(message("workspace/didChangeConfiguration", {"settings": settings}))

    def choose(self):
        """Another model, which is none; the bundled one takes its place, in a worker of its own."""
        settings = {"fimlsp": {"model": self.rng.choice(self.models)}}
        self.wire.send(message("workspace/didChangeConfiguration", {"settings": settings}))

    @property
    def uri(self):
        return (self.workspace / "open.py").as_uri()

    def write(self, text=IMPORTS):
        self.wire.send(did_open(self.uri, text))

    def write_much(self):
        """A text that costs the engine more than others."""
        self.write(IMPORTS + self.rng.choice(LONG_LINES))

    def new_id(self):
        self.asked.append(f"hostile {next(self.ids)}")
        return self.asked[-1]

    async def ask(self):
        id = self.new_id()
        self.wire.send(inline(id, self.uri, 4, 4))
        if self.rng.random() < 0.3:
            await self.wire.answer(id)

    async def half_a_request(self):
        """Broken JSON of a request."""
        id = self.new_id()
        self.wire.send(
            frame(b'{"jsonrpc": "2.0", "id": "%s", "method": "a", "params": {"b": [' % id.encode())
        )
        await self.wire.answer(id)

    async def call(self):
        """A connection that is not a client; a silent one is closed after a while."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server.port)
        writer.write(self.rng.choice(FIRST_WORDS))
        self.silent.append(writer)
        while len(self.silent) > 20:
            self.silent.pop(0).close()
        del reader

    async def end(self):
        """Every request was answered, once."""
        for writer in self.silent:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
        for id in self.asked:
            await self.wire.answer(id)
        assert {self.wire.counts[id] for id in self.asked} <= {1}
        await self.wire.leave()
