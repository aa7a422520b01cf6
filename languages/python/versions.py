"""The versions of Python that fimlsp can complete, and the two levels of checks."""

from __future__ import annotations

from typing import Literal

from fimlsp.errors import UserError

Check = Literal["parse", "compile"]
"""The parts of CPython that a text has to pass: its parser alone, or its compiler as well."""

PythonVersion = tuple[int, int]

PYTHON_VERSIONS: tuple[PythonVersion, ...] = (
    (3, 8),
    (3, 9),
    (3, 10),
    (3, 11),
    (3, 12),
    (3, 13),
    (3, 14),
    (3, 15),
)
DEFAULT_VERSION: PythonVersion = (3, 11)
SCOPED_ANNOTATIONS: PythonVersion = (3, 14)
"""The first version in which an annotation is a function of its own (PEP 649)."""


class UnknownVersionError(UserError, ValueError):
    """Raised for a version of Python that is not supported; the message lists those that are."""


def known_version(version: PythonVersion) -> PythonVersion:
    """Return *version* if it is supported.

    Raises:
        UnknownVersionError: The version is not one of `PYTHON_VERSIONS`.
    """
    if version not in PYTHON_VERSIONS:
        known = ", ".join(map(version_text, PYTHON_VERSIONS))
        raise UnknownVersionError(f"Python {version_text(version)} is not known; choose one of {known}.")
    return version


def version_text(version: PythonVersion) -> str:
    """The version as users write it, for instance `3.11`."""
    return ".".join(map(str, version))
