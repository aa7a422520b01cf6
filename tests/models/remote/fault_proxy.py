"""A proxy in front of a model server that damages answers as networks and broken servers do."""

import random
import re
import socket
import threading
import time
from contextlib import closing, suppress
from urllib.parse import urlsplit

CHUNK = 1 << 16
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
OTHER_VOCABULARY = re.compile(rb'"bytes":\[(\d+)')


def passed(answer, _):
    yield from answer


def delayed(answer, rng):
    for data in answer:
        time.sleep(rng.uniform(0, 0.03))
        yield data


def cut(answer, rng):
    left = rng.randrange(1, 5000)
    for data in answer:
        yield data[:left]
        left -= len(data)
        if left <= 0:
            return


def stalled(answer, rng):
    yield from cut(answer, rng)
    time.sleep(1.0)


def garbled(answer, rng):
    for data in answer:
        spoilt = bytearray(data)
        for _ in range(1 + len(data) // 200):
            spoilt[rng.randrange(len(data))] = rng.randrange(256)
        yield bytes(spoilt)


def random_bytes(_, rng):
    yield rng.randbytes(3000)


def nothing(_, __):
    return iter(())


def page(_, __):
    yield b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 20\r\n\r\n<html>Welcome</html>"


def full(_, __):
    yield b'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 34\r\n\r\n{"error":{"message":"no slot free"}'


def overfull(_, __):
    event = (
        b'data: {"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}\n\n'
    )
    yield HEAD + b"%x\r\n%b\r\n" % (len(event), event)


def elsewhere(_, __):
    yield b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n"


def wrong_ids(answer, _):
    for data in answer:
        yield re.sub(rb'"id":\d', b'"id":9', data)


def other_vocabulary(answer, _):
    for data in answer:
        yield OTHER_VOCABULARY.sub(
            lambda match: match[0][:-1] + (b"7" if match[1][-1:] != b"7" else b"8"), data
        )


def no_numbers(answer, _):
    for data in answer:
        yield re.sub(rb'"logprob":-\d', b'"logprob":"x', data)


def endless_token(_, __):
    yield HEAD
    for _ in range(160):
        yield b"10000\r\n" + b"x" * 65536 + b"\r\n"


FAULTS = {
    fault.__name__: fault
    for fault in (
        passed,
        delayed,
        cut,
        stalled,
        garbled,
        random_bytes,
        nothing,
        page,
        full,
        overfull,
        elsewhere,
        wrong_ids,
        other_vocabulary,
        no_numbers,
        endless_token,
    )
}


class FaultProxy:
    """Listens on `address` in front of the server at *upstream*; `fault` names the damage to answers."""

    def __init__(self, upstream, seed):
        parts = urlsplit(upstream)
        self._upstream = parts.hostname, parts.port
        self._random = random.Random(seed)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.fault = "passed"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listening.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        rng = random.Random(self._random.random())
        with suppress(OSError), closing(client), closing(socket.create_connection(self._upstream)) as server:
            sending = threading.Thread(target=self._send, args=(client, server), daemon=True)
            sending.start()
            for data in FAULTS[self.fault](received(server), rng):
                client.sendall(data)
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
            sending.join(5)

    @staticmethod
    def _send(client, server):
        with suppress(OSError):
            for data in received(client):
                server.sendall(data)
            server.shutdown(socket.SHUT_RDWR)


def received(source):
    while data := source.recv(CHUNK):
        yield data
