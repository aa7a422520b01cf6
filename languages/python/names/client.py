"""The client of the analysis: sends questions to the process, and keeps the names found so far.

No call waits, except `Analysis.wait`. A thread keeps the process and sends one question at a time, the newest
first. The names of a line remain known while only that line changes. A new line of the same block starts with
the names of the one before it, which are those of an older text.
"""

from __future__ import annotations

import importlib.util
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Condition, Thread
from typing import NamedTuple

from fimlsp.languages.python.names.known_names import (
    MOST_BYTES,
    Done,
    Finding,
    KnownNames,
    LookUpStarted,
    NameQuery,
    NamesCursor,
    NameSet,
    NothingFound,
)
from fimlsp.processes.helper import HelperEndedError, HelperProcess, command_of

PROCESS_COMMAND = command_of("fimlsp.languages.python.names.process", "serve")

LINES_MAX = 500
"""Lines whose names are kept."""

MISSED_MAX = 8
"""Missed queries of a file that are sent with its next question."""

RETRY_S = 2.0, 32.0
"""Seconds before a query that failed in a file is sent again: at first, and at most, after several failures.

The first look-up in a file may take too long because of its imports; these are known to the second.
"""

NOT_INSTALLED = "the package jedi is not installed"
TOO_LARGE = f"the file has more than {MOST_BYTES:,} bytes"
NOT_YET = "they are still being looked up"
ENDED = "the process that looks them up has ended and is started again"


@dataclass(slots=True)
class _Line:
    """The names known in a line, and the queries sent for it; *is_done* once all are answered."""

    names: KnownNames
    sent: set[NameQuery] = field(default_factory=set)
    is_done: bool = False


@dataclass(slots=True)
class _File:
    """The block and line of the last cursor in a file, and the queries missed in the file."""

    block: bytes
    line: _Line
    missed: dict[NameQuery, None] = field(default_factory=dict)


class _Retry(NamedTuple):
    """The time from which a query may be sent again, and the pause before it, in seconds."""

    at: float
    pause: float


_NOW = _Retry(0.0, RETRY_S[0] / 2)


class Analysis:
    """Looks up the names at cursors, in a process that *command* starts when it is first needed."""

    def __init__(self, command: Sequence[str] = PROCESS_COMMAND) -> None:
        self._lines: OrderedDict[Hashable, _Line] = OrderedDict()
        self._files: dict[Hashable, _File] = {}
        self._next: tuple[NamesCursor, tuple[NameQuery, ...], _Line] | None = None
        self._changed = Condition()
        self._keeper: Thread | None = None
        self._process = HelperProcess(command)
        self._is_busy = False
        self._callbacks: list[Callable[[], None]] = []
        self._retries: OrderedDict[tuple[Path | None, NameQuery], _Retry] = OrderedDict()
        self._is_installed = importlib.util.find_spec("jedi") is not None

    def look(self, file: Hashable, cursor: NamesCursor) -> None:
        """Start the look-up of the names at *cursor* in *file*, unless they are known."""
        if not self._is_installed or cursor.size > MOST_BYTES:
            return
        line = self._line(file, cursor)
        missed = tuple(self._files[file].missed)
        queries = self._due(cursor, (query for query in cursor.queries(missed) if query not in line.sent))
        if not queries:
            return
        line.is_done = False
        with self._changed:
            self._next = cursor, queries, line
            if self._keeper is None:
                self._keeper = Thread(target=self._send_questions, name="analysis", daemon=True)
                self._keeper.start()
            self._changed.notify_all()

    def known(self, file: Hashable, cursor: NamesCursor) -> KnownNames:
        """The names known at *cursor* by now."""
        known = self._files.get(file)
        return KnownNames() if known is None or cursor.size > MOST_BYTES else known.line.names

    def problem(self, file: Hashable, cursor: NamesCursor) -> str | None:
        """The reason why the names at *cursor* are not known, in words; None if they are known."""
        if not self._is_installed:
            return NOT_INSTALLED
        if cursor.size > MOST_BYTES:
            return TOO_LARGE
        known = self._files.get(file)
        if known is not None and (known.line.is_done or known.line.names.visible is not None):
            return None
        return ENDED if self._process.failures else NOT_YET

    def wait(self, file: Hashable, seconds: float) -> None:
        """Wait until all about *file* is answered, or the process has ended; at most *seconds*."""
        known = self._files.get(file)
        with self._changed:
            self._changed.wait_for(lambda: known is None or known.line.is_done or self._is_idle, seconds)

    @property
    def _is_idle(self) -> bool:
        return self._next is None and not self._is_busy

    def is_at_rest(self, callback: Callable[[], None]) -> bool:
        """True if no look-up is under way; else its thread calls *callback* after it."""
        with self._changed:
            is_at_rest = self._is_idle
            if not is_at_rest:
                self._callbacks.append(callback)
        return is_at_rest

    def miss(self, file: Hashable, missed: Iterable[NameQuery]) -> None:
        """Add the queries *missed* in *file* to its next question."""
        known = self._files.get(file)
        if known is not None:
            known.missed.update(dict.fromkeys(missed))
            for query in [*known.missed][:-MISSED_MAX]:
                del known.missed[query]

    def forget(self, is_closed: Callable[[Hashable], bool]) -> None:
        """Forget the files for which *is_closed* holds."""
        for file in [*filter(is_closed, self._files)]:
            del self._files[file]

    def close(self) -> None:
        """End the process."""
        with self._changed:
            self._is_installed, self._next = False, None
        self._process.kill()

    def _line(self, file: Hashable, cursor: NamesCursor) -> _Line:
        before = self._files.get(file)
        line = self._lines.get(cursor.line_key)
        if line is None:
            is_same_block = before is not None and before.block == cursor.block
            known = before.line.names if before is not None and is_same_block else KnownNames()
            line = _Line(replace(known, is_older=known.visible is not None))
            self._lines[cursor.line_key] = line
            while len(self._lines) > LINES_MAX:
                self._lines.popitem(last=False)
        self._lines.move_to_end(cursor.line_key)
        self._files[file] = _File(cursor.block, line, before.missed if before is not None else {})
        return line

    def _send_questions(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._next is not None)
                assert self._next is not None
                cursor, queries, line = self._next
                self._next, self._is_busy = None, True
            line.sent.update(queries)
            if self._is_answered(cursor, queries, line):
                self._process.failures = 0
            else:
                self._process.end()
                self._process.failures += 1
                line.sent.difference_update(queries)
            with self._changed:
                self._is_busy = False
                if (
                    self._process.failures == 1
                    and self._next is None
                    and (rest := self._due(cursor, queries))
                ):
                    self._next = cursor, rest, line
                    continue
                callbacks, self._callbacks = self._callbacks, []
                self._changed.notify_all()
            for callback in callbacks:
                callback()
            time.sleep(self._process.pause_s)

    def _is_answered(self, cursor: NamesCursor, queries: tuple[NameQuery, ...], line: _Line) -> bool:
        """Send a question, and take in each finding as it comes. Returns False if the process has ended."""
        started = set[NameQuery]()
        try:
            self._process.send(cursor.question(queries))
            while not isinstance(answer := self._process.receive(), Done):
                if isinstance(answer, LookUpStarted):
                    started.add(answer.query)
                elif isinstance(answer, Finding | NothingFound):
                    started.discard(answer.query)
                    self._retries.pop((cursor.path, answer.query), None)
                    line.names = with_finding(line.names, answer)
            line.is_done = True
        except HelperEndedError:
            return False
        finally:
            line.sent.difference_update(started)
            self._postpone(cursor, started)
        return True

    def _due(self, cursor: NamesCursor, queries: Iterable[NameQuery]) -> tuple[NameQuery, ...]:
        """Those of *queries* that did not fail a moment ago."""
        now = time.monotonic()
        return tuple(query for query in queries if self._retries.get((cursor.path, query), _NOW).at <= now)

    def _postpone(self, cursor: NamesCursor, failed: Iterable[NameQuery]) -> None:
        """Do not send *failed* queries again for `RETRY_S`."""
        for query in failed:
            last = self._retries.pop((cursor.path, query), _NOW)
            pause = min(2 * last.pause, RETRY_S[1])
            self._retries[cursor.path, query] = _Retry(time.monotonic() + pause, pause)
        while len(self._retries) > LINES_MAX:
            self._retries.popitem(last=False)


def with_finding(names: KnownNames, finding: Finding | NothingFound) -> KnownNames:
    """*names* with those of *finding*. Where nothing visible was found, the names of an older text go."""
    kind, name = finding.query
    if isinstance(finding, NothingFound):
        return replace(names, visible=None, is_older=False) if kind == "visible" else names
    more, functions = NameSet(finding.names), {**names.functions, name: frozenset(finding.functions)}
    match kind:
        case "visible":
            return replace(names, visible=more, functions=functions, is_older=False)
        case "attributes":
            return replace(names, attributes={**names.attributes, name: more}, functions=functions)
        case "keywords":
            return replace(names, keywords={**names.keywords, name: more})
        case "imports":
            return replace(names, imports={**names.imports, name: more})
