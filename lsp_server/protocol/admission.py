"""The door of a port: a connection is a stranger's until its client is admitted.

A stranger is read up to `FIRST_BYTES` in all, so its JSON costs few milliseconds before its token is known.
Strangers have few places, and none of those of admitted clients. The one that has waited longest gives way to
a new one. A client that must leave gets the reason.
"""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Mapping
from contextlib import suppress

from fimlsp.lsp_server.options import TOKEN

MOST_CLIENTS = 32
MOST_STRANGERS = 2 * MOST_CLIENTS

FIRST_BYTES = 1 << 16
"""Bytes that are read of a client on a port before it is admitted."""

INITIALIZE_S = 10.0
"""Time limit for `initialize` of a client on a port."""

DISCARDED_BYTES = 1 << 20
DISCARDING_S = 1.0
"""Bytes and seconds for the rest of a message that is too long: a reset connection would lose the reason."""

CROWDED = "too many connections wait for admission; connect again and send `initialize` at once"
SILENT = "no `initialize` arrived in time; connect again and send it at once"
TOO_LONG = (
    f"the first message of a client on a port may have {FIRST_BYTES:,} bytes; "
    "shorten its initialization options, or use --stdio"
)


class Admission:
    """Limits the number of clients, and requires *token* of them unless it is None.

    The token matters on a TCP port, which all users of the machine can reach.
    """

    def __init__(self, token: str | None = None) -> None:
        self._token = token
        self._n_clients = 0

    def admit(self, options: object) -> str | None:
        """Admit the client with these `initializationOptions`; the reason if it is refused."""
        given = options.get(TOKEN) if isinstance(options, Mapping) else None
        if self._token is not None and not _is_equal(given, self._token):
            return f"this server requires a token; give it as `{TOKEN}` in the initialization options"
        if self._n_clients >= MOST_CLIENTS:
            return f"this server has its maximum of {MOST_CLIENTS} clients; end one or start another server"
        self._n_clients += 1
        return None

    def leave(self) -> None:
        """An admitted client is gone."""
        self._n_clients -= 1


def _is_equal(given: object, token: str) -> bool:
    """True if *given* is *token*, in a time that does not depend on the first difference."""
    if not isinstance(given, str):
        return False
    return hmac.compare_digest(given.encode(errors="surrogatepass"), token.encode(errors="surrogatepass"))


class Door:
    """The strangers at a port, in the order of their arrival."""

    def __init__(self) -> None:
        self._strangers: dict[asyncio.Future[str], None] = {}

    def arrive(self) -> asyncio.Future[str]:
        """A stranger arrives. The future gets the reason if it has to leave."""
        if len(self._strangers) >= MOST_STRANGERS:
            self._dismiss(next(iter(self._strangers)), CROWDED)
        stranger: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._strangers[stranger] = None
        asyncio.get_running_loop().call_later(INITIALIZE_S, self._dismiss, stranger, SILENT)
        return stranger

    def depart(self, stranger: asyncio.Future[str]) -> None:
        """A stranger is admitted or gone."""
        self._strangers.pop(stranger, None)

    def _dismiss(self, stranger: asyncio.Future[str], reason: str) -> None:
        if stranger in self._strangers:
            self.depart(stranger)
            stranger.set_result(reason)


class BoundedReader:
    """The bytes of a client, at most *allowance* of them until it is admitted."""

    def __init__(self, reader: asyncio.StreamReader, allowance: int | None) -> None:
        self._reader = reader
        self._allowance = allowance
        self.lifted: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def lift(self) -> None:
        """The client is admitted."""
        self._allowance = None
        if not self.lifted.done():
            self.lifted.set_result(None)

    async def readline(self) -> bytes:
        """As `asyncio.StreamReader.readline`.

        Raises:
            ConnectionRefusedError: a stranger has sent more than it may.
        """
        try:
            line = await self._reader.readline()
        except ValueError as error:
            if self._allowance is None:
                raise
            raise ConnectionRefusedError(TOO_LONG) from error
        self._spend(len(line))
        return line

    async def readexactly(self, size: int) -> bytes:
        """As `asyncio.StreamReader.readexactly`. Raises like `readline`, before anything is read."""
        self._spend(size)
        return await self._reader.readexactly(size)

    async def discard(self) -> None:
        """Drop the data of a refused client until it closes the connection or has sent too much."""
        with suppress(asyncio.TimeoutError, ConnectionError):
            await asyncio.wait_for(self._discard(), DISCARDING_S)

    async def _discard(self) -> None:
        left = DISCARDED_BYTES
        while left > 0 and (data := await self._reader.read(FIRST_BYTES)):
            left -= len(data)

    def _spend(self, size: int) -> None:
        if self._allowance is not None:
            self._allowance -= size
            if self._allowance < 0:
                raise ConnectionRefusedError(TOO_LONG)
