"""Shows the loading of a model as work-done progress, for clients that can."""

from __future__ import annotations

import asyncio
import logging
import uuid

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.progress import Progress

from fimlsp.lsp_server.messages import Loading, NotReady, Ready


class LoadingProgress:
    """Shows reports about loading, in one progress bar from the first step to the last.

    A bar must be created with the client's consent, which takes a round trip, so reports are queued, and one
    task shows them in order.
    """

    def __init__(self, progress: Progress, log: logging.Logger) -> None:
        self._progress = progress
        self._log = log
        self._reports: asyncio.Queue[Loading | Ready | NotReady] = asyncio.Queue()
        self._token: str | None = None
        self._shower = asyncio.get_running_loop().create_task(self._show_all())

    def tell(self, report: Loading | Ready | NotReady) -> None:
        """Show *report* when its turn comes."""
        self._reports.put_nowait(report)

    def close(self) -> None:
        """The client is gone."""
        self._shower.cancel()

    async def _show_all(self) -> None:
        try:
            while True:
                await self._show(await self._reports.get())
        except JsonRpcException as error:
            self._log.warning("the client refused to show progress: %s", error)

    async def _show(self, report: Loading | Ready | NotReady) -> None:
        match report:
            case Loading(step, percent):
                await self._step(step, percent)
            case Ready(model, problem):
                self._end(problem or model)
            case NotReady(reason):
                self._end(reason)

    async def _step(self, step: str, percent: int) -> None:
        if self._token is not None:
            report = types.WorkDoneProgressReport(message=step, percentage=percent)
            self._progress.report(self._token, report)
            return
        token = str(uuid.uuid4())
        await self._progress.create_async(token)
        self._progress.begin(
            token,
            types.WorkDoneProgressBegin(title="fimlsp", message=step, percentage=percent, cancellable=False),
        )
        self._token = token

    def _end(self, message: str) -> None:
        if self._token is not None:
            self._progress.end(self._token, types.WorkDoneProgressEnd(message=message))
            self._token = None
