"""The worker with a real llama.cpp: where it reads ahead, and that the request finds it read."""

from __future__ import annotations

import time

import pytest

from fimlsp.languages.python import Python
from fimlsp.lsp_server.messages import Complete, DocumentId, Limits, Load, Rest
from fimlsp.lsp_server.worker.backend import Backend
from fimlsp.models.gguf_export import export_gguf
from fimlsp.quotient.contexts.replacement import Replacement

pytest.importorskip("xllamacpp", reason="xllamacpp has no wheel here")

DOCUMENT = DocumentId(1, "file:///a.py")
LEFT = b"".join(b"def area_%d(width, height):\n    return width * height\n\n\n" % n for n in range(12))
DATA = LEFT + b"total = \n\nprint(total)\n"
LIMITS = Limits(max_tokens=12, deadline_ms=600_000)
END = len(LEFT) + len(b"total = ")


@pytest.fixture(scope="module")
def backend(tmp_path_factory):
    path = tmp_path_factory.mktemp("gguf") / "bundled.gguf"
    export_gguf("bundled", path)
    made = Backend()
    made.load(Load(str(path)), lambda *_: None)
    return made


@pytest.fixture
def read(backend, monkeypatch):
    """The texts that the model reads ahead, and those that are requested."""
    network, read = backend.model.network, []
    ahead, begin = network.read_ahead, network.begin

    def read_ahead(tokens):
        read.append(("ahead", tuple(tokens)))
        ahead(tokens)

    def requested(tokens, written=()):
        read.append(("requested", tuple(tokens)))
        return begin(tokens, written)

    monkeypatch.setattr(network, "read_ahead", read_ahead)
    monkeypatch.setattr(network, "begin", requested)
    backend.open(DOCUMENT, 1, DATA, Python())
    return read


def idle(backend):
    while backend.prepare():
        pass


def request(backend, version, offset):
    return backend.complete(Complete(1, DOCUMENT, version, offset, LIMITS, time.monotonic()), lambda: False)


def test_the_text_of_a_request_was_read_before_it(backend, read):
    idle(backend)
    assert not read
    backend.rest(Rest(DOCUMENT, 1, END, LIMITS))
    idle(backend)
    ahead = dict(read)["ahead"]
    assert request(backend, 1, END).texts
    requested = next(text for kind, text in read if kind == "requested")
    assert requested[: len(ahead)] == ahead[: len(requested)]
    read.clear()
    idle(backend)
    assert not read, "once"


def test_after_an_edit_it_is_the_text_at_its_end(backend, read):
    backend.rest(Rest(DOCUMENT, 1, 0, LIMITS))
    backend.edit(DOCUMENT, 2, Replacement(END, END, b"area_1("))
    idle(backend)
    request(backend, 2, END + len(b"area_1("))
    (_, ahead), (_, requested), *_ = read
    assert ahead == requested


def test_nothing_is_read_in_a_document_that_was_closed(backend, read):
    backend.rest(Rest(DOCUMENT, 1, END, LIMITS))
    backend.close(DOCUMENT)
    idle(backend)
    assert not read


def test_nothing_is_read_ahead_by_the_bundled_model_in_this_process():
    backend = Backend()
    backend.load(Load(), lambda *_: None)
    backend.open(DOCUMENT, 1, DATA, Python())
    backend.rest(Rest(DOCUMENT, 1, END, LIMITS))
    idle(backend)
    assert backend.reading() is None
