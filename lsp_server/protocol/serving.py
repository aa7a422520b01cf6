"""Serves one client over standard input and output, or several clients over TCP."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import sys
from threading import Thread
from traceback import walk_tb
from types import TracebackType
from typing import Any, TypeAlias

from cattrs import ClassValidationError, transform_error
from pygls.exceptions import JsonRpcException
from pygls.io_ import StdoutWriter

from fimlsp.lsp_server.protocol.admission import FIRST_BYTES, Admission, BoundedReader, Door
from fimlsp.lsp_server.protocol.server import FimServer, create_server
from fimlsp.lsp_server.worker_pool import WorkerPool

log = logging.getLogger(__name__)

Writer = asyncio.StreamWriter | StdoutWriter

COLLECTION_THRESHOLDS = (10_000, 10, 10)
"""Python's own (700, 10, 10) would collect every few keystrokes."""

CHUNK = 1 << 20

LONGEST_HEADER = 1 << 26
"""Bytes of a header line, which may be a message after a malformed header."""


def prepare_process() -> None:
    """Set up logging and garbage collection.

    Records that are not for a client go to standard error; of pygls, only errors. Imported modules are hidden
    from the garbage collector, which would take 30 ms to traverse them.
    """
    logging.basicConfig(handlers=[PlainHandler()], level=logging.WARNING)
    logging.getLogger("fimlsp").setLevel(logging.INFO)
    logging.getLogger("pygls").setLevel(logging.ERROR)
    gc.set_threshold(*COLLECTION_THRESHOLDS)
    gc.freeze()


def serve_stdio(pool: WorkerPool) -> bool:
    """Serve one client over standard input and output until it is gone; false if it left without `shutdown`.

    Standard output is reserved for the protocol: output of libraries goes to standard error.
    """
    prepare_process()
    stdout, sys.stdout = sys.stdout.buffer, sys.stderr
    try:
        return asyncio.run(_serve_pipes(pool, sys.stdin.fileno(), StdoutWriter(stdout)))
    except KeyboardInterrupt:
        return True


async def _serve_pipes(pool: WorkerPool, source: int, writer: StdoutWriter) -> bool:
    """Serve the client that writes to the file descriptor *source*; returns as `serve_stdio`.

    One thread reads all bytes. pygls would use a thread for every header line, 1 ms per keystroke.
    """
    reader = asyncio.StreamReader(limit=LONGEST_HEADER)
    Thread(target=_feed, args=(source, reader, asyncio.get_running_loop()), daemon=True).start()
    return await _serve_client(pool, Admission(), reader, writer)


def _feed(source: int, reader: asyncio.StreamReader, loop: asyncio.AbstractEventLoop) -> None:
    """Pass on the bytes of *source*, until its end or the end of *loop*."""
    with contextlib.suppress(RuntimeError):
        while data := os.read(source, CHUNK):
            loop.call_soon_threadsafe(reader.feed_data, data)
        loop.call_soon_threadsafe(reader.feed_eof)


def serve_tcp(pool: WorkerPool, host: str, port: int, token: str | None = None) -> None:
    """Serve clients on a port of this machine until the process is interrupted.

    Each client has its own session; those with the same model share a worker. With *token*, only clients that
    send it are served.

    Raises:
        OSError: The port is not available.
    """
    prepare_process()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_listen(pool, host, port, Admission(token)))


async def _listen(pool: WorkerPool, host: str, port: int, admission: Admission) -> None:
    door = Door()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.CancelledError):  # the server ends; asyncio would log a traceback
            await _serve_client(pool, admission, reader, writer, door)

    listening = await asyncio.start_server(connected, host, port)
    log.info("waiting for clients on %s, port %d", host, port)
    async with listening:
        await listening.serve_forever()


async def _serve_client(
    pool: WorkerPool,
    admission: Admission,
    reader: asyncio.StreamReader,
    writer: Writer,
    door: Door | None = None,
) -> bool:
    """Serve one client until it leaves or disconnects; false if it left without `shutdown`.

    With a *door*, it is one of several clients. It is a stranger there until it is admitted, and its log
    records also go to the server's log.
    """
    left: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    server: FimServer = create_server(pool, admission, left.set_result)
    server.log.parent = None if door is None else log
    server.protocol.set_writer(writer)
    bytes_of_client = BoundedReader(reader, None if door is None else FIRST_BYTES)
    reading = asyncio.ensure_future(server.protocol.receive_all(bytes_of_client))
    try:
        if door is None or await _is_admitted(server, door, (reading, left, bytes_of_client.lifted)):
            await asyncio.wait((reading, left), return_when=asyncio.FIRST_COMPLETED)
    finally:
        reading.cancel()
        await asyncio.wait((reading,))
        error = None if reading.cancelled() else reading.exception()
        if error is not None:
            log.info("a client disconnected (%s)", error)
        server.protocol.writer = None
        if server.protocol.is_admitted:
            admission.leave()
        await server.end()
        writer.close()
    return not left.done() or left.result()


async def _is_admitted(server: FimServer, door: Door, ends: tuple[asyncio.Future[Any], ...]) -> bool:
    """Wait for the first of *ends*; true if the client is admitted then. Else it gets the reason, if any."""
    stranger = door.arrive()
    try:
        await asyncio.wait((*ends, stranger), return_when=asyncio.FIRST_COMPLETED)
    finally:
        door.depart(stranger)
    if stranger.done() and not server.protocol.is_admitted:
        server.protocol.refuse(stranger.result())
    return server.protocol.is_admitted


ExceptionInfo: TypeAlias = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
)

_SECOND_REPORT = "Unable to deserialize message"


class PlainHandler(logging.StreamHandler):  # type: ignore[type-arg]  # generic for the type checker only
    """Writes records to standard error, but only one of pygls' two reports on a malformed message."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(PlainFormatter("%(asctime)s %(name)s: %(message)s"))
        self.addFilter(lambda record: not str(record.msg).startswith(_SECOND_REPORT))


class PlainFormatter(logging.Formatter):
    """The standard formatter, except for faults in a client's message: these get no traceback."""

    def formatException(self, ei: ExceptionInfo) -> str:  # noqa: N802 - logging's name
        """The faults of a client's message, one on each line; a traceback for errors of this program."""
        error = ei[1]
        if isinstance(error, JsonRpcException):
            cause = error.__cause__
            faults = transform_error(cause) if isinstance(cause, ClassValidationError) else [str(error)]
            return "\n".join(f"  {fault}" for fault in faults)
        return super().formatException(ei) if error is None or _is_ours(error) else f"  {error}"


def _is_ours(error: BaseException) -> bool:
    """True if code of this package is in the traceback of *error*."""
    modules = (frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__))
    return any(module.startswith("fimlsp.") for module in modules)
