"""`fimlsp check`: the faults of sLua scripts, as a compiler tells them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fimlsp.errors import UserError
from fimlsp.languages.slua.checking.checker import Checked, check_script
from fimlsp.languages.slua.extending import extended
from fimlsp.languages.slua.interface import Interface, InterfaceError, read_interface
from fimlsp.languages.slua.syntax import Call, CallStatement, Name

MOST_BYTES = 1_000_000


class UnreadableError(UserError, ValueError):
    """A file cannot be read."""


def check_files(scripts: Sequence[Path], interface: Path | None, root: str | None = None) -> list[str]:
    """A line `FILE:LINE:COLUMN: MESSAGE` for each fault of *scripts*, which are given *interface*.

    What a script without faults brings those after it, they may use under the name of its file. With *root*
    they have to be scripts of that kind. If the interface has faults, they are what is told.

    Raises:
        UnknownRootError: the interface declares no such kind.
        UnreadableError: a file is no text, is no regular file, or is larger than 1 MB.
    """
    try:
        given = Interface() if interface is None else read_interface(_text(interface), str(interface))
    except InterfaceError as error:
        return str(error).splitlines()
    given.endings(root)
    told = list[str]()
    for path in scripts:
        checked = check_script(_text(path), given, root)
        told += [f"{path}:{fault}" for fault in checked.faults]
        given = _with_script(given, checked, path.stem)
    return told


def _with_script(given: Interface, checked: Checked, name: str) -> Interface:
    """*given*, with what a script brings those after it, if it has no faults and nothing has its name yet."""
    if checked.script is None or checked.faults or not checked.script.statements:
        return given
    match checked.script.statements[-1]:
        case CallStatement(call=Call(callee=Name(name=function))):
            kind = given.endings(None).get(function)
            if kind is not None and kind.among is not None and name not in kind.among.fields:
                return extended(given, kind, name, checked.interface)
    return given


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
