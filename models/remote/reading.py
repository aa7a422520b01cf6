"""The reading of a server: its speed, its progress, and signs of life; and the speed of its writing.

llama.cpp reports its reading itself. For other servers only the time up to their first token is known.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

MEASURED_TOKENS = 32
"""Fewer tokens are read in a time that says little about the speed."""

SILENT_S = 30.0
"""A server that has given no sign of life for so many seconds, while it was waited for, does not read."""


SHORTEST_S = 1e-6

NEWEST_SHARE = 0.2
"""The weight of a new token in the mean time of a written one."""


class ReadingMeter:
    """Learns from the texts that a server reads and writes.

    Attributes:
        per_second: tokens read in a second, by the newest measurement; None: not measured yet.
        written_per_second: tokens written in a second, all work on them included; None: not measured yet.
        share: the share that is read, while the server reads a text; None while it does not, or only its end.
    """

    def __init__(self) -> None:
        self.per_second: float | None = None
        self.written_per_second: float | None = None
        self.share: float | None = None
        self._waiting_since: float | None = None
        self._is_partial = False
        self._is_reported = False
        self._read = 0

    @property
    def is_alive(self) -> bool:
        """True if the server may be reading: it was not silent for `SILENT_S`."""
        return self._waiting_since is None or time.monotonic() - self._waiting_since < SILENT_S

    def seconds(self, tokens: int) -> float:
        """The time in which it reads so many *tokens*; infinite if its speed is unknown."""
        return inf if self.per_second is None else tokens / self.per_second

    def wrote(self, seconds: float) -> None:
        """The server, and the caller, took so many *seconds* for a token that follows another one."""
        before = seconds if self.written_per_second is None else 1 / self.written_per_second
        mean = (1 - NEWEST_SHARE) * before + NEWEST_SHARE * seconds
        self.written_per_second = 1 / max(mean, SHORTEST_S)

    @contextmanager
    def measured(self, unread: int) -> Iterator[None]:
        """In this context, which may be left early, the server reads a text with *unread* new tokens."""
        started = time.monotonic()
        self._waiting_since = self._waiting_since or started
        self.share, self._is_reported = (0.0 if unread >= MEASURED_TOKENS else None), False
        self._read = 0
        try:
            yield
        except BaseException:
            self._is_partial = True
            raise
        else:
            if not (self._is_reported or self._is_partial):
                self._learn(unread, time.monotonic() - started)
            self._is_partial, self._waiting_since = False, None
        finally:
            self.share = None

    def report(self, progress: object) -> bool:
        """Take llama.cpp's *progress* of a prompt, any JSON; a value of another form does not count.

        True if more is read than before.
        """
        before = self._read
        match progress:
            case {"total": int(total), "processed": int(read), "cache": int(cached), "time_ms": int(ms)}:
                self._is_reported, self._waiting_since = True, time.monotonic()
                if self.share is not None and total > 0:
                    self.share = min(1.0, max(0.0, read / total))
                self._learn(read - cached, ms / 1000)
                self._read = max(self._read, read)
        return self._read > before

    def _learn(self, tokens: int, seconds: float) -> None:
        if tokens >= MEASURED_TOKENS and seconds > 0:
            self.per_second = tokens / seconds
