"""A completion in its place, for a terminal: numbered lines of highlighted code, the new text underlaid."""

from __future__ import annotations

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text as StyledText

CONTEXT_LINES = 6
"""Lines shown before and after the completion."""

INSERTED = "bold on dark_green"


def print_in_place(left: str, inserted: str, right: str, note: str) -> None:
    """Print the lines around *inserted*, which stands between *left* and *right*, and *note* below them."""
    console = Console(highlight=False)
    for line in numbered_lines(left, inserted, right):
        console.print(line, soft_wrap=True)
    console.print(StyledText(note, style="dim"))


def numbered_lines(left: str, inserted: str, right: str) -> list[StyledText]:
    """The lines to print. Those with inserted text are also marked with `+`, for when there is no colour."""
    left, inserted, right = (_with_plain_line_ends(part) for part in (left, inserted, right))
    code = Syntax("", "python", background_color="default").highlight(left + inserted + right)
    code.stylize(INSERTED, len(left), len(left) + len(inserted))
    first, last = left.count("\n"), (left + inserted).count("\n")
    lines = code.split("\n")
    shown = range(max(0, first - CONTEXT_LINES), min(len(lines), last + CONTEXT_LINES + 1))
    return [
        _gutter(number + 1, bool(inserted) and first <= number <= last) + lines[number] for number in shown
    ]


def _gutter(number: int, is_new: bool) -> StyledText:
    return StyledText(f"{number:>5} {'+' if is_new else ' '} ", style="bold green" if is_new else "dim")


def _with_plain_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")
