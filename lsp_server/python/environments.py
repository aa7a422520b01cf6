"""Which Python a file is written for: that of the environment its workspace uses."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from fimlsp.languages.python.versions import DEFAULT_VERSION, PYTHON_VERSIONS, PythonVersion

ENVIRONMENTS = (".venv", "venv")

_VERSION = re.compile(r"(?:c?python-?)?(\d+)\.(\d+)", re.IGNORECASE)
_CONFIGURED = re.compile(r"^version(?:_info)?\s*=\s*(.*)$", re.MULTILINE | re.IGNORECASE)
_LARGEST = 100_000


def version_of(text: str) -> PythonVersion | None:
    """The version that *text* begins with, `3.11.4` say; one that is not known is taken for the nearest."""
    found = _VERSION.match(text.strip())
    if found is None:
        return None
    version = int(found[1]), int(found[2])
    return min(max(version, PYTHON_VERSIONS[0]), PYTHON_VERSIONS[-1])


def version_of_workspace(folder: Path | None, environment: Mapping[str, str] = os.environ) -> PythonVersion:
    """The version that the files in *folder* are for, or those outside of any. Reads up to four files."""
    for text in _told(folder, environment):
        version = version_of(text)
        if version is not None:
            return version
    return DEFAULT_VERSION


def _told(folder: Path | None, environment: Mapping[str, str]) -> Iterator[str]:
    """What is said of the version, the most telling first."""
    if folder is not None:
        for name in ENVIRONMENTS:
            yield _of_environment(folder / name)
    if environment.get("VIRTUAL_ENV"):
        yield _of_environment(Path(environment["VIRTUAL_ENV"]))
    if folder is not None:
        yield _beginning(folder / ".python-version")


def _of_environment(folder: Path) -> str:
    found = _CONFIGURED.search(_beginning(folder / "pyvenv.cfg"))
    return found[1] if found else ""


def _beginning(file: Path) -> str:
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            return opened.read(_LARGEST)
    except OSError:
        return ""
