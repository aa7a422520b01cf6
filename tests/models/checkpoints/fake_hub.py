"""A server on this machine that answers as the hub does, for one model in a folder."""

import hashlib
import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

COMMIT = "c0ffee" + "0" * 34
NAME = "someone/some-model"


class FakeHub:
    """Serves *folder*; `asked` holds the requests so far.

    It may cut a file short (`cut_at`), tell wrong checksums (`lies`), announce other things than it has
    (`announced`, by file, and `commit`), name content otherwise (`etag`), and send a `surplus`.
    It may have another `name`, and other `tags`.
    """

    def __init__(self, folder):
        self.folder = folder
        self.asked = []
        self.ranges = []
        self.cut_at = {}
        self.lies = False
        self.announced = {}
        self.commit = COMMIT
        self.etag = None
        self.surplus = b""
        self.tags = ["license:apache-2.0", "code"]
        self.name = NAME
        self.url = None

    def listing(self):
        """The entry of each file: large ones have a checksum of their content."""
        for path in sorted(self.folder.iterdir()):
            data = path.read_bytes()
            blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            entry = {"type": "file", "path": path.name, "size": len(data), "oid": blob}
            if path.suffix in (".safetensors", ".bin", ".gguf"):
                entry["lfs"] = {"oid": self.checksum(path), "size": len(data), "pointerSize": 100}
            yield entry | self.announced.get(path.name, {})

    def checksum(self, path):
        data = path.name.encode() if self.lies else path.read_bytes()
        return hashlib.sha256(data).hexdigest()


@contextmanager
def running(hub):
    """Answer on a port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_HEAD(self):
            answer(self, hub, with_body=False)

        def do_GET(self):
            answer(self, hub, with_body=True)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answer(request, hub, with_body):
    path = request.path.partition("?")[0]
    hub.asked.append((request.command, path))
    name = hub.name
    if path.startswith(f"/api/models/{name}/tree/"):
        send_json(request, list(hub.listing()))
    elif path.removesuffix("/revision/main").removesuffix(f"/revision/{COMMIT}") == f"/api/models/{name}":
        send_json(request, {"id": name, "sha": hub.commit, "siblings": [], "tags": hub.tags})
    elif path.startswith(f"/api/models/{name}/revision/"):
        send_error(request, "RevisionNotFound")
    elif path.startswith(f"/{name}/resolve/"):
        send_file(request, hub, hub.folder / path.rpartition("/")[2], with_body)
    else:
        send_error(request, "RepoNotFound")


def send_json(request, value):
    data = json.dumps(value).encode()
    request.send_response(200)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", str(len(data)))
    request.end_headers()
    request.wfile.write(data)


def send_error(request, code):
    request.send_response(404)
    request.send_header("X-Error-Code", code)
    request.send_header("Content-Length", "0")
    request.end_headers()


def send_file(request, hub, path, with_body):
    data = path.read_bytes()
    start = int(request.headers.get("Range", "bytes=0-").removeprefix("bytes=").removesuffix("-"))
    if start:
        hub.ranges.append((path.name, start))
    request.send_response(206 if start else 200)
    request.send_header("X-Repo-Commit", hub.commit)
    request.send_header("ETag", f'"{hub.etag or hub.checksum(path)}"')
    request.send_header("Content-Length", str(len(data) - start + len(hub.surplus)))
    if start:
        request.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
    request.end_headers()
    if with_body:
        request.wfile.write(data[start : hub.cut_at.get(path.name)] + hub.surplus)
        if path.name in hub.cut_at:
            request.close_connection = True
