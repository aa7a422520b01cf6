"""`fimlsp check`: the faults of sLua scripts, and descriptions of an interface or a schema for a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fimlsp.errors import UserError
from fimlsp.languages.slua.checker import Checked, check_script
from fimlsp.languages.slua.interface import Interface, InterfaceError, extended, read_interface
from fimlsp.languages.slua.interface import described as described_scripts
from fimlsp.languages.slua.syntax import Call, CallStatement, Name
from fimlsp.languages.sql.schema import described as described_queries
from fimlsp.languages.sql.schema import read_schema

MOST_BYTES = 1_000_000


class UnreadableScriptError(UserError, ValueError):
    """A file cannot be read."""


def check_files(scripts: Sequence[Path], interface: Path | None, root: str | None = None) -> list[str]:
    """A line `FILE:LINE:COLUMN: MESSAGE` for each fault of *scripts*, which use *interface*.

    A script without faults may declare a value; later scripts refer to it by the name of that script's file.
    With *root*, all scripts must be of that kind. If the interface has faults, only those are reported.

    Raises:
        UnknownRootError: The interface does not declare the kind *root*.
        UnreadableScriptError: A file is not UTF-8, not a regular file, or larger than 1 MB.
    """
    try:
        declared = Interface() if interface is None else read_interface(_text(interface), str(interface))
    except InterfaceError as error:
        return str(error).splitlines()
    declared.endings(root)
    lines = list[str]()
    for path in scripts:
        checked = check_script(_text(path), declared, root)
        lines += [f"{path}:{fault}" for fault in checked.faults]
        declared = _with_script(declared, checked, path.stem)
    return lines


def describe_interface(interface: Path | None, root: str | None) -> str:
    """SLua with the declarations of *interface*, as a text for a model.

    Raises:
        InterfaceError: The interface has faults.
        UnknownRootError: It does not declare the kind *root*.
        UnreadableScriptError: As in `check_files`.
    """
    text = "" if interface is None else _text(interface)
    return described_scripts(read_interface(text, str(interface)), text, root)


def describe_schema(schema: Path) -> str:
    """Queries over *schema*, as a text for a model.

    Raises:
        SchemaError: The schema cannot be used.
        UnreadableScriptError: As in `check_files`.
    """
    return described_queries(read_schema(_text(schema), str(schema)))


def _with_script(declared: Interface, checked: Checked, name: str) -> Interface:
    """*declared* and the value of a script called *name*, if that is free and the script has no faults."""
    if checked.script is None or checked.faults or not checked.script.statements:
        return declared
    match checked.script.statements[-1]:
        case CallStatement(call=Call(callee=Name(name=function))):
            kind = declared.endings(None).get(function)
            if kind is not None and kind.among is not None and name not in kind.among.fields:
                return extended(declared, kind, name, checked.interface)
    return declared


def _text(path: Path) -> str:
    try:
        if not path.is_file():
            raise UnreadableScriptError(f"Cannot read {path}: it is not a regular file.")
        if path.stat().st_size > MOST_BYTES:
            raise UnreadableScriptError(f"Cannot read {path}: it is larger than {MOST_BYTES:,} bytes.")
        return path.read_text("utf-8")
    except UnicodeDecodeError:
        raise UnreadableScriptError(f"Cannot read {path}: it is not UTF-8.") from None
    except OSError as error:
        raise UnreadableScriptError(f"Cannot read {path}: {error.strerror}.") from None
