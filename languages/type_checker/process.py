"""The process of a type checker, and its client, which prepares places while the user types.

The process copies modules, asks the checker of its language, and answers one question after the other. It
holds that checker and its folder, and ends both with itself. A client starts it again when it has ended.

In the client a thread keeps the process and sends one question at a time, the newest. `Checker.faults` waits
for its answer as long as the caller allows, and no other call waits. Without an answer no fault is known.
"""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from threading import Condition, Thread
from typing import BinaryIO, Protocol

from fimlsp.languages.type_checker.faults import Judge, TypeFault, first_fault
from fimlsp.languages.type_checker.language_server import Diagnostic, TypeServer, TypeServerError
from fimlsp.processes.bounded import claim_pipes, limit_memory
from fimlsp.processes.helper import HelperEndedError, HelperProcess

PREFIX = "fimlsp-types-"
"""The start of the names of temporary folders, before the number of the process."""

MOST_BYTES = 300_000
"""The largest file that is checked."""

LARGEST_BYTES = 4_000_000_000
"""The limit of the address spaces of the process and of the checker, where the system can set one."""


@dataclass(frozen=True, slots=True)
class CheckedPlace:
    """A place between *left* and *right* in the file at *path*; None for a buffer without one.

    *folders* and *excluded* decide about the files that may be read. *against* is the version of Python, or
    the compiler of TypeScript.
    """

    path: Path | None
    folders: tuple[Path, ...]
    excluded: tuple[str, ...]
    against: tuple[int, int] | Path
    left: bytes
    right: bytes


@dataclass(frozen=True, slots=True)
class CheckQuestion:
    """A question about *texts* at a *place*; without texts it only prepares the place.

    Then it also compares the copied modules with the disk. *opened* are the documents that an editor has
    opened, changed or (None) closed since the last question.
    """

    place: CheckedPlace
    texts: tuple[bytes, ...] = ()
    opened: tuple[tuple[Path, bytes | None], ...] = ()


CheckAnswer = tuple[TypeFault | None, ...]
"""The first fault of each text of a question."""

Reader = Callable[[CheckedPlace], Callable[[Path], bytes | None]]
"""Returns, for a place, the function that reads a file; it returns None for one that may not be read."""


class Project(Judge, Protocol):
    """A checker with the modules that texts of one search path import."""

    @property
    def server(self) -> TypeServer:
        """The checker."""

    def refresh(self) -> None:
        """Compare all modules with the disk at the next text."""

    def diagnostics(self, place: CheckedPlace, text: bytes) -> list[Diagnostic]:
        """The diagnostics of *place* with *text*.

        Raises:
            OSError, TypeServerError: The checker has ended.
        """


class Projects(Protocol):
    """The projects of a language."""

    def key(self, place: CheckedPlace) -> object:
        """The value by which places of one project are equal."""

    def make(self, place: CheckedPlace, folder: Path, read: Callable[[Path], bytes | None]) -> Project:
        """The project of *place* in an empty *folder*. *read* decides alone about the files that it reads.

        Raises:
            OSError, TypeServerError: The checker does not start.
        """


@dataclass(slots=True)
class _Current:
    """The project in use, its key, and its folder."""

    key: object
    folder: TemporaryDirectory[str]
    project: Project

    def end(self) -> None:
        self.project.server.end()
        self.folder.cleanup()


@dataclass(slots=True)
class TypeChecker:
    """Answers questions with the checker of *projects*; *reader* decides about the files that may be read."""

    projects: Projects
    reader: Reader
    _current: _Current | None = None
    _opened: dict[Path, bytes] = field(default_factory=dict)

    def answer(self, question: CheckQuestion) -> CheckAnswer:
        """The first fault of each text of *question*.

        Raises:
            OSError, TypeServerError: The checker has ended; the next question starts it anew.
        """
        for path, text in question.opened:
            if text is None:
                self._opened.pop(path, None)
            else:
                self._opened[path] = text
        try:
            return self._answer(question.place, question.texts)
        except BaseException:
            self.end()
            raise

    def end(self) -> None:
        """End the checker and remove its folder."""
        current, self._current = self._current, None
        if current is not None:
            current.end()

    def _answer(self, place: CheckedPlace, texts: tuple[bytes, ...]) -> CheckAnswer:
        project = self._project_of(place)
        if not texts:
            project.refresh()
            project.diagnostics(place, b"")
        faults = [_fault(project, place, text) for text in texts]
        if project.server.size > project.server.bounds.size:
            self.end()
        return tuple(faults)

    def _project_of(self, place: CheckedPlace) -> Project:
        key = self.projects.key(place), place.folders, place.excluded, place.against
        if self._current is None or self._current.key != key:
            self.end()
            folder = TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-", ignore_cleanup_errors=True)
            read = self.reader(place)
            try:
                project = self.projects.make(
                    place, Path(folder.name).resolve(), lambda path: self._opened.get(path) or read(path)
                )
            except BaseException:
                folder.cleanup()
                raise
            self._current = _Current(key, folder, project)
        return self._current.project


def _fault(project: Project, place: CheckedPlace, text: bytes) -> TypeFault | None:
    """The first fault of *text*; only if there seems to be one, *place* is also checked without *text*."""
    found = project.diagnostics(place, text)
    around = place.left, text, place.right
    if first_fault(project, *around, found) is None:
        return None
    return first_fault(project, *around, found, project.diagnostics(place, b""))


def serve(projects: Projects, reader: Reader) -> None:
    """Answer the questions of standard input up to its end; see `TypeChecker`.

    A question about a text that is not UTF-8, or that ends the checker, has the answer None.
    """
    source, sink = claim_pipes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that the folder is removed
    limit_memory(LARGEST_BYTES)
    remove_abandoned(Path(gettempdir()))
    checker = TypeChecker(projects, reader)
    try:
        _answer_all(checker, source, sink)
    finally:
        checker.end()


def remove_abandoned(parent: Path) -> None:
    """Remove the temporary folders in *parent* of processes that were killed."""
    for folder in parent.glob(f"{PREFIX}*-*"):
        number = folder.name.removeprefix(PREFIX).partition("-")[0]
        if number.isdecimal() and not _is_running(int(number)):
            shutil.rmtree(folder, ignore_errors=True)


def _is_running(process: int) -> bool:
    """True unless it is certain that there is no such *process*."""
    if os.name != "posix":
        return True  # there the signal 0 would end it
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _answer_all(checker: TypeChecker, source: BinaryIO, sink: BinaryIO) -> None:
    with suppress(EOFError, BrokenPipeError, pickle.UnpicklingError):  # the client has ended
        while True:
            question: CheckQuestion = pickle.load(source)
            answer: CheckAnswer | None = None
            with suppress(OSError, TypeServerError, UnicodeDecodeError, ValueError):
                answer = checker.answer(question)
            pickle.dump(answer, sink)
            sink.flush()


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
    """Checks texts in a process that *command* starts when it is first needed.

    Without an installed checker nothing starts, and no fault is known.
    """

    def __init__(self, command: Sequence[str], *, is_installed: bool) -> None:
        self._changed = Condition()
        self._next: _Asked | None = None
        self._is_busy = False
        self._callbacks: list[Callable[[], None]] = []
        self._keeper: Thread | None = None
        self._process = HelperProcess(command)
        self._sent: dict[Path, bytes] = {}
        self._paused_until = 0.0
        self._cost: tuple[Path | None, float] = None, 0.0
        self._is_installed = is_installed

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
