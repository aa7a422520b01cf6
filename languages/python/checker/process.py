"""The process of the checker, and its client, which prepares places while the user types.

The process copies modules, asks ty, and answers one question after the other. It holds ty and its folder, and
ends both with itself. A client starts it again when it has ended.

In the client a thread keeps the process and sends one question at a time, the newest. `Checker.faults` waits
for its answer as long as the caller allows, and no other call waits. Without an answer no fault is known.
"""

from __future__ import annotations

import importlib.util
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
from typing import BinaryIO

from fimlsp.languages.python.checker.modules import (
    UNTITLED,
    ModuleCopies,
    Name,
    above_package,
    imported_modules,
    installed_packages,
    source_folders,
)
from fimlsp.languages.python.checker.ty_server import Diagnostic, TyError, TypeFault, TyServer, first_fault
from fimlsp.processes.bounded import claim_pipes, limit_memory
from fimlsp.processes.helper import HelperEndedError, HelperProcess

PREFIX = "fimlsp-types-"
"""The start of the names of temporary folders, before the number of the process."""

MOST_BYTES = 300_000
"""The largest file that is checked."""

GROWN_BYTES = 400_000_000
"""The size from which ty is started anew after a question."""

LARGEST_BYTES = 2_000_000_000
"""The limit of the address spaces of the process and of ty, where the system can set one."""


@dataclass(frozen=True, slots=True)
class CheckedPlace:
    """A place between *left* and *right* in the file at *path*; None for a buffer without one.

    *folders* and *excluded* decide about the files that may be read. *version* is that of Python.
    """

    path: Path | None
    folders: tuple[Path, ...]
    excluded: tuple[str, ...]
    version: tuple[int, int]
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


@dataclass(slots=True)
class _Project:
    """ty with the copies of modules for one search path and version."""

    key: object
    scratch: TemporaryDirectory[str]
    ty: TyServer
    copies: ModuleCopies
    imports: tuple[Name, ...] = ()

    def end(self) -> None:
        self.ty.end()
        self.scratch.cleanup()


@dataclass(slots=True)
class TypeChecker:
    """Answers questions with the *program* ty; *reader* decides about the files that may be read."""

    program: str
    reader: Reader
    _project: _Project | None = None
    _opened: dict[Path, bytes] = field(default_factory=dict)

    def answer(self, question: CheckQuestion) -> CheckAnswer:
        """The first fault of each text of *question*.

        Raises:
            OSError, TyError: ty has ended; the next question starts it anew.
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
        """End ty and remove its folder."""
        project, self._project = self._project, None
        if project is not None:
            project.end()

    def _answer(self, place: CheckedPlace, texts: tuple[bytes, ...]) -> CheckAnswer:
        project = self._project_of(place)
        document = _document_name(place.path)
        if not texts:
            project.imports = ()  # so that all copies are compared with the disk
            self._diagnostics(project, document, place, b"")
        faults = [self._fault(project, document, place, text) for text in texts]
        if project.ty.size > GROWN_BYTES:
            self.end()
        return tuple(faults)

    def _fault(self, project: _Project, document: Name, place: CheckedPlace, text: bytes) -> TypeFault | None:
        """The first fault of *text*.

        Only if there seems to be one, the place is also checked without *text*.
        """
        found = self._diagnostics(project, document, place, text)
        if first_fault(place.left, text, place.right, found) is None:
            return None
        before = self._diagnostics(project, document, place, b"")
        return first_fault(place.left, text, place.right, found, before)

    def _project_of(self, place: CheckedPlace) -> _Project:
        packages = (packages for folder in place.folders for packages in installed_packages(folder))
        roots = (*source_folders(place.path, place.folders), *packages)
        key = roots, place.folders, place.excluded, place.version
        if self._project is None or self._project.key != key:
            self.end()
            scratch = TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-", ignore_cleanup_errors=True)
            try:
                ty = TyServer(self.program, Path(scratch.name).resolve(), place.version)
            except BaseException:
                scratch.cleanup()
                raise
            read = self.reader(place)
            copies = ModuleCopies(ty.modules, roots, lambda path: self._opened.get(path) or read(path))
            self._project = _Project(key, scratch, ty, copies)
        return self._project

    def _diagnostics(
        self, project: _Project, document: Name, place: CheckedPlace, text: bytes
    ) -> list[Diagnostic]:
        data = place.left + text + place.right
        imports = tuple(imported_modules(data, document[:-1]))
        if imports != project.imports:
            project.ty.announce(project.copies.update(document, imports))
            project.imports = imports
        ending = ".pyi" if place.path is not None and place.path.suffix == ".pyi" else ".py"
        path, changes = project.copies.place(document, ending)
        project.ty.announce(changes)
        return project.ty.diagnostics(path, data.decode())


def _document_name(path: Path | None) -> Name:
    """The name of the module at *path* within its outermost package."""
    if path is None:
        return (UNTITLED,)
    return path.relative_to(above_package(path.parent)).with_suffix("").parts


def serve(program: str, reader: Reader) -> None:
    """Answer the questions of standard input up to its end; see `TypeChecker`.

    A question about a text that is not UTF-8, or that ends ty, has the answer None.
    """
    source, sink = claim_pipes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that the folder is removed
    limit_memory(LARGEST_BYTES)
    remove_abandoned(Path(gettempdir()))
    checker = TypeChecker(program, reader)
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
            with suppress(OSError, TyError, UnicodeDecodeError, ValueError):
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
