"""Notebook cells, and scripts of cells, as Python: IPython commands become expressions of the same length.

`%matplotlib inline` becomes `0#atplotlib inline`, and `np.sum?` becomes `np.sum#`, so offsets stay the same.
A cell whose first line names another language is not Python.

In a script, comments such as `# %%` start the cells, as in VS Code, Spyder and jupytext.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PYTHON_CELLS = (b"time", b"timeit", b"capture", b"prun", b"debug", b"mypy", b"memit")
_CELL_COMMAND = re.compile(rb"\s*%%(\w*)[^\r\n]*")

_MARKER = re.compile(rb"^(#[ \t]*(?:%%(?!\w)|In\[[ \d]*\]).*)", re.MULTILINE)
_PARTS_OF_MARKERS = b"%%", b"In["

_LINE = re.compile(rb"[^\r\n]*(?:\r\n?|\n|$)")
_COMMAND = re.compile(rb"[ \t]*((?:[%!?]).*)")
_ASSIGNED = re.compile(rb"[\w.,\[\]* \t]+=[ \t]*([%!](?!=).*)")
_SIGNS = re.compile(rb"[%!?]")
_HELP = re.compile(rb"[ \t]*%?[\w.*]+(\?\??)[ \t]*$")
_LEXEME = re.compile(
    rb"(?P<quotes>\"\"\"|''')|\"(?:\\.|[^\"\\])*\"?|'(?:\\.|[^'\\])*'?|\#.*|(?P<open>[(\[{])|(?P<close>[)\]}])"
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell as Python of the same length.

    `commands` has the (start, end) of each IPython command. `language` is the first line if it names another
    language.
    """

    data: bytes
    commands: tuple[tuple[int, int], ...] = ()
    language: str | None = None

    def is_command(self, offset: int) -> bool:
        """True if a cursor at *offset* is in a command, or at its end."""
        return any(start < offset <= end for start, end in self.commands)


def read_cell(data: bytes) -> Cell:
    """The cell with the text *data*. O(len(data))."""
    magic = _CELL_COMMAND.match(data)
    if magic is not None and magic[1] not in _PYTHON_CELLS:
        return Cell(data, language=magic[0].strip().decode())
    if _SIGNS.search(data) is None:
        return Cell(data)
    masked = bytearray(data)
    commands = []
    for start, end, is_help in _commands(data):
        commands.append((start, end))
        sign = (b"##" if is_help else b"0#")[: end - start]
        masked[start : start + len(sign)] = sign
    return Cell(bytes(masked), tuple(commands))


def is_script(data: bytes) -> bool:
    """True if *data* is a script of cells."""
    return any(part in data for part in _PARTS_OF_MARKERS) and _MARKER.search(data) is not None


def read_script(data: bytes) -> Cell:
    """The script of cells with the text *data*, all of them as one. O(len(data))."""
    parts, commands, position = list[bytes](), list[tuple[int, int]](), 0
    for number, part in enumerate(_MARKER.split(data)):
        is_body = number % 2 == 0
        cell = read_cell(part) if is_body else Cell(part)
        if cell.language is not None:
            cell = _foreign(part)
        parts.append(cell.data)
        commands += [(position + start, position + end) for start, end in cell.commands]
        position += len(part)
    return Cell(b"".join(parts), tuple(commands))


def _foreign(data: bytes) -> Cell:
    """A cell in another language: each of its lines is a command."""
    masked, commands = bytearray(data), []
    for line in _LINE.finditer(data):
        if text := line[0].rstrip():
            start, end = line.start(), line.start() + len(text)
            commands.append((start, end))
            sign = b"0#"[: end - start]
            masked[start : start + len(sign)] = sign
    return Cell(bytes(masked), tuple(commands))


def _commands(data: bytes) -> Iterator[tuple[int, int, bool]]:
    """Start and end of each command, and true if it is a question mark after an expression."""
    open_constructs = _OpenConstructs()
    offset = 0
    while offset < len(data):
        line = _LINE.match(data, offset)
        assert line is not None
        text = line[0].rstrip(b"\r\n")
        is_possible = not open_constructs.any and _SIGNS.search(text) is not None
        command = _command_in(text) if is_possible else None
        if command is None:
            open_constructs.read(text)
        else:
            start, is_help = command
            yield offset + start, offset + len(text.rstrip()), is_help
        offset = line.end()


def _command_in(line: bytes) -> tuple[int, bool] | None:
    for pattern in (_COMMAND, _ASSIGNED, _HELP):
        match = pattern.match(line)
        if match is not None:
            return match.start(1), pattern is _HELP
    return None


class _OpenConstructs:
    """Open brackets, an open triple-quoted string, or a backslash at the end of the last line."""

    def __init__(self) -> None:
        self._depth = 0
        self._quotes = b""
        self._continued = False

    @property
    def any(self) -> bool:
        """True if the next line continues a statement."""
        return bool(self._depth or self._quotes or self._continued)

    def read(self, line: bytes) -> None:
        """Read one line."""
        offset = self._end_of_string(line, 0) if self._quotes else 0
        while (lexeme := _LEXEME.search(line, offset)) is not None:
            offset = lexeme.end()
            if lexeme["open"]:
                self._depth += 1
            elif lexeme["close"]:
                self._depth = max(0, self._depth - 1)
            elif lexeme["quotes"]:
                self._quotes = lexeme["quotes"]
                offset = self._end_of_string(line, offset)
        self._continued = not self._quotes and line.endswith(b"\\")

    def _end_of_string(self, line: bytes, offset: int) -> int:
        end = line.find(self._quotes, offset)
        if end < 0:
            return len(line)
        end += len(self._quotes)
        self._quotes = b""
        return end
