"""Case files of the Python grammar: one text a line, under the versions in which it is valid.

`↵` is a line end. Texts before the first heading are valid in all versions. A heading like
`--- until 3.8, since 3.12 ---` names the versions of those below it, ends included; `invalid` is none.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from fimlsp.languages.python.versions import PYTHON_VERSIONS, PythonVersion, version_text

FILES = sorted((Path(__file__).parent / "cases" / "grammar").glob("*.txt"))
RULE = "---"


class Case(NamedTuple):
    """A text and the versions in which it is valid."""

    text: str
    versions: frozenset[PythonVersion]


def cases(path: Path) -> list[Case]:
    """The cases of a file."""
    found: list[Case] = []
    versions = frozenset(PYTHON_VERSIONS)
    for line in path.read_text("utf-8").splitlines():
        if line.startswith(RULE):
            versions = versions_in(line.strip("- "))
        else:
            found.append(Case(line.replace("↵", "\n"), versions))
    return found


def versions_in(heading: str) -> frozenset[PythonVersion]:
    """The versions of a heading: `since 3.9`, `until 3.8, since 3.12`, `only 3.12`, `always` or `invalid`."""
    if heading in ("always", "invalid"):
        return frozenset(PYTHON_VERSIONS if heading == "always" else ())
    found: set[PythonVersion] = set()
    for bound in heading.split(", "):
        word, text = bound.split()
        place = list(map(version_text, PYTHON_VERSIONS)).index(text)
        words = {
            "since": PYTHON_VERSIONS[place:],
            "until": PYTHON_VERSIONS[: place + 1],
            "only": PYTHON_VERSIONS[place : place + 1],
        }
        found.update(words[word])
    return frozenset(found)
