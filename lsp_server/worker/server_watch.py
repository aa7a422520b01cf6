"""Watches, in a thread of its own, for a model server that failed to answer again."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Thread

from fimlsp.lsp_server.messages import Load

PAUSES_S = 1.0, 30.0
"""The first pause before looking for the server, and the longest; each is twice the one before."""


class ServerWatch:
    """Calls *found* with what is to be loaded once *is_there* says so of it."""

    def __init__(self, is_there: Callable[[Load], bool], found: Callable[[Load], None]) -> None:
        self._is_there = is_there
        self._found = found
        self._ended = Event()
        self._pause = PAUSES_S[0]

    def begin(self, load: Load, *, served_well: bool) -> None:
        """Look for the server of *load*, and for no other any more; sooner if it *served_well* before."""
        self.end()
        ended, pause = Event(), PAUSES_S[0] if served_well else self._pause
        self._ended, self._pause = ended, min(2 * pause, PAUSES_S[1])

        def watch() -> None:
            while not ended.wait(pause):
                if self._is_there(load):
                    if not ended.is_set():
                        self._found(load)
                    return

        Thread(target=watch, daemon=True).start()

    def end(self) -> None:
        """Look for nothing any more."""
        self._ended.set()
