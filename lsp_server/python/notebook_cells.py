"""Reads cells of notebooks as Python: commands of IPython become expressions of the same length.

The engine reads Python only, so each command becomes an expression of the same length: `%matplotlib inline`
becomes `0#atplotlib inline`, and `np.sum?` becomes `np.sum#`. Offsets stay as they are. A cell whose first
line names another language is not Python at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PYTHON_CELLS = (b"time", b"timeit", b"capture", b"prun", b"debug", b"mypy", b"memit")
_CELL_COMMAND = re.compile(rb"\s*%%(\w*)[^\r\n]*")

_LINE = re.compile(rb"[^\r\n]*(?:\r\n?|\n|$)")
_COMMAND = re.compile(rb"[ \t]*((?:[%!?]).*)")
_ASSIGNED = re.compile(rb"[ \t]*[\w.,\[\]* \t]+=[ \t]*([%!](?!=).*)")
_HELP = re.compile(rb"[ \t]*%?[\w.*]+(\?\??)[ \t]*$")
_LEXEME = re.compile(
    rb"(?P<opened>\"\"\"|''')|\"(?:\\.|[^\"\\])*(?:\"|$)|'(?:\\.|[^'\\])*(?:'|$)|\#.*|(?P<open>[(\[{])|(?P<close>[)\]}])"
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as Python of the same length.

    `commands` are the (start, end) of what is not Python in it. `language` is what its first line says it is
    written in instead, if it does.
    """

    data: bytes
    commands: tuple[tuple[int, int], ...] = ()
    language: str | None = None

    def is_command(self, offset: int) -> bool:
        """Whether a cursor at *offset* stands in a command, or at its end."""
        return any(start < offset <= end for start, end in self.commands)


def read_cell(data: bytes) -> Cell:
    """The cell with this text. O(len(data))."""
    named = _CELL_COMMAND.match(data)
    if named is not None and named[1] not in _PYTHON_CELLS:
        return Cell(data, language=named[0].strip().decode())
    masked = bytearray(data)
    commands = []
    for start, end, is_help in _commands(data):
        commands.append((start, end))
        sign = (b"##" if is_help else b"0#")[: end - start]
        masked[start : start + len(sign)] = sign
    return Cell(bytes(masked), tuple(commands))


def _commands(data: bytes) -> Iterator[tuple[int, int, bool]]:
    """Start and end of each command, and whether it is a question mark behind an expression."""
    within = _Within()
    offset = 0
    while offset < len(data):
        line = _LINE.match(data, offset)
        assert line is not None
        text = line[0].rstrip(b"\r\n")
        found = _command_in(text) if within.is_statement else None
        if found is None:
            within.read(text)
        else:
            yield offset + found[0], offset + len(text.rstrip()), found[1]
        offset = line.end()


def _command_in(line: bytes) -> tuple[int, bool] | None:
    for pattern in (_COMMAND, _ASSIGNED, _HELP):
        found = pattern.match(line)
        if found is not None:
            return found.start(1), pattern is _HELP
    return None


class _Within:
    """What a line stands in: brackets, a string of many lines, a statement that a backslash continues."""

    def __init__(self) -> None:
        self._depth = 0
        self._quotes = b""
        self._continued = False

    @property
    def is_statement(self) -> bool:
        """Whether a statement begins with the next line."""
        return not (self._depth or self._quotes or self._continued)

    def read(self, line: bytes) -> None:
        """Go over one line."""
        offset = self._end_of_string(line, 0) if self._quotes else 0
        while (found := _LEXEME.search(line, offset)) is not None:
            offset = found.end()
            if found["open"]:
                self._depth += 1
            elif found["close"]:
                self._depth = max(0, self._depth - 1)
            elif found["opened"]:
                self._quotes = found["opened"]
                offset = self._end_of_string(line, offset)
        self._continued = not self._quotes and line.endswith(b"\\")

    def _end_of_string(self, line: bytes, offset: int) -> int:
        end = line.find(self._quotes, offset)
        if end < 0:
            return len(line)
        end += len(self._quotes)
        self._quotes = b""
        return end
