"""The faults that type checkers find in suggestions of Python, TypeScript and JavaScript, in other processes.

A file is prepared while it is edited, so that a text takes 5 ms for each 100 lines. A request waits at most a
share of its time limit for all its answers. Without them, its texts count as right. TypeScript is checked
with the compiler that its user names.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fimlsp.languages.type_checker.process import CheckedPlace, Checker
from fimlsp.lsp_server.messages import Workspace
from fimlsp.lsp_server.worker.file_guard import CHECKER_COMMAND, TYPESCRIPT_CHECKER_COMMAND
from fimlsp.lsp_server.workspace_files import exclusions

DEADLINE_SHARE = 0.1
"""The share of its time limit that a request waits for the checker."""

PREPARE_S = 2.0
"""Seconds between two preparations of a file."""

QUESTIONS_MAX = 6
"""Texts of a request that are checked one after the other."""


@dataclass(slots=True)
class TypesAtCursor:
    """The checks of texts at one cursor, which take at most *seconds_left* together.

    *opened* are the other documents. *held* describes the first fault, once there is one.
    """

    checker: Checker
    place: CheckedPlace
    opened: Mapping[Path, bytes]
    seconds_left: float
    held: str | None = None
    _questions_left: int = QUESTIONS_MAX
    _known: dict[bytes, int | None] = field(default_factory=dict)

    def fault_ends(self, texts: Iterable[bytes]) -> Sequence[int | None]:
        """For each of *texts*, the end of the part that has its first fault; None without a known fault."""
        wanted = [*texts]
        new = [text for text in dict.fromkeys(wanted) if text not in self._known]
        if new and self._questions_left > 0 and self.seconds_left > 0:
            self._questions_left -= 1
            started = time.monotonic()
            faults = self.checker.faults(self.place, new, self.opened, self.seconds_left) or ()
            self.seconds_left -= time.monotonic() - started
            for text, fault in zip(new, faults, strict=False):
                self._known[text] = None if fault is None else fault.end
                if fault is not None and self.held is None:
                    self.held = fault.words
        return [self._known.get(text) for text in wanted]

    def last_sound(self, text: bytes) -> int | None:
        """The length up to which beginnings of *text* may be right; None if no fault is known."""
        end = self.fault_ends([text])[0]
        return None if end is None else end - 1


class TypeChecks:
    """The type checks of all clients; *python* and *typescript* make them."""

    def __init__(self, python: Checker | None = None, typescript: Checker | None = None) -> None:
        has_ty = importlib.util.find_spec("ty") is not None
        self.python = python or Checker(CHECKER_COMMAND, is_installed=has_ty)
        self.typescript = typescript or Checker(TYPESCRIPT_CHECKER_COMMAND, is_installed=True)
        self._workspaces: dict[int, Workspace] = {}
        self._prepared: tuple[int, Path | None] | None = None
        self._prepared_at = 0.0

    def enter(self, workspace: Workspace) -> None:
        """Set the files that may be read for a client."""
        self._workspaces[workspace.client] = workspace
        self._prepared = None

    def leave(self, client: int) -> None:
        """Drop everything of a client."""
        self._workspaces.pop(client, None)

    def at(
        self,
        client: int,
        path: Path | None,
        version: tuple[int, int] | None,
        around: tuple[bytes, bytes],
        opened: Mapping[Path, bytes],
        deadline_ms: int,
    ) -> TypesAtCursor | None:
        """The checks at a cursor in the file at *path*, with the texts *around* it. Does nothing yet.

        *version* is that of Python; None for TypeScript and JavaScript, which are checked if the client names
        a compiler.
        *opened* are the client's other documents, *deadline_ms* limits the time of the request.
        """
        workspace = self._workspaces.get(client, Workspace(client, (), ()))
        if version is None and not workspace.compiler:
            return None
        against = Path(workspace.compiler) if version is None else version
        checker = self.typescript if version is None else self.python
        excluded = exclusions(workspace.exclude)
        readable = {other: text for other, text in opened.items() if not excluded.has(other)}
        place = CheckedPlace(path, tuple(map(Path, workspace.folders)), workspace.exclude, against, *around)
        return TypesAtCursor(checker, place, readable, DEADLINE_SHARE * deadline_ms / 1000)

    def prepare(self, client: int, here: TypesAtCursor) -> None:
        """Start to read all that texts *here* depend on, unless that was done a moment ago."""
        file, now = (client, here.place.path), time.monotonic()
        if file != self._prepared or now > self._prepared_at + PREPARE_S:
            self._prepared, self._prepared_at = file, now
            here.checker.prepare(here.place, here.opened)

    def are_at_rest(self, callback: Callable[[], None]) -> bool:
        """As `Checker.is_at_rest`, for both checkers."""
        return self.python.is_at_rest(callback) and self.typescript.is_at_rest(callback)

    def close(self) -> None:
        """End both processes."""
        self.python.close()
        self.typescript.close()
