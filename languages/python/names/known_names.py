"""The names that are known at a cursor, and the questions to the process that looks them up.

Names are sets that can be searched by prefix as well.
"""

from __future__ import annotations

import builtins
import keyword
import re
from bisect import bisect_left
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from fimlsp.languages.python.names.code_state import CodeState, NameRole, state_at_end

NameKind = Literal["visible", "attributes", "keywords", "imports"]

NameQuery = tuple[NameKind, bytes]
"""A kind of names, and the name of the value, the function or the module that has them."""

BUILTIN_NAMES = frozenset(
    name.encode() for name in (*dir(builtins), *keyword.kwlist, *keyword.softkwlist, "self", "cls")
)
"""The names that need not be defined in a file: keywords, builtins, and the usual names of an object."""


class NameSet:
    """An immutable set of names."""

    __slots__ = ("_names", "_sorted")

    def __init__(self, names: Iterable[bytes] = ()) -> None:
        self._names = frozenset(names)
        self._sorted = sorted(self._names)

    def __contains__(self, name: bytes) -> bool:
        return name in self._names

    def __len__(self) -> int:
        return len(self._sorted)

    def __repr__(self) -> str:
        return f"NameSet({self._sorted!r})"

    def has(self, word: bytes, is_whole: bool) -> bool:
        """True if *word* is one of the names or, unless it *is_whole*, the prefix of one. O(log len)."""
        if is_whole:
            return word in self._names
        index = bisect_left(self._sorted, word)
        return index < len(self._sorted) and self._sorted[index].startswith(word)


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The names known at a cursor; where an entry is missing, any name is possible.

    Attributes:
        visible: the names that can be used.
        attributes: those of values, by the names with dots of these, such as `self.items`.
        keywords: the names of arguments of functions, by the names with dots of these.
        imports: the names of modules, by the text after `from`.
        functions: attributes that are functions, by their owners; visible functions by the empty name.
        is_older: True if the visible names are those of an older text.
    """

    visible: NameSet | None = None
    attributes: Mapping[bytes, NameSet] = field(default_factory=dict, hash=False)
    keywords: Mapping[bytes, NameSet] = field(default_factory=dict, hash=False)
    imports: Mapping[bytes, NameSet] = field(default_factory=dict, hash=False)
    functions: Mapping[bytes, frozenset[bytes]] = field(default_factory=dict, hash=False)
    is_older: bool = False

    def is_surely_visible(self, name: bytes) -> bool:
        """True if *name* was looked up in the newest text, and can be used."""
        return self.visible is not None and not self.is_older and name in self.visible

    def has_function(self, chain: bytes) -> bool:
        """True if *chain*, a name or names with dots, is known to be a function."""
        owner, dot, name = chain.rpartition(b".")
        return bool(owner or not dot) and name in self.functions.get(owner, ())


MOST_BYTES = 200_000
"""The largest file that is analysed, as the time and memory of jedi grow with the file."""

OWNERS_MAX = 8
"""Values whose attributes are looked up because one is used near the cursor."""

BLOCK_LINES_MAX = 500

_NEAR_LEFT, _NEAR_RIGHT = 3_000, 1_000
_CHAIN = rb"[A-Za-z_\x80-\xff][\w\x80-\xff]*(?:\.[A-Za-z_\x80-\xff][\w\x80-\xff]*)*"
_OWNER = re.compile(rb"(?<![\w.\x80-\xff)\]\"'])(%b)\.(?=[A-Za-z_\x80-\xff])" % _CHAIN)
_HEADER = re.compile(rb"\s*(?:async\s+def|def|class)\b")


@dataclass(frozen=True, slots=True)
class Question:
    """A question for names that are known in a line of a file.

    Attributes:
        path: the path of the file; None for a buffer without one.
        folders: the folders of the workspace, in which its imports are searched.
        excluded: globs of files that may not be read.
        above, below: the lines around; the line itself does not count.
        indentation: the indentation of the line.
        queries: the names to look up.
    """

    path: Path | None
    folders: tuple[Path, ...]
    excluded: tuple[str, ...]
    above: bytes
    indentation: bytes
    below: bytes
    queries: tuple[NameQuery, ...]


@dataclass(frozen=True, slots=True)
class LookUpStarted:
    """The look-up of *query* starts. If no other answer follows, it has ended the process."""

    query: NameQuery


@dataclass(frozen=True, slots=True)
class Finding:
    """The *names* for *query*, and those of them that are *functions*."""

    query: NameQuery
    names: tuple[bytes, ...]
    functions: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True)
class NothingFound:
    """The look-up of *query* has ended without names: any are possible there, as in a string."""

    query: NameQuery


@dataclass(frozen=True, slots=True)
class Done:
    """The end of the answers to a question."""


@dataclass(frozen=True)
class NamesCursor:
    """A cursor between *left* and *right* in the file at *path*; see `Question` for the other fields."""

    path: Path | None
    folders: tuple[Path, ...]
    left: bytes
    right: bytes
    excluded: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return len(self.left) + len(self.right)

    @cached_property
    def line_key(self) -> Hashable:
        """The key of the line: all that its known names depend on."""
        above, indentation, below = self._lines
        return self.path, hash(above), indentation, hash(below)

    @cached_property
    def block(self) -> bytes:
        """The header of the innermost function or class around the cursor; empty if there is none."""
        above, indentation, _ = self._lines
        for line in reversed(above.splitlines()[-BLOCK_LINES_MAX:]):
            if _HEADER.match(line) and len(line) - len(line.lstrip()) < len(indentation):
                return line
        return b""

    @cached_property
    def state(self) -> CodeState:
        """The lexical state at the end of *left*."""
        return state_at_end(self.left)

    def queries(self, missed: tuple[NameQuery, ...] = ()) -> tuple[NameQuery, ...]:
        """The queries at the cursor, the most important first, with those *missed* at other cursors."""
        visible: NameQuery = "visible", b""
        owners = self._owners_nearby()
        return tuple(dict.fromkeys([visible, *_queries_at(self.state), *missed, *owners]))

    def question(self, queries: tuple[NameQuery, ...]) -> Question:
        """The question with *queries*."""
        return Question(self.path, self.folders, self.excluded, *self._lines, queries)

    @cached_property
    def _lines(self) -> tuple[bytes, bytes, bytes]:
        """The lines above the cursor's, its indentation, and the lines below."""
        line = self.left[self.left.rfind(b"\n") + 1 :]
        indentation = line[: len(line) - len(line.lstrip())]
        return self.left[: len(self.left) - len(line)], indentation, self.right.partition(b"\n")[2]

    def _owners_nearby(self) -> list[NameQuery]:
        """Queries for the values of which an attribute is used near the cursor, the nearest first."""
        before = _OWNER.findall(self.left[-_NEAR_LEFT:])
        after = _OWNER.findall(self.right[:_NEAR_RIGHT])
        return [("attributes", owner) for owner in dict.fromkeys([*before[::-1], *after])][:OWNERS_MAX]


def _queries_at(state: CodeState) -> list[NameQuery]:
    """The queries for a name at *state*."""
    queries = list[NameQuery]()
    if state.role is NameRole.ATTRIBUTE and state.owner:
        queries.append(("attributes", state.owner))
    if state.role is NameRole.IMPORTED:
        queries.append(("imports", state.module))
    if state.callee:
        queries.append(("keywords", state.callee))
    return queries
