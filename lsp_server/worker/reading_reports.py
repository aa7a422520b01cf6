"""Reports on a model that reads for long: they start after a second, and end with the answer or the request.

Answers that are to come later are remembered as well: the server repeats their requests once they can be
answered.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from fimlsp.lsp_server.messages import DocumentId, Read, Reading, Rest

SHOWN_AFTER_S = 1.0
"""Shorter reading is not reported."""


class ReadingReports:
    """Reports about one place at a time, passed to *send*."""

    def __init__(self, send: Callable[[Reading | Read], None]) -> None:
        self._send = send
        self._place: Rest | None = None
        self._since = 0.0
        self._percent: int | None = None
        self._awaited = set[DocumentId]()

    def look(self, place: Rest, share: float) -> None:
        """The model reads the text of *place* now, and has read this *share*."""
        if place != self._place:
            self._stop()
            self._place, self._since = place, time.monotonic()
        percent, is_long = int(100 * share), time.monotonic() - self._since >= SHOWN_AFTER_S
        if is_long and (self._percent is None or percent > self._percent):
            self._percent = percent
            self._send(Reading(place.document, percent))

    def wait_for(self, document: DocumentId) -> None:
        """The answer in *document* is to come later, so the reading goes on."""
        self._awaited.add(document)

    def finish(self) -> None:
        """Nothing is left to do for any document."""
        self._stop()
        for document in self._awaited:
            self._send(Read(document))
        self._awaited.clear()

    def _stop(self) -> None:
        place, self._place = self._place, None
        percent, self._percent = self._percent, None
        if place is not None and percent is not None:
            self._send(Read(place.document))
