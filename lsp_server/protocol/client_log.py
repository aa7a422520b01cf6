"""Sends a client's log records to it as `window/logMessage`, as editors show standard error, too."""

from __future__ import annotations

import logging
from collections.abc import Callable

from lsprotocol import types

_KINDS = {
    logging.ERROR: types.MessageType.Error,
    logging.WARNING: types.MessageType.Warning,
    logging.INFO: types.MessageType.Info,
    logging.DEBUG: types.MessageType.Log,
}


class ClientLog(logging.Handler):
    """Turns records into messages, and gives them to *send*."""

    def __init__(self, send: Callable[[types.LogMessageParams], None]) -> None:
        super().__init__()
        self._send = send

    def emit(self, record: logging.LogRecord) -> None:
        """Send *record*."""
        kind = next(kind for level, kind in _KINDS.items() if record.levelno >= level)
        self._send(types.LogMessageParams(type=kind, message=self.format(record)))
