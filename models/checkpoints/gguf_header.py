"""Reads the header of a GGUF file: the description of the model before its weights.

The file is untrusted. Only a regular file is opened. Lengths are compared with the rest of the file and with
fixed limits before anything is read. Nothing is mapped into memory: a mapped file that is truncated meanwhile
would end the process.

Format: `docs/gguf.md` of github.com/ggml-org/ggml, versions 2 and 3, little-endian as nearly all files.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import BinaryIO

from fimlsp.models.errors import ModelError

MAGIC = b"GGUF"
VERSIONS = (2, 3)
HEADER_BYTES_MAX = 64 << 20
"""The largest headers in use have about 40 MB, mostly a tokenizer in JSON."""

ENTRIES_MAX = 3 << 19
"""Total entries of all arrays, such as the tokens; files in use have up to 1,200,000."""

KEYS_MAX = 1 << 14
TENSORS_MAX = 1 << 16
DIMENSIONS_MAX = 4
NAME_BYTES_MAX = 1 << 16
ALIGNMENT = 32
"""Alignment of tensors in bytes, unless the file declares another."""

Scalar = int | float | bool | str
Value = Scalar | tuple[Scalar, ...]

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9


class DamagedError(Exception):
    """The bytes are not the header of a GGUF file; the message is the reason, as a part of a sentence."""


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """The header of a GGUF file.

    Attributes:
        values: the metadata, by key. Bytes that are not UTF-8 are kept as lone surrogates.
        n_parameters: number of values in the tensors.
        size: size of the file in bytes.
    """

    values: Mapping[str, Value]
    n_parameters: int
    size: int

    def text(self, key: str) -> str:
        """The string at *key*; empty if there is none."""
        value = self.values.get(key)
        return value if isinstance(value, str) else ""

    def number(self, key: str) -> int | None:
        """The integer at *key*; None if there is none."""
        value = self.values.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def texts(self, key: str) -> tuple[str, ...]:
        """The array of strings at *key*; empty if there is none."""
        value = self.values.get(key)
        if isinstance(value, tuple) and all(isinstance(entry, str) for entry in value):
            return value  # type: ignore[return-value]  # every entry was checked
        return ()

    def numbers(self, key: str) -> tuple[int, ...]:
        """The array of integers at *key*; empty if there is none."""
        value = self.values.get(key)
        if isinstance(value, tuple) and all(isinstance(entry, int) for entry in value):
            return value  # type: ignore[return-value]  # every entry was checked
        return ()


def read_header(path: Path, name: str) -> GgufHeader:
    """The header of the file at *path*, which the user knows as *name*. Never blocks; takes about 0.2 s.

    Raises:
        ModelError: the file is not GGUF, damaged, cut short, or unreadable, or its header is too large.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise ModelError(f"Cannot read {name}: it is not a regular file. Give a GGUF file.")
            return _Reader(file, status.st_size).header()
    except DamagedError as error:
        raise ModelError(f"Cannot use {name}: {error}. Download it again, or use another model.") from error
    except (OSError, ValueError) as error:
        raise ModelError(f"Cannot read {name}: {error}. Give a GGUF file.") from error


class _Reader:
    """Reads a file from its start, and never more than its size."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size
        self._left = min(size, HEADER_BYTES_MAX)
        self._entries_left = ENTRIES_MAX

    def header(self) -> GgufHeader:
        if self._take(4) != MAGIC:
            raise DamagedError("it is not a GGUF file")
        version = self._number("I")
        if version not in VERSIONS:
            raise DamagedError(
                "its byte order is big-endian" if version > 1 << 16 else f"GGUF version {version} is unknown"
            )
        n_tensors, n_keys = self._number("Q", TENSORS_MAX), self._number("Q", KEYS_MAX)
        values = dict[str, Value]()
        for _ in range(n_keys):
            key = self._string(NAME_BYTES_MAX)
            values[key] = self._value(self._number("I"))
        n_parameters, last_start = 0, 0
        for _ in range(n_tensors):
            self._string(NAME_BYTES_MAX)
            sizes = [self._number("Q") for _ in range(self._number("I", DIMENSIONS_MAX))]
            n_parameters += prod(sizes)
            self._number("I")  # its type
            last_start = max(last_start, self._number("Q"))
        header = GgufHeader(values, n_parameters, self._size)
        alignment = max(header.number("general.alignment") or ALIGNMENT, 1)
        if n_tensors and -(-self._file.tell() // alignment) * alignment + last_start >= self._size:
            raise DamagedError("its end is missing")
        return header

    def _take(self, n: int) -> bytes:
        if n > self._left:
            raise DamagedError("it is cut short, or its header is damaged")
        self._left -= n
        data = self._file.read(n)
        if len(data) < n:
            raise DamagedError("it is cut short")
        return data

    def _number(self, code: str, most: int = 1 << 64) -> int:
        layout = f"<{code}"
        (value,) = struct.unpack(layout, self._take(struct.calcsize(layout)))
        if value > most:
            raise DamagedError("its header is damaged")
        return int(value)

    def _string(self, most: int = HEADER_BYTES_MAX) -> str:
        return self._take(self._number("Q", most)).decode(errors="surrogateescape")

    def _value(self, kind: int) -> Value:
        if kind == _STRING:
            return self._string()
        if kind != _ARRAY:
            return self._numbers(kind, 1)[0]
        kind, n = self._number("I"), self._number("Q", self._entries_left)
        self._entries_left -= n
        return self._strings(n) if kind == _STRING else self._numbers(kind, n)

    def _strings(self, n: int) -> tuple[str, ...]:
        """*n* times `_string`, inlined as there are hundreds of thousands."""
        read, left, strings = self._file.read, self._left, list[str]()
        for _ in range(n):
            size = int.from_bytes(read(8), "little")
            left -= 8 + size
            if left < 0:
                raise DamagedError("it is cut short, or its header is damaged")
            strings.append(read(size).decode(errors="surrogateescape"))
        self._left = left
        return tuple(strings)

    def _numbers(self, kind: int, n: int) -> tuple[Scalar, ...]:
        code = _NUMBERS.get(kind)
        if code is None:
            raise DamagedError("its header has values of an unknown type")
        layout = f"<{n}{code}"
        return struct.unpack(layout, self._take(struct.calcsize(layout)))
