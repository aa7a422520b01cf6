"""Files of the cache folder: written atomically, and read only if their checksum holds."""

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
    """The cache folder: `XDG_CACHE_HOME` if that is absolute, otherwise where the platform keeps caches.

    Raises:
        RuntimeError: The user has no home folder.
    """
    chosen = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if chosen.is_absolute():  # the standard ignores relative ones, which would lie in the workspace
        return chosen / "fimlsp"
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local) / "fimlsp"
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "fimlsp"


def read_cached(path: Path, most: int) -> bytes:
    """The content that `write_cached` stored, at most *most* bytes. Never blocks, even on a named pipe.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is damaged, too large, or not a regular file.
    """
    descriptor = os.open(path, _FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_size > most + _DIGEST_BYTES:
            raise ValueError(f"Cannot read {path.name}: not a cache file of fimlsp.")
        digest, content = file.read(_DIGEST_BYTES), file.read(most)
    if hashlib.sha256(content).digest() != digest:
        raise ValueError(f"Cannot read {path.name}: its checksum does not match.")
    return content


def write_cached(path: Path, content: bytes) -> None:
    """Write the digest of *content* and *content* itself to a temporary file, then rename it to *path*.

    So no reader sees half a file.

    Raises:
        OSError: The file cannot be written.
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
