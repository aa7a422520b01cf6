"""The client of the analysis: asks the process beside other work, and knows what was found so far.

Nothing here waits. A thread keeps the process and asks it one question at a time, the newest first. What is
known of a line serves as long as nothing but that line changes; a new line of the same block begins with what
the one before it knew.
"""

from __future__ import annotations

import importlib.util
import pickle
import subprocess
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Condition, Thread

from fimlsp.languages.python.analysis.questions import MOST_BYTES, Begun, Cursor, Done, Finding
from fimlsp.languages.python.names.known_names import KnownNames, NameSet, Wanted

PROCESS_COMMAND = (
    sys.executable,
    "-c",
    "import sys; sys.path = [p for p in sys.path if p]; "
    "from fimlsp.languages.python.analysis.process import serve; serve()",
)

LINES_MAX = 500
"""Lines of which the names are remembered."""

MISSED_MAX = 8
"""Values of a file that were missed, to be looked up with the next question."""

RETRY_S = 20.0
"""What could not be found in a file is not looked up there again for so long."""

LONGEST_PAUSE_S = 60.0
"""Between the end of a process and the start of the next."""

NOT_INSTALLED = "the package jedi is not installed"
TOO_LARGE = f"the file has more than {MOST_BYTES:,} bytes"
NOT_YET = "they are still being looked up"
ENDED = "the process that looks them up has ended and is started again"


@dataclass(slots=True)
class _Line:
    """What is known in a line, and what was asked about it; *is_done* when all of that is answered."""

    names: KnownNames
    asked: set[Wanted] = field(default_factory=set)
    is_done: bool = False


@dataclass(slots=True)
class _File:
    """The line asked about last, the block that it is in, and what was missed in the file."""

    block: bytes
    line: _Line
    missed: dict[Wanted, None] = field(default_factory=dict)


class Analysis:
    """Looks up the names at cursors, in a process that *command* starts when it is first needed."""

    def __init__(self, command: Sequence[str] = PROCESS_COMMAND) -> None:
        self._command = command
        self._lines: OrderedDict[Hashable, _Line] = OrderedDict()
        self._files: dict[Hashable, _File] = {}
        self._next: tuple[Cursor, tuple[Wanted, ...], _Line] | None = None
        self._changed = Condition()
        self._keeper: Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._failures = 0
        self._is_asking = False
        self._to_tell: list[Callable[[], None]] = []
        self._futile: OrderedDict[tuple[Path | None, Wanted], float] = OrderedDict()
        self._is_installed = importlib.util.find_spec("jedi") is not None

    def look(self, file: Hashable, cursor: Cursor) -> None:
        """Begin to find out which names are known at *cursor* in *file*, unless they are known."""
        if not self._is_installed or cursor.size > MOST_BYTES:
            return
        line = self._line(file, cursor)
        missed = tuple(self._files[file].missed)
        now = time.monotonic()
        wanted = tuple(
            each
            for each in cursor.wanted(missed)
            if each not in line.asked and self._futile.get((cursor.path, each), 0.0) <= now
        )
        if not wanted:
            return
        line.is_done = False
        with self._changed:
            self._next = cursor, wanted, line
            if self._keeper is None:
                self._keeper = Thread(target=self._keep_asking, name="analysis", daemon=True)
                self._keeper.start()
            self._changed.notify_all()

    def known(self, file: Hashable, cursor: Cursor) -> KnownNames:
        """What is known at *cursor* by now."""
        found = self._files.get(file)
        return KnownNames() if found is None or cursor.size > MOST_BYTES else found.line.names

    def problem(self, file: Hashable, cursor: Cursor) -> str | None:
        """Why the names at *cursor* are not known, in words; None if they are."""
        if not self._is_installed:
            return NOT_INSTALLED
        if cursor.size > MOST_BYTES:
            return TOO_LARGE
        found = self._files.get(file)
        if found is not None and (found.line.is_done or found.line.names.visible is not None):
            return None
        return ENDED if self._failures else NOT_YET

    def wait(self, file: Hashable, seconds: float) -> None:
        """Wait until what was asked about *file* is answered, but no longer."""
        found = self._files.get(file)
        with self._changed:
            self._changed.wait_for(lambda: found is None or found.line.is_done, seconds)

    def is_at_rest(self, tell: Callable[[], None]) -> bool:
        """Whether nothing is being looked up; if something is, its thread calls *tell* once it has ended."""
        with self._changed:
            is_at_rest = self._next is None and not self._is_asking
            if not is_at_rest:
                self._to_tell.append(tell)
        return is_at_rest

    def miss(self, file: Hashable, missed: Iterable[Wanted]) -> None:
        """Take in what was *missed* in *file*; the next question there looks it up."""
        found = self._files.get(file)
        if found is not None:
            found.missed.update(dict.fromkeys(missed))
            for each in [*found.missed][:-MISSED_MAX]:
                del found.missed[each]

    def forget(self, is_closed: Callable[[Hashable], bool]) -> None:
        """Nothing of the files for which *is_closed* holds is needed any more."""
        for file in [*filter(is_closed, self._files)]:
            del self._files[file]

    def close(self) -> None:
        """End the process."""
        with self._changed:
            self._is_installed, self._next = False, None
        if self._process is not None:
            self._process.kill()

    def _line(self, file: Hashable, cursor: Cursor) -> _Line:
        before = self._files.get(file)
        line = self._lines.get(cursor.line_key)
        if line is None:
            is_same_block = before is not None and before.block == cursor.block
            line = _Line(before.line.names if before is not None and is_same_block else KnownNames())
            self._lines[cursor.line_key] = line
            while len(self._lines) > LINES_MAX:
                self._lines.popitem(last=False)
        self._lines.move_to_end(cursor.line_key)
        self._files[file] = _File(cursor.block, line, before.missed if before is not None else {})
        return line

    def _keep_asking(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._next is not None)
                assert self._next is not None
                cursor, wanted, line = self._next
                self._next, self._is_asking = None, True
            line.asked.update(wanted)
            if self._ask(cursor, wanted, line):
                self._failures = 0
            else:
                self._end()
                self._failures += 1
            with self._changed:
                self._is_asking = False
                told, self._to_tell = self._to_tell, []
                self._changed.notify_all()
            for tell in told:
                tell()
            time.sleep(min(2.0 ** (self._failures - 2), LONGEST_PAUSE_S) if self._failures > 1 else 0.0)

    def _ask(self, cursor: Cursor, wanted: tuple[Wanted, ...], line: _Line) -> bool:
        """Whether the process has answered; what it finds becomes known at once."""
        begun = set[Wanted]()
        try:
            process = self._running()
            assert process.stdin is not None
            assert process.stdout is not None
            pickle.dump(cursor.question(wanted), process.stdin)
            process.stdin.flush()
            while not isinstance(answer := pickle.load(process.stdout), Done):
                if isinstance(answer, Begun):
                    begun.add(answer.wanted)
                elif isinstance(answer, Finding):
                    begun.discard(answer.wanted)
                    line.names = with_finding(line.names, answer)
            line.is_done = True
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            return False
        finally:
            self._leave_alone(cursor, begun)
        return True

    def _leave_alone(self, cursor: Cursor, futile: Iterable[Wanted]) -> None:
        """Do not ask for a while for what could not be found."""
        for each in futile:
            self._futile[cursor.path, each] = time.monotonic() + RETRY_S
        while len(self._futile) > LINES_MAX:
            self._futile.popitem(last=False)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is not None:
            self._end()
        if self._process is None:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(OSError):
                process.communicate()


def with_finding(names: KnownNames, found: Finding) -> KnownNames:
    """*names* with what was *found*."""
    kind, name = found.wanted
    more, functions = NameSet(found.names), {**names.functions, name: frozenset(found.functions)}
    match kind:
        case "visible":
            return replace(names, visible=more, functions=functions)
        case "attributes":
            return replace(names, attributes={**names.attributes, name: more}, functions=functions)
        case "keywords":
            return replace(names, keywords={**names.keywords, name: more})
        case "imports":
            return replace(names, imports={**names.imports, name: more})
