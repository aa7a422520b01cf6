"""Caches compiled DFAs on disk.

A DFA whose file is missing, damaged or not a regular file is built again.
"""

from __future__ import annotations

import json
import sys
from array import array
from collections.abc import Callable, Iterable
from contextlib import suppress

from fimlsp.lexing.automata.cached_files import cache_folder, read_cached, write_cached
from fimlsp.lexing.automata.dfa import CompactDfa

LARGEST_FILE = 1 << 26
"""Bytes; those of a whole language take 0.6 MB."""

_DAMAGED = "The stored automaton is damaged; delete the file to have it built again."


def cached(key: str, build: Callable[[], CompactDfa]) -> CompactDfa:
    """The DFA stored under `key`, a file name. If it cannot be read, it is built and stored.

    A cache that is missing, damaged or not writable costs time but is never an error.
    """
    with suppress(OSError, RuntimeError, ValueError):
        return _load(read_cached(cache_folder() / key, LARGEST_FILE))
    automaton = build()
    with suppress(OSError, RuntimeError):
        write_cached(cache_folder() / key, _dump(automaton))
    return automaton


def _dump(automaton: CompactDfa) -> bytes:
    """Serialise: size of header, JSON header, byte classes, rows of 16-bit numbers."""
    header = {
        "accepts": automaton.accepts,
        "live": automaton.live,
        "starts": automaton.starts,
        "kinds": automaton.kinds,
    }
    text = json.dumps(header).encode()
    rows = _little_endian(array("H", [target for row in automaton.rows for target in row]))
    return len(text).to_bytes(4, "little") + text + automaton.classes + rows.tobytes()


def _load(body: bytes) -> CompactDfa:
    """Deserialise what `_dump` made.

    Raises:
        ValueError: the content is damaged.
    """
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
