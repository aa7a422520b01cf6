"""Caches compiled DFAs on disk.

A file is written whole or not at all, and a DFA whose file is missing or damaged is built again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from array import array
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from fimlsp.lexing.automata.dfa import CompactDfa

_DIGEST_BYTES = hashlib.sha256().digest_size


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
        return _load((cache_folder() / key).read_bytes())
    automaton = build()
    with suppress(OSError, RuntimeError):
        _store(cache_folder() / key, _dump(automaton))
    return automaton


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
        raise ValueError("The stored automaton is damaged; delete the file to have it built again.")
    text_end = 4 + int.from_bytes(body[:4], "little")
    classes_end = text_end + 256
    header = json.loads(body[4:text_end])
    classes = body[text_end:classes_end]
    width = max(classes) + 1
    cells = _little_endian(array("H", body[classes_end:])).tolist()
    rows = tuple(tuple(cells[start : start + width]) for start in range(0, len(cells), width))
    accepts, live, kinds = (tuple(header[name]) for name in ("accepts", "live", "kinds"))
    return CompactDfa(classes, rows, accepts, live, header["starts"], kinds)


def _little_endian(numbers: array[int]) -> array[int]:
    """Convert the numbers to the byte order of the file, or back."""
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
