"""Which Python a workspace is written for: that of the environment it uses."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from fimlsp.languages.python.versions import PYTHON_VERSIONS, PythonVersion
from fimlsp.lsp_server.workspace.guarded_reading import read_regular_file

ENVIRONMENTS = (".venv", "venv")

_VERSION = re.compile(r"(?:c?python-?)?(\d{1,9})\.(\d{1,9})", re.IGNORECASE)
_CONFIGURED = re.compile(r"^version(?:_info)?\s*=\s*(.*)$", re.MULTILINE | re.IGNORECASE)
_LARGEST = 100_000


def version_of(text: str) -> PythonVersion | None:
    """The version that *text* begins with, `3.11.4` say; one that is not known is taken for the nearest."""
    found = _VERSION.match(text.strip())
    if found is None:
        return None
    return _nearest((int(found[1]), int(found[2])))


def running_version() -> PythonVersion:
    """The version of the Python that runs this, or the nearest that is known."""
    return _nearest(sys.version_info[:2])


def _nearest(version: PythonVersion) -> PythonVersion:
    return min(max(version, PYTHON_VERSIONS[0]), PYTHON_VERSIONS[-1])


def version_of_workspace(folder: Path | None, environment: Mapping[str, str] = os.environ) -> PythonVersion:
    """The version that the files in *folder* are for, or those outside of any folder.

    Where nothing tells, it is that of this server. Reads up to four files, so it is not for the event loop: a
    file system may take its time.
    """
    for text in _statements(folder, environment):
        version = version_of(text)
        if version is not None:
            return version
    return running_version()


def _statements(folder: Path | None, environment: Mapping[str, str]) -> Iterator[str]:
    """What the files say of the version, the most reliable first."""
    if folder is not None:
        for name in ENVIRONMENTS:
            yield _configured(folder / name)
    if environment.get("VIRTUAL_ENV"):
        yield _configured(Path(environment["VIRTUAL_ENV"]))
    if folder is not None:
        yield _content(folder / ".python-version")


def _configured(environment: Path) -> str:
    found = _CONFIGURED.search(_content(environment / "pyvenv.cfg"))
    return found[1] if found else ""


def _content(file: Path) -> str:
    try:
        data = read_regular_file(file, _LARGEST)
    except (OSError, ValueError):
        return ""
    return (data or b"").decode(errors="replace")
