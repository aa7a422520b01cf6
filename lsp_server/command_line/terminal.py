"""Output on a terminal: a completion in its file, progress of slow steps, and text as it is generated.

rich is imported by the functions that use it: it takes 0.1 s, and output that goes elsewhere never needs it.
"""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.text import Text as StyledText

CONTEXT_LINES = 6
"""Lines shown before and after the completion."""

INSERTED_STYLE = "bold on dark_green"

SLOW_STEP_S = 1.0
"""Seconds before the progress bar appears."""

_HIGHLIGHTED_LINES = 500
"""Lines above the cursor that are highlighted. Colours are wrong inside a string that is longer."""

_CONTROL_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"} | {0x7F: 0x2421}
"""Unicode pictures of the control characters."""


def print_in_place(left: str, inserted: str, right: str, note: str, language: str) -> None:
    """Print the lines around *inserted*, which stands between *left* and *right*, and *note* below them.

    *language* is a key of `LANGUAGES`.
    """
    from rich.console import Console
    from rich.text import Text as StyledText

    console = Console(highlight=False)
    for line in numbered_lines(left, inserted, right, language):
        console.print(line, soft_wrap=True)
    console.print(StyledText(note, style="dim"))


def numbered_lines(left: str, inserted: str, right: str, language: str) -> list[StyledText]:
    """Lines to print. A `+` marks those with inserted text, for terminals without colour."""
    from rich.syntax import Syntax

    left, inserted, right = (printable(part) for part in (left, inserted, right))
    n_above, left = _last_lines(left, _HIGHLIGHTED_LINES)
    lines_below = right.split("\n", CONTEXT_LINES + 2)[: CONTEXT_LINES + 2]  # a final line end is stripped
    right = "\n".join(lines_below)
    before, with_inserted, whole = (
        part.expandtabs() for part in (left, left + inserted, left + inserted + right)
    )
    code = Syntax("", language, background_color="default").highlight(whole)
    code.stylize(INSERTED_STYLE, len(before), len(with_inserted))
    first, last = left.count("\n"), (left + inserted).count("\n")
    lines = code.split("\n")
    shown = range(max(0, first - CONTEXT_LINES), min(len(lines), last + CONTEXT_LINES + 1))
    return [
        _gutter(n_above + number + 1, bool(inserted) and first <= number <= last) + lines[number]
        for number in shown
    ]


def _last_lines(text: str, count: int) -> tuple[int, str]:
    """Number of lines of *text* above its last one and *count* more, and those last lines."""
    above, *lines = text.rsplit("\n", count + 1)
    return (above.count("\n") + 1, "\n".join(lines)) if len(lines) > count else (0, text)


def _gutter(number: int, is_new: bool) -> StyledText:
    from rich.text import Text as StyledText

    return StyledText(f"{number:>5} {'+' if is_new else ' '} ", style="bold green" if is_new else "dim")


def printable(text: str) -> str:
    """*text* with plain line ends, and pictures for characters that would control the terminal."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_CONTROL_PICTURES)


@contextmanager
def progress_if_slow() -> Iterator[Callable[[str], None]]:
    """A function that reports the current step; a bar shows it after `SLOW_STEP_S`.

    The bar is on standard error. Nothing is shown if that is not a terminal.
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=None)
    starting = Timer(SLOW_STEP_S, bar.start)
    starting.start()
    try:
        yield lambda step: bar.update(task, description=step)
    finally:
        starting.cancel()
        starting.join()
        bar.stop()


class ProgramOutput:
    """Generated text on standard output: exact bytes, or printable text if that is a terminal."""

    def __init__(self) -> None:
        self._is_terminal = sys.stdout.isatty()
        self._decode: Callable[..., str] = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._last_text = ""

    def write(self, data: bytes, *, is_new: bool = True) -> None:
        """Show *data*, which may end inside a character, at once. The prompt, which is not new, is dimmed."""
        if not self._is_terminal:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
            return
        text = self._decode(data)
        self._last_text = text or self._last_text
        click.secho(printable(text), nl=False, dim=not is_new)

    def end(self) -> None:
        """Leave the terminal at the start of a line."""
        if self._is_terminal and not self._last_text.endswith("\n"):
            click.echo()
