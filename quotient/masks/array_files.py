"""Files of arrays in the cache folder, which any process may read, add, and delete.

A file is never changed. All together have at most `MOST_BYTES`; beyond it those go first that nobody has
read for longest. A file that is damaged is dropped, and so is what its reader cannot make sense of.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fimlsp.lexing.automata.cached_files import cache_folder, read_cached, write_cached

log = logging.getLogger(__name__)

MOST_BYTES = 1 << 26
"""What all files may have together."""

_ALIGNED = 8
_SIZE_BYTES = 4
_COMPRESSED = b"\xffzlib\xff\xff\xff"  # no header is that large
_LOOKS = 32

Arrays = Mapping[str, NDArray[Any]]
T = TypeVar("T")


def found(name: str, read: Callable[[Arrays], T]) -> T | None:
    """What *read* makes of the arrays kept under *name*; None if there are none, or damaged ones."""
    try:
        path = _folder() / name
        made = read(_unpacked(read_cached(path, MOST_BYTES)))
        os.utime(path)
    except (OSError, RuntimeError):
        return None
    except (ValueError, LookupError, TypeError, OverflowError, zlib.error) as error:
        log.warning("A kept table of masks is dropped: %s", error)
        with suppress(OSError):
            path.unlink()
        return None
    return made


def keep(name: str, arrays: Arrays, *, compressed: bool = False) -> None:
    """Keep *arrays* under *name*; where the folder cannot be written, nothing happens."""
    content = _packed(arrays)
    if compressed:
        content = _COMPRESSED + zlib.compress(content, 1)
    with suppress(OSError, RuntimeError):
        write_cached(_folder() / name, content)
        _room.take(len(content))


def code_digest(*modules: ModuleType) -> str:
    """Names the code of *modules*, so that nothing is taken for what other code has made.

    Raises:
        OSError: a module is not in a file.
    """
    code = hashlib.sha256()
    for module in modules:
        code.update(Path(module.__file__ or "").read_bytes())
    return code.hexdigest()


def _folder() -> Path:
    return cache_folder() / "masks"


class _Room:
    """Sees to it that all files together do not grow too large."""

    def __init__(self) -> None:
        self._written = MOST_BYTES

    def take(self, size: int) -> None:
        """Note that a file of *size* bytes was written."""
        self._written += size
        if self._written > MOST_BYTES // _LOOKS:
            self._written = 0
            _drop_the_oldest(_folder())


_room = _Room()


def _drop_the_oldest(folder: Path) -> None:
    files = []
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):  # another process may have dropped it
                files.append((entry.stat().st_mtime_ns, entry.stat().st_size, entry.path))
    excess = sum(size for _, size, _ in files) - MOST_BYTES
    for _, size, path in sorted(files):
        if excess <= 0:
            break
        with suppress(OSError):
            Path(path).unlink()
        excess -= size


def _packed(arrays: Arrays) -> bytes:
    """Size of the header, JSON header, arrays in its order, all aligned."""
    header = json.dumps([[name, each.dtype.str, each.shape] for name, each in arrays.items()]).encode()
    parts = [len(header).to_bytes(_SIZE_BYTES, "little") + header]
    parts += [np.ascontiguousarray(each).tobytes() for each in arrays.values()]
    return b"".join(part + bytes(-len(part) % _ALIGNED) for part in parts)


def _unpacked(content: bytes) -> Arrays:
    """What `_packed` packed; the arrays are views that cannot be written to."""
    if content.startswith(_COMPRESSED):
        content = zlib.decompress(content[len(_COMPRESSED) :])
    at = _SIZE_BYTES + int.from_bytes(content[:_SIZE_BYTES], "little")
    unpacked: dict[str, NDArray[Any]] = {}
    for name, kind, shape in json.loads(content[_SIZE_BYTES:at]):
        at += -at % _ALIGNED
        each = np.frombuffer(content, np.dtype(kind), prod(shape), at).reshape(shape)
        at += each.nbytes
        unpacked[name] = each
    return unpacked
