"""Servers on the usual ports: the real llama.cpp, and whatever else may listen there."""

import json
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

import pytest

from fimlsp.models import local_models
from fimlsp.models.gguf_export import export_gguf
from fimlsp.models.local_models import models_on_servers

from ..llama_cpp import serving


@pytest.fixture(scope="module")
def gguf(tmp_path_factory):
    path = tmp_path_factory.mktemp("exported") / "own.gguf"
    export_gguf("bundled", path)
    return path


def test_the_real_llama_cpp(gguf, monkeypatch):
    with serving(gguf) as ask:
        port = urlsplit(ask.address).port
        (served,) = models_on_servers((port,))
        assert (served.kind.name, served.path, served.context) == ("llama-server", gguf, 1024)
        assert served.address == f"http://127.0.0.1:{port}"
        assert served.n_parameters > 3_000_000
        monkeypatch.setattr(local_models, "models_on_servers", lambda: [served])
        model = [*local_models.local_models()][-1]
        assert (model.name, model.family, model.fills_in) == (served.address, "fimlsp with files", True)
        assert model.program.startswith("llama-server: ")
    assert models_on_servers((port,)) == []


@contextmanager
def answering(answers):
    """A server that answers each path with its text; its port."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            answer = answers.get(self.path)
            if callable(answer):
                return answer(self)
            self.send_response(404 if answer is None else 200)
            self.end_headers()
            self.wfile.write((answer or "").encode())
            return None

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def models(*entries):
    return {"/v1/models": json.dumps({"object": "list", "data": entries})}


# Answers in the form that the documentation of each shows: docs.vllm.ai "OpenAI-Compatible Server",
# docs/openai.md of github.com/ollama/ollama, and lmstudio.ai/docs/api/openai-api.
VLLM = {"id": "Qwen/Qwen2.5-Coder-7B", "object": "model", "owned_by": "vllm", "max_model_len": 32768}
OLLAMA = [{"id": name, "object": "model", "owned_by": "library"} for name in ("codellama:7b-code", "x:1b")]
STUDIO = {"id": "qwen2.5-coder-7b", "object": "model", "owned_by": "organization_owner"}

KINDS = [
    (models(VLLM), [("vLLM", "http://127.0.0.1:PORT", True)]),
    (
        models(*OLLAMA),
        [
            ("Ollama", "http://127.0.0.1:PORT#codellama:7b-code", True),
            ("Ollama", "http://127.0.0.1:PORT#x:1b", None),
        ],
    ),
    (models(STUDIO), [("LM Studio", "http://127.0.0.1:PORT", True)]),
    (models({"id": "other"}), [("server", "http://127.0.0.1:PORT", None)]),
    (models({"id": "a\x1b[31m"}, {"id": 1}, 7, {}, {"id": "good", "owned_by": ["x"], "meta": 1}), ["good"]),
    (models(), []),
    ({"/v1/models": "<html>"}, []),
    ({"/v1/models": "[]"}, []),
    ({"/v1/models": '{"data": 1}'}, []),
    ({"/v1/models": "[" * 100_000}, []),
    ({"/v1/models": " " * (2 << 20)}, []),
    ({}, []),
]


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(("answers", "expected"), KINDS, ids=range(len(KINDS)))
def test_kinds_of_servers(answers, expected, monkeypatch):
    with answering(answers) as port:
        served = models_on_servers((port,))
        monkeypatch.setattr(local_models, "models_on_servers", lambda: served)
        described = [entry for entry in local_models.local_models() if entry.name.startswith("http")]
    assert [entry.address for entry in served] == [entry.name for entry in described]
    if expected == ["good"]:
        assert [entry.name for entry in served] == ["good"]
        return
    told = [
        (kind.kind.name, entry.name.replace(str(port), "PORT"), entry.fills_in)
        for kind, entry in zip(served, described, strict=True)
    ]
    assert told == expected


def test_one_that_never_ends_is_left(monkeypatch):
    def drip(request):
        request.send_response(200)
        request.end_headers()
        while True:
            request.wfile.write(b" ")
            time.sleep(0.01)

    def sleep(_):
        time.sleep(3)

    monkeypatch.setattr(local_models, "ANSWER_S", 0.3)
    for answer in (drip, sleep):
        with answering({"/v1/models": answer}) as port:
            assert models_on_servers((port,)) == []


def test_a_path_that_is_none():
    for path in ("relative", "a\0b", 1, None):
        props = {"/props": json.dumps({"model_path": path})}
        with answering(models({"id": "m", "owned_by": "llamacpp"}) | props) as port:
            (served,) = models_on_servers((port,))
        assert served.path is None
