"""Servers with several models: llama-server without a model of its own, and llama-swap, before real ones."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.error import HTTPError
from urllib.parse import parse_qs, unquote, urlsplit
from urllib.request import Request, urlopen

import pytest

from fimlsp import python
from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.loading import load_model
from fimlsp.models.remote.errors import ManyModelsError, ServerError
from fimlsp.models.remote.open_model import is_ready
from fimlsp.quotient.engine import Engine

LEFT, RIGHT = b"def area(width, height):\n    return width * ", b"\n\n\nprint(area(2, 3))\n"
NAMES = ("own/bundled:Q8_0", "own/other")


class Router(BaseHTTPRequestHandler):
    """As "Using multiple models" in llama.cpp's `tools/server/README.md`, before one real server.

    The model is the key `model` of a POST, and the query parameter `model` of a GET. A model that is not
    loaded has no `meta`; the first request loads it.
    """

    def log_message(self, *_):
        pass

    def do_GET(self):
        url = urlsplit(self.path)
        if url.path == "/v1/models":
            self.answer(200, json.dumps({"object": "list", "data": [*self.entries()]}).encode())
        else:
            self.forward(url.path, parse_qs(url.query).get("model", [None])[0], None)

    def do_POST(self):
        data = self.rfile.read(int(self.headers["Content-Length"]))
        self.forward(self.path, json.loads(data).get("model"), data)

    def entries(self):
        real = json.loads(self.ask("/v1/models", None)[1])["data"][0]
        for name in NAMES:
            entry = {"id": name, "object": "model", "owned_by": "llamacpp", "status": {"value": "unloaded"}}
            if name in self.server.loaded:
                entry |= {"meta": real["meta"], "status": {"value": "loaded"}}
            yield entry

    def forward(self, path, name, data):
        self.server.asked.append((path, name))
        if name is None:
            return self.refuse(400, "model name is missing from the request")
        if name not in NAMES:
            return self.refuse(404, f"model '{name}' not found")
        self.server.loaded.add(name)
        return self.answer(*self.ask(path, data))

    def ask(self, path, data):
        headers = {"Content-Type": "application/json", "Authorization": self.headers["Authorization"] or ""}
        try:
            with urlopen(Request(self.server.upstream + path, data, headers)) as reply:
                return reply.status, reply.read()
        except HTTPError as error:
            return error.code, error.read()

    def refuse(self, code, message):
        self.answer(code, json.dumps({"error": {"code": code, "message": message}}).encode())

    def answer(self, status, data):
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Swap(Router):
    """As the README of llama-swap: `/upstream/NAME` is the server of that model."""

    def do_GET(self):
        if self.path == "/v1/models":
            self.answer(200, json.dumps({"object": "list", "data": [*self.entries()]}).encode())
        else:
            self.pass_on(None)

    def do_POST(self):
        self.pass_on(self.rfile.read(int(self.headers["Content-Length"])))

    def pass_on(self, data):
        path = unquote(self.path).removeprefix("/upstream/")
        name = next((name for name in NAMES if path.startswith(f"{name}/")), None)
        if name is None:
            return self.refuse(404, "model not found")
        return self.forward(path.removeprefix(name), name, data)

    def entries(self):
        for name in NAMES:
            yield {"id": name, "object": "model", "owned_by": "llama-swap", "status": {"value": "unloaded"}}


@pytest.fixture(params=[Router, Swap])
def router(request, served):
    server = ThreadingHTTPServer(("127.0.0.1", 0), request.param)
    server.upstream, server.loaded, server.asked = served("bundled"), set(), []
    server.address = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def text_of(model):
    start = Engine(python()).document(LEFT + RIGHT).middle(len(LEFT), len(LEFT)).start
    (middle,) = complete_many(model, LEFT, RIGHT, start, DecodeSettings(tokens=12), lambda: False)
    return middle.text


def test_the_model_is_loaded_and_named_in_each_request(router, served):
    model = load_model(f"{router.address}#{NAMES[0]}", uses_buffer=False)
    assert text_of(model) == text_of(load_model(served("bundled"), uses_buffer=False))
    assert model.name in ("bundled:Q8_0 (llama-server)", "bundled.gguf (llama-server)")
    assert {name for _, name in router.asked} == {NAMES[0]}
    assert router.loaded == {NAMES[0]}


def test_which_models_it_has_is_in_the_message(router):
    with pytest.raises(ServerError, match=r"it has own/bundled:Q8_0 \(unloaded\), own/other \(unloaded\)\."):
        load_model(router.address)
    with pytest.raises(ServerError, match="it has own/bundled:Q8_0"):
        load_model(f"{router.address}#gone")


@pytest.mark.parametrize("name", NAMES)
def test_it_is_ready_if_it_has_the_model(router, name):
    assert is_ready(f"{router.address}#{name}", None)
    assert not router.loaded, "looking loads nothing"


@pytest.mark.parametrize("name", ["", "#gone"])
def test_it_says_which_models_it_has_if_the_address_names_none_of_them(router, name):
    with pytest.raises(ManyModelsError, match="it has own/bundled:Q8_0"):
        is_ready(f"{router.address}{name}", None)
    assert not router.loaded, "looking loads nothing"


def test_a_server_that_is_gone_is_not_ready():
    assert not is_ready("http://127.0.0.1:9", None)
