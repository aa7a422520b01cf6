"""Over what the server talks: standard input and output with one client, or TCP with any number."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from threading import Event

from fimlsp.lsp_server.server import FimServer, create_server
from fimlsp.lsp_server.worker_pool import WorkerPool
from pygls.io_ import run_async

log = logging.getLogger(__name__)


def start_logging() -> None:
    """What is not for a client goes to standard error; pygls tells of much that is not wrong."""
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(name)s: %(message)s", level=logging.WARNING)
    logging.getLogger("fimlsp").setLevel(logging.INFO)
    logging.getLogger("pygls").setLevel(logging.ERROR)


def serve_stdio(pool: WorkerPool) -> None:
    """Serve one client over standard input and output; returns when it is gone.

    Standard output is kept for the protocol alone: what a library prints goes to standard error.
    """
    start_logging()
    stdout, sys.stdout = sys.stdout.buffer, sys.stderr
    create_server(pool, lambda in_order: sys.exit(0 if in_order else 1)).start_io(stdout=stdout)


def serve_tcp(pool: WorkerPool, host: str, port: int) -> None:
    """Serve clients on a port of this machine until the process is interrupted.

    Each has a session of its own; those with the same model share a worker.

    Raises:
        OSError: The port cannot be used.
    """
    start_logging()
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_listen(pool, host, port))


async def _listen(pool: WorkerPool, host: str, port: int) -> None:
    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _serve_client(pool, reader, writer)

    listening = await asyncio.start_server(connected, host, port)
    log.info("waiting for clients on %s, port %d", host, port)
    async with listening:
        await listening.serve_forever()


async def _serve_client(pool: WorkerPool, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve the client of one connection to its end."""
    over = Event()
    server: FimServer = create_server(pool, lambda _: over.set())
    server.log.parent = log
    server.protocol.set_writer(writer)
    try:
        await run_async(over, reader, server.protocol, error_handler=server.report_server_error)
    except (ConnectionError, asyncio.IncompleteReadError, ValueError) as error:
        log.info("a client is gone (%s)", error)
    finally:
        server.protocol.writer = None
        await server.end()
        writer.close()
