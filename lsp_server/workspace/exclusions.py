"""Matches the globs of the option `exclude`, which are like those of editors and `.gitignore`.

`*` and `?` stop at a slash, `**` stands for any number of folders, `{a,b}` is either, `[a-z]` a character. A
glob without a slash is for the file's name alone, one that begins with a slash or a drive for the whole path,
others for the path from any folder on.

Globs may come from a hostile workspace, so matching takes time proportional to the product of the lengths of
glob and path, whatever the glob: each folder's name is matched by itself, by `fnmatch`, whose patterns do not
backtrack. (wcmatch, which knows all of this syntax, takes seconds for `**/a/**/a/**/a/**/a/**/a/b`.)
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePath

import bracex

MOST_EXPANDED = 100
"""Globs that one glob with braces may stand for."""

LONGEST_GLOB = 256
MOST_CHARACTERS = 10_000
"""Characters of all globs together, with braces written out."""

_Parts = tuple[re.Pattern[str] | None, ...]
"""What matches each name of a path; None: any number of names."""


@dataclass(frozen=True, slots=True)
class Exclusions:
    """The files that some globs mean. *problems* has a sentence for each glob that is ignored."""

    problems: tuple[str, ...] = ()
    _globs: tuple[_Parts, ...] = ()

    def has(self, path: PurePath) -> bool:
        """Whether any of the globs means the file at the absolute *path*."""
        if not self._globs:
            return False
        names = path.as_posix().split("/")
        return any(_matches(parts, names) for parts in self._globs)


NOTHING = Exclusions()


@lru_cache(maxsize=16)
def exclusions(globs: tuple[str, ...]) -> Exclusions:
    """The files that *globs* mean. O(characters)."""
    problems: list[str] = []
    plain: list[str] = []
    size = 0
    for glob in dict.fromkeys(globs):
        if len(glob) > LONGEST_GLOB:
            problems.append(f"exclude: {glob[:20]}… is longer than {LONGEST_GLOB} characters; it is ignored.")
            continue
        try:
            written = bracex.expand(glob, keep_escapes=True, limit=MOST_EXPANDED)
        except bracex.ExpansionLimitException:
            problems.append(f"exclude: {glob} stands for more than {MOST_EXPANDED} globs; it is ignored.")
            continue
        size += sum(map(len, written))
        if size > MOST_CHARACTERS:
            problems.append(f"exclude: the globs from {glob} on are too many; they are ignored.")
            break
        plain += written
    return Exclusions(tuple(problems), tuple(map(_to_parts, plain)))


def _to_parts(glob: str) -> _Parts:
    names = glob.split("/")
    if not PurePath(glob).is_absolute():
        names = ["**", *names]
    if names[-1] == "**":
        names.append("*")  # what is in a folder, and not the folder
    return tuple(None if name == "**" else re.compile(fnmatch.translate(name)) for name in names)


def _matches(parts: _Parts, names: list[str]) -> bool:
    """Whether *parts* match all of *names*. O(len(parts) * len(names)).

    Where a part does not fit, only the last `**` is tried with one name more: what an earlier one could take
    instead, the last one can take as well.
    """
    part = name = taken = 0
    anything = -1  # the last `**` so far; the names from `taken` on are what it does not stand for
    while name < len(names):
        wanted = parts[part] if part < len(parts) else None
        if part < len(parts) and wanted is None:
            anything, taken = part, name
            part += 1
        elif wanted is not None and wanted.match(names[name]):
            part, name = part + 1, name + 1
        elif anything >= 0:
            taken += 1
            part, name = anything + 1, taken
        else:
            return False
    return all(rest is None for rest in parts[part:])
