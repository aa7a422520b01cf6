"""Waiting for events. The only time limit is a guard against hangs, so tests pass on a busy machine, too."""

from __future__ import annotations

import asyncio
import time

HANG_GUARD_S = 600.0
"""No test measures by this limit: it only ends one that hangs."""

POLL_S = 0.01


async def until(condition, describe=lambda: ""):
    """Wait until *condition* is true; *describe* gives details for the error of a hang."""
    guard = time.monotonic() + HANG_GUARD_S
    while not condition():
        assert time.monotonic() < guard, f"hangs; {describe()}"
        await asyncio.sleep(POLL_S)


def block_until(condition, describe=lambda: ""):
    """As `until`, in tests without an event loop."""
    guard = time.monotonic() + HANG_GUARD_S
    while not condition():
        assert time.monotonic() < guard, f"hangs; {describe()}"
        time.sleep(POLL_S)


async def finished(awaitable):
    """The result of *awaitable*."""
    return await asyncio.wait_for(awaitable, HANG_GUARD_S)


async def connected(port):
    """Reader and writer of a connection to a server that is about to listen on *port*."""
    guard = time.monotonic() + HANG_GUARD_S
    while True:
        try:
            return await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            assert time.monotonic() < guard, f"nobody listens on port {port}"
            await asyncio.sleep(POLL_S)
