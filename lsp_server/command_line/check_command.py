"""`fimlsp check`: the faults of sLua scripts, as a compiler tells them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fimlsp.languages.slua.checking.checker import check_script
from fimlsp.languages.slua.interface import Interface, InterfaceError, read_interface

from fimlsp.errors import UserError

MOST_BYTES = 1_000_000


class UnreadableError(UserError, ValueError):
    """A file cannot be read."""


def check_files(scripts: Sequence[Path], interface: Path | None) -> list[str]:
    """A line `FILE:LINE:COLUMN: MESSAGE` for each fault of *scripts*, which are given *interface*.

    If the interface has faults, they are what is told.

    Raises:
        UnreadableError: a file is no text, is no regular file, or is larger than 1 MB.
    """
    try:
        given = Interface() if interface is None else read_interface(_text(interface), str(interface))
    except InterfaceError as error:
        return str(error).splitlines()
    checked = [(path, check_script(_text(path), given)) for path in scripts]
    return [f"{path}:{fault}" for path, found in checked for fault in found.faults]


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            raise UnreadableError(f"{path} is not a regular file.")
        if path.stat().st_size > MOST_BYTES:
            raise UnreadableError(f"{path} is larger than {MOST_BYTES:,} bytes.")
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise UnreadableError(f"{path} is not UTF-8.") from None
    except OSError as error:
        raise UnreadableError(f"{path} cannot be read: {error.strerror}.") from None
