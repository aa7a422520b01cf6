"""Learns how often the estimate of a model is right, from the texts that the user then writes.

The counts of each estimate are in a file of the cache folder; texts never are. The counts are added to the
file in another thread, some time after they were made, and when the client leaves.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence

from fimlsp.lsp_server.messages import Estimated
from fimlsp.lsp_server.session.outcomes import Outcomes
from fimlsp.models.learnt import Correction, Learnt, Outcome, add_learnt, learnt_file, read_learnt
from fimlsp.quotient.contexts.replacement import Replacement

SAVE_S = 20.0
"""Seconds after which new counts are added to their file."""


class Learning:
    """Learns from the texts of one client; *on_places* gets the number of places that were learnt from."""

    def __init__(self, on_places: Callable[[int], None], log: logging.Logger) -> None:
        self.correction: Correction | None = None
        self._on_places = on_places
        self._log = log
        self._is_on = False
        self._outcomes = Outcomes()
        self._key = ""
        self._stored = self._new = Learnt()
        self._timer: asyncio.TimerHandle | None = None
        self._lock = asyncio.Lock()
        self._saving = set[asyncio.Task[None]]()

    def switch(self, is_on: bool) -> None:
        """Learn from now on, or forget all that is in memory and correct nothing."""
        if is_on != self._is_on:
            self._is_on = is_on
            self._use("")

    def watch(self, uri: str, data: bytes, offset: int, estimated: Estimated | None) -> None:
        """A text was *estimated* at *offset* of the document *data*, shown or not."""
        if not self._is_on or estimated is None:
            return
        if estimated.key != self._key:
            self._save()
            self._use(estimated.key)
        self._outcomes.watch(uri, data, offset, estimated)

    def edited(self, uri: str, size: int, edit: Replacement) -> None:
        """A document of *size* bytes was edited."""
        self._outcomes.edited(uri, size, edit)

    def settle(self, uri: str, data: bytes) -> None:
        """Learn from the places of a document that the user has left; *data* is its newest text."""
        self._learn(self._outcomes.settled(uri, data))

    def close(self, uri: str, data: bytes) -> None:
        """A document is closed with the text *data*."""
        self._learn(self._outcomes.close(uri, data))

    async def end(self, text_of: Callable[[str], bytes]) -> None:
        """The client leaves; *text_of* returns the text of a document."""
        for uri in self._outcomes.documents():
            self.close(uri, text_of(uri))
        self._save()
        await asyncio.gather(*self._saving)

    def _use(self, key: str) -> None:
        """Correct the estimate with this *key* from now on."""
        self._outcomes.forget()
        self._key, self._new = key, Learnt()
        path = learnt_file(key) if key else None
        self._take(Learnt() if path is None else read_learnt(path))

    def _take(self, stored: Learnt) -> None:
        self._stored = stored
        self.correction = stored.correction(self._key) if stored.places else None
        self._on_places(stored.places)

    def _learn(self, lines: Iterable[Sequence[Outcome]]) -> None:
        before = self._new
        for outcomes in lines:
            self._new = self._new.plus(outcomes)
        if self._new is not before and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SAVE_S, self._save)

    def _save(self) -> None:
        """Add the new counts to their file in another thread."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        newer, self._new = self._new, Learnt()
        if newer.places:
            saving = asyncio.get_running_loop().create_task(self._add(self._key, newer))
            self._saving.add(saving)
            saving.add_done_callback(self._saving.discard)

    async def _add(self, key: str, newer: Learnt) -> None:
        """Add *newer* to the file of the estimate with this *key*, and correct that by all that is there."""
        path, stored = learnt_file(key), None
        async with self._lock:
            try:
                stored = None if path is None else await asyncio.to_thread(add_learnt, path, newer)
            except OSError as error:
                self._log.warning(
                    "Cannot keep the counts of option learn (%s). Until this server ends they are used.",
                    error,
                )
        if key == self._key:
            self._take(stored or self._stored.followed_by(newer))
