"""The client of the checker: prepares places while the user types, and asks for the faults of texts.

A thread keeps the process and sends one question at a time, the newest. `Checker.faults` waits for its answer
as long as the caller allows, and no other call waits. Without an answer no fault is known.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Thread

from fimlsp.languages.python.checker.process import MOST_BYTES, CheckedPlace, CheckQuestion
from fimlsp.languages.python.checker.ty_server import TypeFault
from fimlsp.processes.helper import HelperEndedError, HelperProcess

OpenTexts = Mapping[Path, bytes]
"""The texts of the open documents by their paths."""


@dataclass(slots=True)
class _Asked:
    """Texts at a place, and their first faults once *is_done*; None if the process did not answer."""

    place: CheckedPlace
    texts: tuple[bytes, ...]
    opened: OpenTexts
    faults: Sequence[TypeFault | None] | None = None
    is_done: bool = False


class Checker:
    """Checks texts in a process that *command* starts when it is first needed."""

    def __init__(self, command: Sequence[str]) -> None:
        self._changed = Condition()
        self._next: _Asked | None = None
        self._is_busy = False
        self._callbacks: list[Callable[[], None]] = []
        self._keeper: Thread | None = None
        self._process = HelperProcess(command)
        self._sent: dict[Path, bytes] = {}
        self._paused_until = 0.0
        self._cost: tuple[Path | None, float] = None, 0.0
        self._is_installed = importlib.util.find_spec("ty") is not None

    def prepare(self, place: CheckedPlace, opened: OpenTexts) -> None:
        """Start to read all that texts at *place* depend on; *opened* are the other open documents."""
        self._ask(_Asked(place, (), opened))

    def faults(
        self, place: CheckedPlace, texts: Iterable[bytes], opened: OpenTexts, seconds: float
    ) -> Sequence[TypeFault | None] | None:
        """The first fault of each of *texts* at *place*; None if they are not known within *seconds*.

        It does not wait at all if the last text in this file took longer.
        """
        asked = _Asked(place, tuple(texts), opened)
        path, cost = self._cost
        if path == place.path and cost * len(asked.texts) > seconds:
            return None
        if self._ask(asked):
            with self._changed:
                self._changed.wait_for(lambda: asked.is_done, seconds)
        return asked.faults

    def is_at_rest(self, callback: Callable[[], None]) -> bool:
        """True if no question is under way; else its thread calls *callback* after it."""
        with self._changed:
            is_at_rest = self._next is None and not self._is_busy
            if not is_at_rest:
                self._callbacks.append(callback)
        return is_at_rest

    def close(self) -> None:
        """End the process."""
        with self._changed:
            self._is_installed, self._next = False, None
        self._process.kill()

    def _ask(self, asked: _Asked) -> bool:
        """Ask next, in place of a question that still waits; False if there can be no answer.

        There is none in a large file, nor in the pause after a process that has ended again.
        """
        size = len(asked.place.left) + len(asked.place.right)
        if not self._is_installed or size > MOST_BYTES or time.monotonic() < self._paused_until:
            return False
        with self._changed:
            self._next = asked
            if self._keeper is None:
                self._keeper = Thread(target=self._send_questions, name="checker", daemon=True)
                self._keeper.start()
            self._changed.notify_all()
        return True

    def _send_questions(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._next is not None)
                assert self._next is not None
                asked, self._next, self._is_busy = self._next, None, True
            try:
                asked.faults = self._answer(asked)
                self._process.failures = 0
            except HelperEndedError:
                self._process.end()
                self._process.failures += 1
                self._paused_until = time.monotonic() + self._process.pause_s
            with self._changed:
                asked.is_done, self._is_busy = True, False
                callbacks, self._callbacks = self._callbacks, []
                self._changed.notify_all()
            for callback in callbacks:
                callback()

    def _answer(self, asked: _Asked) -> Sequence[TypeFault | None] | None:
        """The answer of the process.

        Raises:
            HelperEndedError: it has ended.
        """
        if not self._process.is_running():
            self._sent = {}
        opened = {path: text for path, text in asked.opened.items() if self._sent.get(path) is not text}
        closed = dict.fromkeys(path for path in self._sent if path not in asked.opened)
        self._process.send(CheckQuestion(asked.place, asked.texts, (*opened.items(), *closed.items())))
        self._sent = dict(asked.opened)
        started = time.monotonic()
        answer = self._process.receive()
        self._cost = asked.place.path, (time.monotonic() - started) / max(1, len(asked.texts))
        return answer if isinstance(answer, tuple) else None
