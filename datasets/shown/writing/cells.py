"""Notebooks written cell by cell, from the first to the last, in an editor that has them as notebooks.

The keys, and the pauses among them, are those of files written from empty; the kinds are `cell-word`,
`cell-open`, `cell-end` and `cell-start`. A cell that is not Python as it stands, mostly because of an IPython
command, appears as a whole and has no pauses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

from fimlsp.datasets.shown.writing.from_empty import Order, place_in, steps_of
from fimlsp.datasets.shown.writing.places import Cell, Place, Project, Step, Writing, draw_places
from fimlsp.datasets.sources import SourceError

KINDS = ("cell-word", "cell-open", "cell-end", "cell-start")


@dataclass(frozen=True, slots=True)
class WrittenCell:
    """The code cell *number*, from 1, of a notebook; *order* is None if it is not Python as it stands."""

    notebook: Path
    number: int
    text: str
    order: Order | None

    @property
    def name(self) -> str:
        """Notebook and number, for readers."""
        return f"{self.notebook}[{self.number}]"

    @property
    def hash(self) -> str:
        """The SHA-256 of name and text, in hexadecimal digits."""
        return sha256(f"{self.name}\n{self.text}".encode()).hexdigest()


def read_notebooks(folder: Path) -> list[WrittenCell]:
    """The code cells of the Python notebooks below *folder*, in a fixed order; paths are within it.

    Raises:
        SourceError: a notebook cannot be read.
    """
    cells = list[WrittenCell]()
    for path in sorted(folder.rglob("*.ipynb")):
        for number, text in enumerate(_code_cells(path), start=1):
            cells.append(WrittenCell(path.relative_to(folder), number, text, _order(text)))
    return cells


def _code_cells(path: Path) -> Iterator[str]:
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        metadata = notebook["metadata"]
        names = metadata.get("kernelspec", {}).get("language"), metadata.get("language_info", {}).get("name")
        if "python" in names:
            yield from (_text(cell) for cell in notebook["cells"] if cell["cell_type"] == "code")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SourceError(f"Cannot read the notebook {path}: {error}. Leave it out of the folder.") from error


def _text(cell: dict[str, Any]) -> str:
    """The text of a cell, which the format allows to be a list of lines."""
    return "".join(cell["source"])


def _order(text: str) -> Order | None:
    try:
        return Order.of(text)
    except (SyntaxError, ValueError):
        return None


def draw_cells(folder: Path, root: Path, n: int, seed: int) -> Project:
    """About *n* pauses in the notebooks of *folder*, which are written into the empty folder *root*.

    Raises:
        SourceError: a notebook cannot be read.
    """
    cells = read_notebooks(folder)
    orders = [(cell, cell.order) for cell in cells if cell.order is not None]
    weights = list(accumulate(len(cell.text.splitlines()) for cell, _ in orders))

    def draw(_: int, kind: str, random: Random) -> tuple[WrittenCell, Place] | None:
        cell, order = random.choices(orders, cum_weights=weights)[0]
        offsets = order.pauses[kind.replace("cell", "type")]
        place = place_in(kind, cell.name, cell.hash, order, random.choice(offsets)) if offsets else None
        return None if place is None else (cell, place)

    drawn = draw_places(n if any(weights) else 0, seed, KINDS, draw)
    writings, above = list[Writing](), ""
    for cell in cells if drawn else []:
        above = "" if cell.number == 1 else above
        places = [place for owner, place in drawn if owner is cell]
        writings.append(_writing(root, cell, above, places))
        above += "" if cell.order is None else f"{cell.text}\n"
    return Project(root, writings, keeps_open=True)


def _writing(root: Path, cell: WrittenCell, above: str, places: Sequence[Place]) -> Writing:
    order = cell.order

    def steps() -> Iterator[Step]:
        return iter([Step(cell.text, "")]) if order is None else steps_of(order, places)

    return Writing(root / cell.notebook, tuple(places), steps, cell=Cell(cell.number, above))
