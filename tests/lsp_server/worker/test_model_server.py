"""The real worker with a real llama.cpp server that goes and comes back."""

from __future__ import annotations

import io
import socket
import time

import pytest

from fimlsp.languages.python import Python
from fimlsp.lsp_server.messages import (
    Answer,
    Complete,
    DocumentId,
    Limits,
    Load,
    Open,
    Ready,
    read_report,
)
from fimlsp.lsp_server.worker import worker as worker_module
from fimlsp.lsp_server.worker.backend import Backend
from fimlsp.lsp_server.worker.worker import Inbox, Worker
from fimlsp.models.gguf_export import export_gguf

from ..waiting import HANG_GUARD_S

xllamacpp = pytest.importorskip("xllamacpp", reason="xllamacpp has no wheel here")

DOCUMENT = DocumentId(1, "a.py")
LEFT, RIGHT = b"def area(width, height):\n    return width * ", b"\n\n\nprint(area(2, 3))\n"
LIMITS = Limits(max_tokens=12, deadline_ms=600_000)


def serve(path, port):
    params = xllamacpp.CommonParams()
    params.model.path, params.port = str(path), port
    params.n_ctx, params.n_parallel, params.n_gpu_layers, params.verbosity = 1024, 1, 0, -1
    return xllamacpp.Server(params)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


@pytest.mark.slow
def test_a_server_that_goes_is_replaced_at_once_and_used_again_when_it_is_back(tmp_path, monkeypatch):
    monkeypatch.setattr(worker_module, "PAUSES_S", (0.05, 0.1))
    path, port = tmp_path / "bundled.gguf", free_port()
    export_gguf("bundled", path)
    server = serve(path, port)
    load, inbox, sink = Load(f"http://127.0.0.1:{port}"), Inbox(), io.BytesIO()
    worker = Worker(Backend(), inbox, sink)

    def complete(number):
        worker.handle(Complete(number, DOCUMENT, 0, len(LEFT), LIMITS, time.monotonic()))

    worker.handle(load)
    worker.handle(Open(DOCUMENT, 0, LEFT + RIGHT, Python()))
    complete(1)
    del server
    complete(2)
    server = serve(path, port)
    assert inbox.next(HANG_GUARD_S) == load
    worker.handle(load)
    complete(3)
    del server
    sink.seek(0)
    told = list(iter(lambda: read_report(sink), None))
    first, instead, again = (report for report in told if isinstance(report, Ready))
    assert first == again == Ready("bundled.gguf (llama-server)")
    assert instead.model == "bundled"
    assert instead.problem.startswith(f"Cannot reach a model server at 127.0.0.1:{port}")
    texts = [report.completion.text for report in told if isinstance(report, Answer)]
    assert len(texts) == 3
    assert all(texts)
