"""The addresses that the page uses, with the authentication of the Jupyter server."""

from __future__ import annotations

import asyncio
import inspect
import json
from pathlib import Path
from typing import Any

from jupyter_server.auth.decorator import authorized, ws_authenticated
from jupyter_server.base.handlers import APIHandler, JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from jupyter_server.utils import url_path_join
from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from jupyterlab_fimlsp.language_server import LanguageServer, doctor_report

RESOURCE = "fimlsp"
"""The resource of Jupyter's authorizer; users need the permission `execute` for it."""

MOST_PAGES = 16
"""Processes at a time; each open page has one."""

SERVER_ENDED = 4000
CANNOT_START = 4001
"""Codes of a closed WebSocket. The reason comes with them."""

LONGEST_REASON = 120
"""Bytes of the reason for closing a WebSocket, which allows 123."""


def handlers(base_url: str, folder: Path) -> list[tuple[str, type[Any], dict[str, Any]]]:
    """The addresses below *base_url*, for notebooks in *folder*."""
    pages: set[LanguageServerSocket] = set()
    return [
        (url_path_join(base_url, "fimlsp", "lsp"), LanguageServerSocket, {"folder": folder, "pages": pages}),
        (url_path_join(base_url, "fimlsp", "doctor"), Doctor, {"folder": folder}),
    ]


class LanguageServerSocket(WebSocketMixin, WebSocketHandler, JupyterHandler):
    """LSP for a page, one JSON text in each message. The process of fimlsp lives as long as the WebSocket.

    The base classes compare the origin with the host, so pages of other sites cannot connect.
    """

    auth_resource = RESOURCE
    _server: LanguageServer | None = None

    def initialize(self, folder: Path, pages: set[LanguageServerSocket]) -> None:
        """Use *folder* as the current one of processes; *pages* are all connected ones."""
        self._folder = folder
        self._pages = pages

    @ws_authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Open the WebSocket, if the user may execute code on this server."""
        verdict = self.authorizer.is_authorized(self, self.current_user, "execute", RESOURCE)
        if not (await verdict if inspect.isawaitable(verdict) else verdict):
            raise web.HTTPError(403, f"User is not authorized to execute on resource: {RESOURCE}.")
        await super().get(*args, **kwargs)

    def set_default_headers(self) -> None:
        """None: Jupyter's are for pages."""

    def open(self, *args: Any, **kwargs: Any) -> None:
        """Start a process for the page."""
        super().open(*args, **kwargs)
        if len(self._pages) >= MOST_PAGES:
            self._refuse(CANNOT_START, f"{MOST_PAGES} pages use fimlsp already; close one of them")
            return
        try:
            self._server = LanguageServer(self._folder, self._pass_on, self._ended)
        except OSError as error:
            self._refuse(CANNOT_START, f"fimlsp cannot be started: {error}")
        else:
            self._pages.add(self)

    def _pass_on(self, message: bytes) -> None:
        try:
            self.write_message(message.decode())
        except WebSocketClosedError:
            self.on_close()

    def _ended(self, reason: str) -> None:
        self._pages.discard(self)
        self._refuse(SERVER_ENDED, reason)

    def _refuse(self, code: int, reason: str) -> None:
        self.close(code, reason.encode()[:LONGEST_REASON].decode(errors="ignore"))

    async def on_message(self, message: str | bytes) -> None:
        """Pass a message of the page on. The next one is read afterwards."""
        if self._server is not None:
            await self._server.send(message.encode() if isinstance(message, str) else message)

    def on_close(self) -> None:
        """The page is gone: end its process."""
        if self._server is not None:
            self._server.end()


class Doctor(APIHandler):
    """Runs `fimlsp doctor` for the page."""

    auth_resource = RESOURCE

    def initialize(self, folder: Path) -> None:
        """Run in *folder*."""
        self._folder = folder

    @web.authenticated
    @authorized("execute")
    async def post(self) -> None:
        """The report for the model in the body."""
        body = self.get_json_body()
        model = body.get("model") if isinstance(body, dict) else None
        report = await asyncio.get_running_loop().run_in_executor(
            None, doctor_report, self._folder, model if isinstance(model, str) else None
        )
        self.finish(json.dumps({"report": report}))
