"""A hostile workspace, its settings and strangers at the door, through a whole server."""

from __future__ import annotations

from random import Random

from ..lsp_server.protocol.hostile_steps import Hostile
from ..lsp_server.wire import REAL, SCRIPTED, tcp_server
from .campaign import SEED, for_some_seconds, run_async

SHORT_S = 10


@for_some_seconds
async def test_workspace_through_a_server(seconds, tmp_path):
    """With the real engine and model if there is time; every request is answered once."""
    is_short = seconds < SHORT_S
    address = (lambda port: f"{port}") if is_short else "127.0.0.1:{}".format
    async with tcp_server(*(SCRIPTED if is_short else REAL), address=address) as server:
        hostile = Hostile(server, await server.connect(), tmp_path, Random(SEED))
        await hostile.begin()
        await hostile.wire.idle()

        async def case(rng):
            hostile.rng = rng
            for _ in range(5):
                await hostile.step()

        await run_async("server", seconds, case, server.pid)
        await hostile.end()
        print(f"server: {len(hostile.asked)} requests, all answered once")
        assert server.process.returncode is None
