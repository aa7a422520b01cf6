"""Hostile answers of a model server: the result is a connecting text, or one sentence with a reason."""

from __future__ import annotations

import json
import re
import socketserver
import threading
from contextlib import contextmanager, suppress

import pytest

from fimlsp import python
from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.errors import ModelError
from fimlsp.models.gguf_export import export_gguf
from fimlsp.models.loading import load_model
from fimlsp.quotient.engine import Engine

from ..models.remote import documented_servers
from ..models.remote.recorded import asked, listening
from .campaign import for_some_seconds, run
from .nonsense import changed, damaged, value

LEFT, RIGHT = b"def read(path):\n    with open(", b"\n        return file.read()\n"
SETTINGS = DecodeSettings(tokens=12, seconds=2.0)
KINDS = ["llama-server", *documented_servers.SERVERS]
IDS = re.compile(rb'("id": ?|token_id:)\d+')
BYTES = re.compile(rb'"bytes": ?\[\d+')
WRONG = ["event", "event", "event", "bytes", "half", "ids", "vocabulary", "page", "value", "head"]


@contextmanager
def good_server(kind, folder):
    """The address of a server of that kind that answers well."""
    if kind != "llama-server":
        server = documented_servers.start(kind)
        yield server.address
        server.shutdown()
        server.server_close()
        return
    pytest.importorskip("xllamacpp", reason="xllamacpp has no wheel here")
    from ..models.llama_cpp import serving

    export_gguf("bundled", folder / "own.gguf")
    with serving(folder / "own.gguf", n_ctx=1024) as ask:
        yield ask.address


def good_answers(kind, folder, start):
    """For each path, bodies that such a server answered there."""
    answers = {}
    with good_server(kind, folder) as address:

        def reply(path, body):
            status, text = asked(address, path, body)
            if status == 200:
                answers.setdefault(path, []).append(text.encode())
            return status, text

        proxy = listening(reply)
        complete(load_model(proxy.address, family=documented_servers.FAMILY_NEEDED.get(kind)), start)
        proxy.shutdown()
        proxy.server_close()
    return answers


def complete(model, start):
    (middle,) = complete_many(model, LEFT, RIGHT, start, SETTINGS, lambda: False)
    return middle.text


class Handler(socketserver.StreamRequestHandler):
    """Reads one request, and sends the bytes that the server has for its path."""

    def handle(self):
        with suppress(OSError, ValueError, IndexError):
            path = self.rfile.readline().split()[1].decode()
            length = 0
            while line := self.rfile.readline().strip():
                name, _, told = line.partition(b":")
                length = int(told) if name.lower() == b"content-length" else length
            self.rfile.read(length)
            self.wfile.write(self.server.reply(path))


@contextmanager
def answering():
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def http(body, status=200):
    return b"HTTP/1.1 %d So\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body)


def spoilt(rng, body):
    """An answer like that with *body*, but wrong."""
    match rng.choice(
        ["event", "event", "event", "bytes", "half", "ids", "vocabulary", "page", "value", "head"]
    ):
        case "event":
            return http(with_changed_event(rng, body))
        case "bytes":
            return http(damaged(rng, body))
        case "half":
            return http(body)[: rng.randrange(len(body) + 40)]
        case "ids":
            number = rng.choice([b"0", b"4095", b"4096", b"9999999", b"-1", b"1e9", b'"x"', b"%d" % 2**70])
            return http(IDS.sub(lambda found: found[1] + number, body))
        case "vocabulary":
            return http(BYTES.sub(b'"bytes":[%d' % rng.randrange(300), body))
        case "page":
            return http(b"<html><body>Welcome</body></html>", rng.choice([200, 301, 302, 404, 429, 500, 503]))
        case "value":
            return LARGE if rng.random() < 0.02 else http(json.dumps(value(rng)).encode())
        case _:
            return damaged(rng, http(body))


LARGE = http(b'data: "' + b"x" * (10 << 20))
"""Made once: threads that make it anew keep the memory, each in an arena of its own."""


def with_changed_event(rng, body):
    """*body*, some event of which says something else."""
    lines = body.split(b"\n")
    at = rng.choice([number for number, line in enumerate(lines) if b"{" in line] or [0])
    before, brace, event = lines[at].partition(b"{")
    with suppress(ValueError):
        tree = changed(rng, json.loads(brace + event), rng.randint(1, 3))
        lines[at] = before + json.dumps(tree).encode()
    return b"\n".join(lines)


def told_or_done(act):
    """The result of *act*, or None if it fails; and the sentence of its error, or None."""
    try:
        return act(), None
    except ModelError as error:
        return None, str(error)


def is_sentence(told):
    return told.endswith(".") and "\n" not in told and len(told) < 1000


def connects(start, text):
    state = start.feed(text)
    return state is not None and state.complete


@for_some_seconds
@pytest.mark.parametrize("kind", KINDS)
def test_answers_of_a_model_server(seconds, kind, tmp_path):
    start = Engine(python()).document(LEFT + RIGHT).middle(len(LEFT), len(LEFT)).start
    answers = good_answers(kind, tmp_path, start)
    with answering() as server:
        address = f"http://127.0.0.1:{server.server_address[1]}"

        def case(rng):
            wrong = rng.choice([0.05, 0.3, 1.0])

            def good(path):
                known = answers.get(path)
                return http(rng.choice(known)) if known else http(b'{"error": "no such path"}', 404)

            def nonsense(path):
                if rng.random() > wrong:
                    return good(path)
                return spoilt(rng, rng.choice(answers.get(path) or [b"{}"]))

            server.reply = rng.choice([good, good, nonsense])
            model, refusal = told_or_done(
                lambda: load_model(address, family=documented_servers.FAMILY_NEEDED.get(kind))
            )
            assert refusal is None or is_sentence(refusal)
            server.reply = nonsense
            for _ in range(2 if model else 0):
                text, refusal = told_or_done(lambda: complete(model, start))
                assert is_sentence(refusal) if text is None else connects(start, text)

        run(f"answers of {kind}", seconds / len(KINDS), case)
