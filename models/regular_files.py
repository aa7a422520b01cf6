"""Opens files of a checkpoint only if they are regular files of a bounded size.

A checkpoint is untrusted. A named pipe would block its reader for ever, and a link to `/dev/zero` would be
read until memory ends.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

CONFIG_BYTES_MAX = 16 << 20
TEXT_BYTES_MAX = 256 << 20
"""Limit for tokenizers and indexes of weights; the largest in use have about 35 MB."""

N_SAMPLES, SAMPLE_BYTES = 16, 1 << 16


class UnusableFileError(OSError):
    """A file that is not regular, or larger than its kind should be."""


def read_bounded(path: Path, limit: int) -> bytes:
    """The content of *path*, which may have at most *limit* bytes. Never blocks.

    Raises:
        UnusableFileError: the file is not regular, or larger.
        OSError: the file cannot be read.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise UnusableFileError(f"{path.name} is not a regular file")
        data = file.read(limit + 1)
    if len(data) > limit:
        raise UnusableFileError(f"{path.name} is larger than {limit >> 20} MiB")
    return data


def check_regular(path: Path, limit: int | None = None) -> None:
    """Raise unless *path* is a regular file of at most *limit* bytes (None: any size).

    Raises:
        UnusableFileError: the file is not regular, or larger.
        OSError: there is no such file.
    """
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise UnusableFileError(f"{path.name} is not a regular file")
    if limit is not None and status.st_size > limit:
        raise UnusableFileError(f"{path.name} is larger than {limit >> 20} MiB")


def sampled_digest(path: Path) -> str:
    """The name, the size and a hash of samples of a file, which may be too large to be read whole.

    Raises:
        OSError: the file cannot be read.
    """
    size, samples = path.stat().st_size, hashlib.sha256()
    with path.open("rb") as file:
        for number in range(N_SAMPLES):
            file.seek(size * number // N_SAMPLES)
            samples.update(file.read(SAMPLE_BYTES))
    return f"{path.name} {size} {samples.hexdigest()}"
