"""Reads the header of a GGUF file: what it says of the model, before the numbers themselves.

The file comes from somebody else. So only a regular file is opened, lengths are held against what is left
of the file and against fixed limits before anything is read, and nothing is mapped into memory, where a file
that is cut while it is read would end the process.

Format: `docs/gguf.md` of github.com/ggml-org/ggml, versions 2 and 3, little-endian, as nearly all files are.
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
HEADER_BYTES_MAX = 128 << 20
"""The largest headers in use have about 40 MB, most of which is a tokenizer in JSON."""

ENTRIES_MAX = 1 << 22
"""Entries of all arrays together, such as the tokens; files in use have up to 1,200,000."""

KEYS_MAX = 1 << 14
TENSORS_MAX = 1 << 16
DIMENSIONS_MAX = 4
NAME_BYTES_MAX = 1 << 16
ALIGNMENT = 32
"""Bytes to which tensors are aligned, unless the file says otherwise."""

Scalar = int | float | bool | str
Value = Scalar | tuple[Scalar, ...]

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9


class DamagedError(Exception):
    """The bytes are no header of a GGUF file; the message says why, for the middle of a sentence."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a GGUF file says of itself.

    Attributes:
        values: the metadata, by key. Bytes that are no UTF-8 are kept as lone surrogates.
        n_parameters: how many numbers its tensors have.
        size: of the file, in bytes.
    """

    values: Mapping[str, Value]
    n_parameters: int
    size: int

    def text(self, key: str) -> str:
        """The string of *key*; empty if there is none."""
        value = self.values.get(key)
        return value if isinstance(value, str) else ""

    def number(self, key: str) -> int | None:
        """The whole number of *key*; None if there is none."""
        value = self.values.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    def texts(self, key: str) -> tuple[str, ...]:
        """The strings of the array *key*; empty if there is none, or one of other values."""
        value = self.values.get(key)
        if isinstance(value, tuple) and all(isinstance(each, str) for each in value):
            return value  # type: ignore[return-value]  # every entry was looked at
        return ()

    def numbers(self, key: str) -> tuple[int, ...]:
        """The whole numbers of the array *key*; empty if there is none, or one of other values."""
        value = self.values.get(key)
        if isinstance(value, tuple) and all(isinstance(each, int) for each in value):
            return value  # type: ignore[return-value]  # every entry was looked at
        return ()


def read_header(path: Path, name: str) -> Header:
    """The header of the file at *path*, which the user knows as *name*. Never blocks; takes about 0.2 s.

    Raises:
        ModelError: it is no GGUF file, damaged, cut short, too large to be one, or cannot be read.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(handle)
            if not stat.S_ISREG(found.st_mode):
                raise ModelError(f"{name} is not a regular file; give a GGUF file.")
            return _Reader(file, found.st_size).header()
    except DamagedError as error:
        raise ModelError(f"{name} cannot be used: {error}; fetch it again, or use another model.") from error
    except (OSError, ValueError) as error:
        raise ModelError(f"{name} cannot be read ({error}); give a GGUF file.") from error


class _Reader:
    """A file from its beginning, of which no more is taken than there is."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._size = size
        self._left = min(size, HEADER_BYTES_MAX)
        self._entries_left = ENTRIES_MAX

    def header(self) -> Header:
        if self._take(4) != MAGIC:
            raise DamagedError("it is no GGUF file")
        version = self._number("I")
        if version not in VERSIONS:
            order = "written for machines of the other byte order" if version > 1 << 16 else "not known here"
            raise DamagedError(f"its version of GGUF is {order}")
        n_tensors, n_keys = self._number("Q", TENSORS_MAX), self._number("Q", KEYS_MAX)
        values = dict[str, Value]()
        for _ in range(n_keys):
            key = self._string(NAME_BYTES_MAX)
            values[key] = self._value(self._number("I"))
        n_parameters, begins = 0, 0
        for _ in range(n_tensors):
            self._string(NAME_BYTES_MAX)
            sizes = [self._number("Q") for _ in range(self._number("I", DIMENSIONS_MAX))]
            n_parameters += prod(sizes)
            self._number("I")  # its type
            begins = max(begins, self._number("Q"))
        header = Header(values, n_parameters, self._size)
        alignment = max(header.number("general.alignment") or ALIGNMENT, 1)
        if n_tensors and -(-self._file.tell() // alignment) * alignment + begins >= self._size:
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
        """As many times `_string`, written out since there are hundreds of thousands."""
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
            raise DamagedError("its header has values of a kind that is not known")
        layout = f"<{n}{code}"
        return struct.unpack(layout, self._take(struct.calcsize(layout)))
