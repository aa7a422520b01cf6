"""Reads files of a workspace, which may be hostile: regular files of a bounded size only, never waiting.

A repository can hold a link to `/dev/stdin` or to a named pipe, which a plain `open` would wait on for ever.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def read_regular_file(path: Path, most: int) -> bytes | None:
    """The bytes of the file at *path*, links followed; None if it is larger than *most* bytes or not regular.

    A file that grows while it is read counts with its size at the end of reading.

    Raises:
        OSError: There is no such file, or it cannot be read.
        ValueError: The path holds a NUL.
    """
    if not stat.S_ISREG(path.stat().st_mode):  # opening a device may already have an effect
        return None
    descriptor = os.open(path, _FLAGS)  # which does not wait if the file has become a pipe since
    with os.fdopen(descriptor, "rb") as opened:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_size > most:
            return None
        data = opened.read(most + 1)
    return data if len(data) <= most else None
