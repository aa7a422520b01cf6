"""Renders a completion for a terminal: numbered lines of highlighted code, the new text on a background."""

from __future__ import annotations

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text as StyledText

CONTEXT_LINES = 6
"""Lines shown before and after the completion."""

_LINES_READ = 500
"""Lines above the cursor that are read for their colours, which are off in a longer string."""

_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"} | {0x7F: 0x2421}

INSERTED = "bold on dark_green"


def print_in_place(left: str, inserted: str, right: str, note: str, language: str) -> None:
    """Print the lines around *inserted*, which stands between *left* and *right*, and *note* below them.

    *language* is its name in `LANGUAGES`.
    """
    console = Console(highlight=False)
    for line in numbered_lines(left, inserted, right, language):
        console.print(line, soft_wrap=True)
    console.print(StyledText(note, style="dim"))


def numbered_lines(left: str, inserted: str, right: str, language: str) -> list[StyledText]:
    """The lines to print. Those with inserted text are also marked with `+`, for when there is no colour."""
    left, inserted, right = (printable(part) for part in (left, inserted, right))
    above, left = _last_lines(left, _LINES_READ)
    below = right.split("\n", CONTEXT_LINES + 2)[: CONTEXT_LINES + 2]  # a last line end is stripped
    right = "\n".join(below)
    before, with_it, all_of_it = (
        part.expandtabs() for part in (left, left + inserted, left + inserted + right)
    )
    code = Syntax("", language, background_color="default").highlight(all_of_it)
    code.stylize(INSERTED, len(before), len(with_it))
    first, last = left.count("\n"), (left + inserted).count("\n")
    lines = code.split("\n")
    shown = range(max(0, first - CONTEXT_LINES), min(len(lines), last + CONTEXT_LINES + 1))
    return [
        _gutter(above + number + 1, bool(inserted) and first <= number <= last) + lines[number]
        for number in shown
    ]


def _last_lines(text: str, count: int) -> tuple[int, str]:
    """How many lines *text* has above its last one and *count* more, and these."""
    above, *lines = text.rsplit("\n", count + 1)
    return (above.count("\n") + 1, "\n".join(lines)) if len(lines) > count else (0, text)


def _gutter(number: int, is_new: bool) -> StyledText:
    return StyledText(f"{number:>5} {'+' if is_new else ' '} ", style="bold green" if is_new else "dim")


def printable(text: str) -> str:
    """*text* with plain line ends, and with pictures for characters that would steer the terminal."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_PICTURES)
