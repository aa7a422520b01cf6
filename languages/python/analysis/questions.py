"""What the process of the analysis is asked, and what it answers."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from fimlsp.languages.python.names.code_state import CodeState, Place, state_behind
from fimlsp.languages.python.names.known_names import Wanted

MOST_BYTES = 200_000
"""Larger files are not analysed: the time and the memory that jedi takes grow with the file."""

OWNERS_MAX = 8
"""Values whose attributes are looked up because an attribute of theirs is used close by."""

BLOCK_LINES_MAX = 500

_NEAR_LEFT, _NEAR_RIGHT = 3_000, 1_000
_CHAIN = rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*(?:\.[A-Za-z_\x80-\xff][\w\x80-\xff]*)*"
_OWNER = re.compile(rb"(?<![\w.\x80-\xff)\]\"'])(%b)\.(?=[A-Za-z_\x80-\xff])" % _CHAIN)
_HEADER = re.compile(rb"\s*(?:async\s+def|def|class)\b")


@dataclass(frozen=True, slots=True)
class Question:
    """Which names are known in a line of a file.

    Attributes:
        path: the file; None if it has none.
        folders: those of the workspace, where its imports are looked for.
        excluded: globs of files that may not be read.
        above, below: the lines around; the line itself does not count.
        indentation: of the line.
        wanted: what to find out.
    """

    path: Path | None
    folders: tuple[Path, ...]
    excluded: tuple[str, ...]
    above: bytes
    indentation: bytes
    below: bytes
    wanted: tuple[Wanted, ...]


@dataclass(frozen=True, slots=True)
class Begun:
    """*wanted* is looked up now; if nothing else comes, that has ended the process."""

    wanted: Wanted


@dataclass(frozen=True, slots=True)
class Finding:
    """The *names* that are *wanted*, and which of them are *functions*."""

    wanted: Wanted
    names: tuple[bytes, ...]
    functions: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """The question is answered."""


@dataclass(frozen=True)
class Cursor:
    """A cursor between *left* and *right* in the file at *path*; see `Question` for the others."""

    path: Path | None
    folders: tuple[Path, ...]
    left: bytes
    right: bytes
    excluded: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return len(self.left) + len(self.right)

    @cached_property
    def line_key(self) -> Hashable:
        """What the names that are known in the line depend on."""
        above, indentation, below = self._lines
        return self.path, hash(above), indentation, hash(below)

    @cached_property
    def block(self) -> bytes:
        """The first line of the function or class that the cursor is in; empty if it is in none."""
        above, indentation, _ = self._lines
        for line in reversed(above.splitlines()[-BLOCK_LINES_MAX:]):
            if _HEADER.match(line) and len(line) - len(line.lstrip()) < len(indentation):
                return line
        return b""

    @cached_property
    def state(self) -> CodeState:
        """What is known of the code behind *left*."""
        return state_behind(self.left)

    def wanted(self, missed: tuple[Wanted, ...] = ()) -> tuple[Wanted, ...]:
        """What to find out at the cursor, the most important first; *missed* before, at other cursors."""
        visible: Wanted = "visible", b""
        owners = self._owners_nearby()
        return tuple(dict.fromkeys([visible, *_at(self.state), *missed, *owners]))

    def question(self, wanted: tuple[Wanted, ...]) -> Question:
        """The question for what is *wanted*."""
        return Question(self.path, self.folders, self.excluded, *self._lines, wanted)

    @cached_property
    def _lines(self) -> tuple[bytes, bytes, bytes]:
        """The lines above the cursor's, its indentation, and the lines below."""
        line = self.left[self.left.rfind(b"\n") + 1 :]
        indentation = line[: len(line) - len(line.lstrip())]
        return self.left[: len(self.left) - len(line)], indentation, self.right.partition(b"\n")[2]

    def _owners_nearby(self) -> list[Wanted]:
        """The values of which an attribute is used close by, the nearest first."""
        before = _OWNER.findall(self.left[-_NEAR_LEFT:])
        behind = _OWNER.findall(self.right[:_NEAR_RIGHT])
        return [("attributes", owner) for owner in dict.fromkeys([*before[::-1], *behind])][:OWNERS_MAX]


def _at(state: CodeState) -> list[Wanted]:
    """What a name right at the cursor depends on."""
    found = list[Wanted]()
    if state.place is Place.ATTRIBUTE and state.owner:
        found.append(("attributes", state.owner))
    if state.place is Place.IMPORTED:
        found.append(("imports", state.module))
    if state.callee:
        found.append(("keywords", state.callee))
    return found
