"""Serves one client over standard input and output, or any number of clients over TCP."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import sys
from threading import Thread

from pygls.io_ import StdoutWriter

from fimlsp.lsp_server.protocol.door import MOST_CLIENTS, Door
from fimlsp.lsp_server.protocol.plain_log import PlainHandler
from fimlsp.lsp_server.protocol.server import FimServer, create_server
from fimlsp.lsp_server.worker_client.worker_pool import WorkerPool

log = logging.getLogger(__name__)

Writer = asyncio.StreamWriter | StdoutWriter

COLLECTION_THRESHOLDS = (10_000, 10, 10)
"""Python's own (700, 10, 10) would collect every few keystrokes."""

CHUNK = 1 << 20

PATIENCE_S = 10.0
"""How long a client on a port may take to introduce itself."""

MOST_CONNECTIONS = 2 * MOST_CLIENTS
"""More than there may be clients, so that one too many is told why; further ones are closed at once."""

LONGEST_HEADER = 1 << 26
"""Bytes of a line of a header, which may be a message whose header nobody understood."""


def prepare_process() -> None:
    """Set up logging and garbage collection.

    Records that are not for a client go to standard error; of pygls, only errors. What is imported stays, so
    it is hidden from the garbage collector, which would take 30 ms to walk through it.
    """
    logging.basicConfig(handlers=[PlainHandler()], level=logging.WARNING)
    logging.getLogger("fimlsp").setLevel(logging.INFO)
    logging.getLogger("pygls").setLevel(logging.ERROR)
    gc.set_threshold(*COLLECTION_THRESHOLDS)
    gc.freeze()


def serve_stdio(pool: WorkerPool) -> bool:
    """Serve one client over standard input and output; returns when it is gone, and whether in order.

    Standard output is kept for the protocol alone: what a library prints goes to standard error.
    """
    prepare_process()
    stdout, sys.stdout = sys.stdout.buffer, sys.stderr
    try:
        return asyncio.run(_serve_pipes(pool, sys.stdin.fileno(), StdoutWriter(stdout)))
    except KeyboardInterrupt:
        return True


async def _serve_pipes(pool: WorkerPool, source: int, writer: StdoutWriter) -> bool:
    """Serve the client that writes to the file descriptor *source*; whether it went in order.

    A thread reads what there is: pygls asks a thread for every line of a header, a millisecond per keystroke.
    """
    reader = asyncio.StreamReader(limit=LONGEST_HEADER)
    Thread(target=_feed, args=(source, reader, asyncio.get_running_loop()), daemon=True).start()
    return await _serve_client(pool, Door(), reader, writer)


def _feed(source: int, reader: asyncio.StreamReader, loop: asyncio.AbstractEventLoop) -> None:
    """Pass on what comes, to its end or that of the *loop*."""
    with contextlib.suppress(RuntimeError):
        while data := os.read(source, CHUNK):
            loop.call_soon_threadsafe(reader.feed_data, data)
        loop.call_soon_threadsafe(reader.feed_eof)


def serve_tcp(pool: WorkerPool, host: str, port: int, token: str | None = None) -> None:
    """Serve clients on a port of this machine until the process is interrupted.

    Each has a session of its own; those with the same model share a worker. Only those are served that know
    the *token*, if there is one.

    Raises:
        OSError: The port cannot be used.
    """
    prepare_process()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_listen(pool, host, port, Door(token)))


async def _listen(pool: WorkerPool, host: str, port: int, door: Door) -> None:
    connections = set[asyncio.StreamWriter]()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(connections) >= MOST_CONNECTIONS:
            writer.close()
            return
        connections.add(writer)
        try:
            await _serve_client(pool, door, reader, writer, PATIENCE_S)
        finally:
            connections.discard(writer)

    listening = await asyncio.start_server(connected, host, port)
    log.info("waiting for clients on %s, port %d", host, port)
    async with listening:
        await listening.serve_forever()


async def _serve_client(
    pool: WorkerPool, door: Door, reader: asyncio.StreamReader, writer: Writer, patience: float | None = None
) -> bool:
    """Serve one client till it leaves or is gone; False if it left before it said goodbye.

    With *patience*, it is one of several: it must introduce itself within so many seconds, and its records
    are also those of the server.
    """
    left: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    server: FimServer = create_server(pool, door, left.set_result)
    server.log.parent = None if patience is None else log
    server.protocol.set_writer(writer)
    reading = asyncio.ensure_future(server.protocol.receive_all(reader))
    try:
        over, _ = await asyncio.wait((reading, left), timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        if not over and server.protocol.is_admitted:
            await asyncio.wait((reading, left), return_when=asyncio.FIRST_COMPLETED)
    finally:
        reading.cancel()
        await asyncio.wait((reading,))
        error = None if reading.cancelled() else reading.exception()
        if error is not None:
            log.info("a client is gone (%s)", error)
        server.protocol.writer = None
        if server.protocol.is_admitted:
            door.leave()
        await server.end()
        writer.close()
    return not left.done() or left.result()
