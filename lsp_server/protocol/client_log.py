"""Sends a client's log records to it as `window/logMessage`, as editors show standard error, too."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from fimlsp.lsp_server.protocol.server import FimServer

_KINDS = {
    logging.ERROR: types.MessageType.Error,
    logging.WARNING: types.MessageType.Warning,
    logging.INFO: types.MessageType.Info,
    logging.DEBUG: types.MessageType.Log,
}


class ClientLog(logging.Handler):
    """Passes records on to the client of *server*."""

    def __init__(self, server: FimServer) -> None:
        super().__init__()
        self._server = server

    def emit(self, record: logging.LogRecord) -> None:
        """Send *record*, if the client is there."""
        if self._server.protocol.writer is not None:
            kind = next(kind for level, kind in _KINDS.items() if record.levelno >= level)
            self._server.window_log_message(types.LogMessageParams(type=kind, message=self.format(record)))
