"""The parts of every report: summaries of numbers, Markdown tables, and pages as Markdown and HTML."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

FIGURE = re.compile(r"[-+]?[\d,]+(\.\d+)?( %| = [\d.]+ %)?$")
STYLE = """body{font:15px/1.45 sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;margin:1rem 0}th,td{border:1px solid #ccc;padding:.2rem .6rem;text-align:left}
td:not(:last-child){white-space:nowrap}
pre{background:#f6f6f6;padding:.6rem;overflow:auto}svg{max-width:100%}"""


def size_class(characters: int) -> int:
    """The smallest power of two that is at least 1,024 and greater than *characters*."""
    return max(1024, 1 << characters.bit_length())


@dataclass(frozen=True, slots=True)
class Distribution:
    """Median, 90th percentile, maximum and mean of *n* numbers."""

    n: int
    median: float
    p90: float
    max: float
    mean: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Distribution | None:
        """The distribution of *values*; None if there are none. `of([4, 1, 2, 3])` has median 3."""
        if not values:
            return None
        ordered = sorted(values)
        return cls(
            len(ordered),
            quantile(ordered, 0.5),
            quantile(ordered, 0.9),
            ordered[-1],
            sum(ordered) / len(ordered),
        )


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which *share* of the *ordered* values lie."""
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    """The lines of a Markdown table and an empty line. Columns of figures are aligned to the right."""
    cells = [[_cell(cell) for cell in row] for row in rows]
    marks = ["---:" if _is_numeric([row[column] for row in cells]) else "---" for column in range(len(head))]
    body = [f"| {' | '.join(row)} |" for row in cells]
    return [f"| {' | '.join(head)} |", f"|{'|'.join(marks)}|", *body, ""]


def _is_numeric(cells: Sequence[str]) -> bool:
    """True if all cells of a column are figures or empty; it is then aligned to the right."""
    return any(map(FIGURE.match, cells)) and all(cell in ("–", "") or FIGURE.match(cell) for cell in cells)


def _cell(value: object) -> str:
    return "–" if value is None else str(value).replace("|", "\\|").replace("\n", " ")


def number(value: float | None) -> str | None:
    """A number with about three digits; None stays None."""
    if value is None:
        return None
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}" if abs(value) >= 1 else f"{value:.3f}"


def share(part: int, whole: int) -> str | None:
    """*part* and its percentage, such as `65,353 = 68.51 %`; None if *whole* is 0."""
    return f"{part:,} = {100 * part / whole:.2f} %" if whole else None


def fenced(text: str, language: str) -> list[str]:
    """*text* as a block of code in *language*; the fence is longer than any in the text."""
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`+", text))])
    return [f"{fence}{language}", text.encode(errors="replace").decode(), fence, ""]


def write_page(folder: Path, name: str, lines: Sequence[str], pictures: Mapping[str, str]) -> None:
    """Write `name.md` and `name.html` into *folder*, and their *pictures*, as SVG by file name."""
    from markdown_it import MarkdownIt

    text = "\n".join(lines)
    (folder / f"{name}.md").write_text(text, encoding="utf-8")
    for picture, svg in pictures.items():
        (folder / picture).write_text(svg, encoding="utf-8")
    body = MarkdownIt("commonmark").enable("table").render(text)
    body = re.sub(r'<img src="([^"]+)"[^>]*>', lambda image: pictures.get(image[1], image[0]), body)
    body = re.sub(r'href="(\w+)\.md', r'href="\1.html', body)
    title = next((line.lstrip("# ") for line in lines if line.startswith("#")), name)
    head = f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    html = f"{head}<style>{STYLE}</style>{body}"
    (folder / f"{name}.html").write_text(html, encoding="utf-8")
