"""Reads the answers of a process of our own without trust: values, and nothing that runs.

Such a process reads files of strangers. If one of them took it over, its answers must not take over their
reader. So a pickle may name data classes, tuples, enumerations and errors of this program. It may also name a
few classes of libraries, but nothing else.
"""

from __future__ import annotations

import builtins
import enum
import importlib
import io
import pickle
from dataclasses import is_dataclass
from functools import cache
from typing import IO, cast

_PATHS = ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath")
_KNOWN = {
    "builtins": (
        "set",
        "frozenset",
        "bytearray",
        "complex",
        "range",
        "slice",
        "list",
        "dict",
        "int",
        "bytes",
    ),
    "collections": ("Counter", "OrderedDict", "defaultdict", "deque"),
    **dict.fromkeys(["pathlib", "pathlib._local"], _PATHS),
    "numpy": ("ndarray", "dtype"),
    **dict.fromkeys(["numpy._core.multiarray", "numpy.core.multiarray"], ("_reconstruct", "scalar")),
    **dict.fromkeys(["numpy._core.numeric", "numpy.core.numeric"], ("_frombuffer",)),
}
"""Classes of libraries, and functions that make arrays of numbers."""


class PlainValue:
    """The base of a class that is no data class, and whose constructor only computes with its arguments."""

    __slots__ = ()


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        return _plain_class(module, name)


def read_plain(source: IO[bytes]) -> object:
    """The next value of *source*.

    Raises:
        EOFError: there is none.
        OSError, ValueError: *source* cannot be read.
        pickle.UnpicklingError: it is no pickle, ends within a value, or names anything but plain values.
    """
    try:
        return cast("object", _Reader(source).load())
    except (EOFError, OSError, ValueError, pickle.UnpicklingError):
        raise
    except Exception as error:  # of a class that gets other arguments, for instance
        raise pickle.UnpicklingError(f"{type(error).__name__}: {error}") from error


def plain_of(data: bytes) -> object:
    """The value in *data*; raises as `read_plain`."""
    return read_plain(io.BytesIO(data))


@cache
def _plain_class(module: str, name: str) -> object:
    if name in _KNOWN.get(module, ()) or module.partition(".")[0] in ("fimlsp", "builtins"):
        found = getattr(importlib.import_module(module), name, None)
        if name in _KNOWN.get(module, ()) or (isinstance(found, type) and _is_plain(found)):
            return found
    raise pickle.UnpicklingError(f"{module}.{name} is no plain value")


def _is_plain(found: type) -> bool:
    if found.__module__ == builtins.__name__:
        return issubclass(found, Exception)
    is_own = found.__module__.partition(".")[0] == "fimlsp"
    return is_own and (is_dataclass(found) or issubclass(found, tuple | enum.Enum | Exception | PlainValue))
