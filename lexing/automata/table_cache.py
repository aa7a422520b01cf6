"""Caches compiled DFAs on disk.

A file is written whole or not at all, and a DFA whose file is missing, damaged or not a regular file is
built again.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
import tempfile
from array import array
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from fimlsp.lexing.automata.dfa import CompactDfa

LARGEST_FILE = 1 << 26
"""Bytes; those of a whole language take 0.6 MB."""

_DIGEST_BYTES = hashlib.sha256().digest_size
_DAMAGED = "The stored automaton is damaged; delete the file to have it built again."
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


def cached(key: str, build: Callable[[], CompactDfa]) -> CompactDfa:
    """The DFA stored under `key`, a file name. If it cannot be read, it is built and stored.

    A cache that is missing, damaged or not writable costs time but is never an error.
    """
    with suppress(OSError, RuntimeError, ValueError):
        return _load(_read(cache_folder() / key))
    automaton = build()
    with suppress(OSError, RuntimeError):
        _store(cache_folder() / key, _dump(automaton))
    return automaton


def _read(path: Path) -> bytes:
    """The content of a regular file. Never waits, as it would for a named pipe.

    Raises:
        OSError: it cannot be read.
        ValueError: it is another kind of file, or too large.
    """
    descriptor = os.open(path, _FLAGS)
    with os.fdopen(descriptor, "rb") as file:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_size > LARGEST_FILE:
            raise ValueError(f"{path.name} holds no automaton; delete it to have it built again.")
        return file.read(LARGEST_FILE)


def _store(path: Path, content: bytes) -> None:
    """Write the file under another name and rename it, so that no reader ever sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            file.write(content)
            file.close()
            Path(file.name).replace(path)
        except OSError:
            Path(file.name).unlink(missing_ok=True)
            raise


def _dump(automaton: CompactDfa) -> bytes:
    """Serialise: digest of the rest, size of header, JSON header, byte classes, rows of 16-bit numbers."""
    header = {
        "accepts": automaton.accepts,
        "live": automaton.live,
        "starts": automaton.starts,
        "kinds": automaton.kinds,
    }
    text = json.dumps(header).encode()
    rows = _little_endian(array("H", [target for row in automaton.rows for target in row]))
    body = len(text).to_bytes(4, "little") + text + automaton.classes + rows.tobytes()
    return hashlib.sha256(body).digest() + body


def _load(content: bytes) -> CompactDfa:
    """Deserialise what `_dump` made.

    Raises:
        ValueError: the content is damaged.
    """
    digest, body = content[:_DIGEST_BYTES], content[_DIGEST_BYTES:]
    if hashlib.sha256(body).digest() != digest:
        raise ValueError(_DAMAGED)
    text_end = 4 + int.from_bytes(body[:4], "little")
    classes_end = text_end + 256
    classes = body[text_end:classes_end]
    try:
        header = json.loads(body[4:text_end])
        accepts, live, kinds = (tuple(header[name]) for name in ("accepts", "live", "kinds"))
        starts = dict(header["starts"])
        width = max(classes) + 1
        cells = _little_endian(array("H", body[classes_end:])).tolist()
        rows = tuple(tuple(cells[start : start + width]) for start in range(0, len(cells), width))
        is_sound = (
            len(classes) == 256
            and len(rows) == len(accepts) == len(live)
            and len(cells) == len(rows) * width
            and max(cells, default=0) < len(rows)
            and _are_within(accepts, -1, len(kinds))
            and _are_within(live, 0, 1 << len(kinds))
            and _are_within(starts.values(), 0, len(rows))
            and all(isinstance(name, str) for name in kinds)
        )
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(_DAMAGED) from error
    if not is_sound:
        raise ValueError(_DAMAGED)
    return CompactDfa(classes, rows, accepts, live, starts, kinds)


def _are_within(numbers: Iterable[object], first: int, end: int) -> bool:
    """Whether *numbers* are whole numbers from *first* to before *end*."""
    return all(type(number) is int and first <= number < end for number in numbers)


def _little_endian(numbers: array[int]) -> array[int]:
    """Convert the numbers to the byte order of the file, or back."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
