"""Files of the cache folder: written whole or not at all, and read only if they are as they were written."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from pathlib import Path

_DIGEST_BYTES = hashlib.sha256().digest_size
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def cache_folder() -> Path:
    """The cache folder: `XDG_CACHE_HOME` if it is set, otherwise where the platform keeps caches.

    Raises:
        RuntimeError: the user has no home folder.
    """
    if chosen := os.environ.get("XDG_CACHE_HOME"):
        return Path(chosen) / "fimlsp"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "fimlsp"
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "fimlsp"


def read_cached(path: Path, most: int) -> bytes:
    """What `write_cached` wrote, at most *most* bytes. Never waits, as it would for a named pipe.

    Raises:
        OSError: it cannot be read.
        ValueError: it is damaged, too large, or no regular file.
    """
    descriptor = os.open(path, _FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_size > most + _DIGEST_BYTES:
            raise ValueError(f"{path.name} is none of our files.")
        digest, content = file.read(_DIGEST_BYTES), file.read(most)
    if hashlib.sha256(content).digest() != digest:
        raise ValueError(f"{path.name} is damaged.")
    return content


def write_cached(path: Path, content: bytes) -> None:
    """Write *content* behind its digest, under another name, and rename it: no reader sees half a file.

    Raises:
        OSError: it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            file.write(hashlib.sha256(content).digest())
            file.write(content)
            file.close()
            Path(file.name).replace(path)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise
