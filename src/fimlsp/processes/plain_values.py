"""Reads what a process of our own answers, without trusting it: values, and nothing that runs.

Such a process reads files of strangers. If one of them took it over, its answers must not take over the
process that asked. So a pickle may name data classes, tuples, enumerations and errors of this program, and a
few classes of Python, but no other class and no function.
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

_OF_PYTHON = {
    "builtins": ("set", "frozenset", "bytearray", "complex", "range", "slice"),
    "collections": ("Counter", "OrderedDict", "deque"),
    **dict.fromkeys(
        ["pathlib", "pathlib._local"], ("PosixPath", "WindowsPath", "PurePosixPath", "PureWindowsPath")
    ),
}


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        return _plain_class(module, name)


def read_plain(source: IO[bytes]) -> object:
    """The next value of *source*.

    Raises:
        EOFError: there is none.
        OSError, ValueError: *source* cannot be read.
        pickle.UnpicklingError: it is no pickle, ends within a value, or names what is no plain value.
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
def _plain_class(module: str, name: str) -> type:
    if name in _OF_PYTHON.get(module, ()) or module.partition(".")[0] in ("fimlsp", "builtins"):
        found = getattr(importlib.import_module(module), name, None)
        if isinstance(found, type) and _is_plain(found):
            return found
    raise pickle.UnpicklingError(f"{module}.{name} is no plain value")


def _is_plain(found: type) -> bool:
    if found.__module__.partition(".")[0] == "fimlsp":
        return is_dataclass(found) or issubclass(found, tuple | enum.Enum | Exception)
    is_error = found.__module__ == builtins.__name__ and issubclass(found, Exception)
    return is_error or found.__name__ in _OF_PYTHON.get(found.__module__, ())
