"""Files that the user does not want completed or read, by globs as editors and `.gitignore` have them.

`*` and `?` stop at a slash, `**` does not, `{a,b}` is either, `[a-z]` a character. A glob without a slash is
for the file's name alone, one that begins with a slash or a drive for the whole path, others for the path
from any folder on.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import PurePath

_PART = re.compile(
    r"(?P<folders>\*\*/)|(?P<all>\*\*)|(?P<some>\*)|(?P<one>\?)|(?P<set>\[!?[^]/]+\])|(?P<text>.)", re.DOTALL
)
_PLAIN = {"folders": "(?:.*/)?", "all": ".*", "some": "[^/]*", "one": "[^/]"}


def is_excluded(path: PurePath, globs: tuple[str, ...]) -> bool:
    """Whether any of *globs* means the file at the absolute *path*."""
    text = path.as_posix()
    return any(_compiled(glob).fullmatch(text) is not None for glob in globs)


@lru_cache(maxsize=1024)
def _compiled(glob: str) -> re.Pattern[str]:
    whole = PurePath(glob).is_absolute() or glob.startswith(("/", "**"))
    try:
        return re.compile(("" if whole else "(?:.*/)?") + _pattern(glob), re.DOTALL)
    except re.error:  # a set such as [z-a]
        return re.compile(re.escape(glob))


def _pattern(glob: str) -> str:
    pieces = []
    depth = 0
    for part in _PART.finditer(glob):
        kind, text = part.lastgroup or "", part[0]
        if kind == "set":
            negated = "^" if text[1] == "!" else ""
            text = f"[{negated}{re.escape(text[1:-1].lstrip('!'))}]".replace(r"\-", "-")
        elif kind != "text":
            text = _PLAIN[kind]
        elif text == "{" and "}" in glob[part.end() :]:
            text, depth = "(?:", depth + 1
        elif text == "}" and depth:
            text, depth = ")", depth - 1
        elif text == "," and depth:
            text = "|"
        else:
            text = re.escape(text)
        pieces.append(text)
    return "".join(pieces) + ")" * depth
