"""An editor and a session in one process, the worker's script run in between: for many small cases."""

from __future__ import annotations

import asyncio

from fimlsp.lsp_server.documents import TextChange
from fimlsp.lsp_server.messages import (
    Answer,
    Cancel,
    Close,
    Complete,
    Completion,
    Edit,
    Leave,
    Load,
    NotReady,
    Open,
    Ready,
    Workspace,
)
from fimlsp.lsp_server.options import resolve
from fimlsp.lsp_server.session.session import Session
from fimlsp.lsp_server.worker_pool import WorkerPool
from fimlsp.models.errors import ModelError

from .scripted_worker import ScriptedBackend
from .waiting import finished

URI = "file:///project/a.py"


class LocalWorker:
    """Stands for `WorkerProcess`: the script answers in a later turn of the event loop, `# slow` never."""

    def __init__(self, _command, on_start, on_report, _on_end):
        self.backend = ScriptedBackend()
        self.on_start, self.on_report = on_start, on_report
        self.is_available = True
        self.seen = []

    def start(self):
        asyncio.get_running_loop().call_soon(self.on_start)

    def cpu_seconds(self):
        return 0.0

    def kill(self):
        raise AssertionError("nobody is stuck here")

    async def close(self):
        self.is_available = False

    def send(self, message):
        self.seen.append(message)
        asyncio.get_running_loop().call_soon(self.handle, message)

    def handle(self, message):
        backend = self.backend
        match message:
            case Load():
                try:
                    self.on_report(Ready(backend.load(message, lambda *_: None)))
                except ModelError as error:
                    self.on_report(NotReady(str(error)))
            case Workspace():
                backend.enter(message)
            case Open(document, version, data, grammar):
                backend.open(document, version, data, grammar)
            case Edit(document, version, replacement):
                backend.edit(document, version, replacement)
            case Close(document):
                backend.close(document)
            case Leave(client):
                backend.leave(client)
            case Complete():
                self.complete(message)
            case Cancel(request_id):
                self.on_report(Answer(request_id, Completion(reason="cancelled"), 0.0))

    def complete(self, request):
        if not self.backend.line(request).startswith(b"# slow"):
            try:
                completion = self.backend.complete(request, lambda: True)
            except (ValueError, SyntaxError) as error:
                completion = Completion(reason=str(error))
            self.on_report(Answer(request.id, completion, 0.0))


class LocalEditor:
    """Marked texts in, suggestions out, as in `conftest.Editor`."""

    def __init__(self, pool, options, cursor_inside=False):
        self.statuses, self.readings, self.pool = [], [], pool
        self.session = Session(pool, self.statuses.append, lambda _: None, self.readings.append)
        self.completer = self.session.completer
        self.completer.cursor_inside = cursor_inside
        settings, problems = resolve(options, self.session.settings)
        assert not problems
        self.session.configure(settings)
        self.version = 0

    async def start(self):
        self.session.start()
        await asyncio.sleep(0)
        while self.session.status.now.state == "loading":
            await asyncio.sleep(0)

    def open(self, marked, uri=URI, language="python", **kwargs):
        left, _, right = marked.partition("<|>")
        self.version += 1
        self.session.open(uri, language, self.version, left + right, **kwargs)
        self.line, self.character = left.count("\n"), len(left.rpartition("\n")[2])

    def edit(self, start, end, text, uri=URI):
        self.version += 1
        self.session.change(uri, self.version, [TextChange((start, end), text)])

    def type(self, text):
        here = (self.line, self.character)
        self.edit(here, here, text)
        self.character += len(text)

    def ask(self, character=None, trigger="automatic", uri=URI, line=None):
        at = self.character if character is None else character
        return self.completer.request(uri, self.line if line is None else line, at, trigger)

    async def offer(self, *args, **kwargs):
        return await finished(self.completer.result(self.ask(*args, **kwargs)))

    async def suggestion(self, *args, **kwargs):
        texts = (await self.offer(*args, **kwargs)).texts
        return texts[0] if texts else None

    @property
    def reason(self):
        return self.session.status.now.reason

    @property
    def counted(self):
        return self.completer.statistics


class LocalPool(WorkerPool):
    """Workers without processes."""

    def __init__(self):
        super().__init__([], LocalWorker)
