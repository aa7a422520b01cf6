"""Pages of reports, as Markdown and HTML: summaries of numbers, tables, and charts as SVG."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import log10
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
    body = re.sub(r'<img src="([^"<>]+)"[^<>]*>', lambda image: pictures.get(image[1], image[0]), body)
    body = re.sub(r'href="(\w+)\.md', r'href="\1.html', body)
    title = next((line.lstrip("# ") for line in lines if line.startswith("#")), name)
    head = f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    html = f"{head}<style>{STYLE}</style>{body}"
    (folder / f"{name}.html").write_text(html, encoding="utf-8")


Point = tuple[float, float]
Mark = tuple[float, str]

WIDTH, HEIGHT = 640, 300
DASH, SHARE_LABELLED_MIN = 6, 0.01
LEFT, RIGHT, TOP, BOTTOM = 56, 190, 48, 44
COLOURS = {
    "unconstrained": "#888888",
    "longest": "#b58900",
    "best": "#cb4b16",
    "constrained": "#268bd2",
    "steered": "#2a8f3c",
}
CURVE_COLOURS = ("#cc3333", "#1a5c8f", "#1d6b2c")
OTHER_COLOURS = ("#268bd2", "#2a8f3c", "#b58900", "#cb4b16", "#6c71c4", "#888888")
SHEET = (
    "text{font:12px sans-serif;fill:#333}.t{font-size:14px;font-weight:bold}"
    ".s{font-size:9px}.g{stroke:#ddd}.e{text-anchor:end}.m{text-anchor:middle}"
)


def lines(
    title: str, axes: tuple[str, str], labels: Sequence[str], series: Mapping[str, Sequence[float | None]]
) -> str:
    """Shares from 0 to 1 at each of *labels*, one line for each of *series*; None leaves a gap.

    Every second line is dashed, so that both of two equal lines are visible.
    """
    across = _across(len(labels))
    parts = _frame(title, axes, [(across(n), name) for n, name in enumerate(labels)], _shares())
    for number, (name, values) in enumerate(series.items()):
        colour = _colour(name, number)
        points = [(across(n), _up(value)) for n, value in enumerate(values) if value is not None]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashes = f' stroke-dasharray="{DASH} {DASH}"' if number % 2 else ""
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        parts.append(_key(number, name, colour))
    return _svg(parts)


def scatter(
    title: str,
    axes: tuple[str, str],
    series: Mapping[str, Sequence[Point]],
    curves: Mapping[str, Callable[[float], float]],
) -> str:
    """Points with positive coordinates on two logarithmic axes, and the graphs of functions over them."""
    points = [point for group in series.values() for point in group]
    x, x_marks = _log_scale([x for x, _ in points], LEFT, WIDTH - RIGHT)
    across = _spread([x for x, _ in points])
    graphs = {name: [(x, curve(x)) for x in across if curve(x) > 0] for name, curve in curves.items()}
    heights = [y for graph in graphs.values() for _, y in graph]
    y, y_marks = _log_scale([*(y for _, y in points), *heights], HEIGHT - BOTTOM, TOP)
    parts = _frame(title, axes, x_marks, y_marks)
    for number, (name, group) in enumerate(series.items()):
        colour = _colour(name, number)
        parts += [
            f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="2" fill="{colour}" fill-opacity="0.4"/>'
            for a, b in group
        ]
        parts.append(_key(number, name, colour))
    for number, (name, graph) in enumerate(graphs.items(), len(series)):
        colour = CURVE_COLOURS[(number - len(series)) % len(CURVE_COLOURS)]
        path = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in graph)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" '
            'stroke-dasharray="5 4"/>'
        )
        parts.append(_key(number, name, colour))
    return _svg(parts)


def _spread(values: Sequence[float], steps: int = 40) -> list[float]:
    """Numbers from the least of *values* to the greatest in equal ratios."""
    positive = [value for value in values if value > 0] or [1.0]
    low, high = min(positive), max(positive)
    return [low * (high / low) ** (step / steps) for step in range(steps + 1)]


def bars(
    title: str, axes: tuple[str, str], labels: Sequence[str], series: Mapping[str, Sequence[float]]
) -> str:
    """Shares from 0 to 1 at each of *labels*, as adjacent bars, one for each of *series*."""
    across = _across(len(labels))
    parts = _frame(title, axes, [(across(n), name) for n, name in enumerate(labels)], _shares())
    width = 0.8 * (across(1) - across(0)) / max(1, len(series))
    for number, (name, values) in enumerate(series.items()):
        colour = _colour(name, number)
        for n, value in enumerate(values):
            text = f"{100 * value:.2g}" if value >= SHARE_LABELLED_MIN else ""
            left, top = across(n) + (number - len(series) / 2) * width, _up(value)
            parts.append(
                f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{_up(0) - top:.1f}" '
                f'fill="{colour}"/><text class="m s" x="{left + width / 2:.1f}" y="{top - 3:.1f}">'
                f"{text}</text>"
            )
        parts.append(_key(number, name, colour))
    return _svg(parts)


def _colour(name: str, number: int) -> str:
    return COLOURS.get(name, OTHER_COLOURS[number % len(OTHER_COLOURS)])


def _across(n: int) -> Callable[[float], float]:
    step = (WIDTH - LEFT - RIGHT) / max(1, n)
    return lambda number: LEFT + (number + 0.5) * step


def _up(share: float) -> float:
    return HEIGHT - BOTTOM - share * (HEIGHT - BOTTOM - TOP)


def _shares() -> list[Mark]:
    return [(_up(tenths / 10), f"{tenths * 10} %") for tenths in range(0, 11, 2)]


def _log_scale(
    values: Sequence[float], first: float, last: float
) -> tuple[Callable[[float], float], list[Mark]]:
    """A map of *values* to coordinates between *first* and *last*, and marks at the powers of ten."""
    exponents = [log10(value) for value in values if value > 0] or [0.0]
    low, high = int(min(exponents) // 1), int(-(-max(exponents) // 1))
    high = max(high, low + 1)

    def scale(value: float) -> float:
        share = (log10(max(value, 10.0**low)) - low) / (high - low)
        return first + share * (last - first)

    return scale, [(scale(10.0**power), _power(power)) for power in range(low, high + 1)]


def _power(exponent: int) -> str:
    return f"{10**exponent:,}" if exponent >= 0 else f"{10.0**exponent:g}"


def _frame(
    title: str,
    axes: tuple[str, str],
    x_marks: Sequence[Point | tuple[float, str]],
    y_marks: Sequence[tuple[float, str]],
) -> list[str]:
    bottom, end = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [f'<text class="t" x="{LEFT}" y="16">{escape(title)}</text>']
    for y, name in y_marks:
        parts.append(f'<line class="g" x1="{LEFT}" x2="{end}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="e" x="{LEFT - 6}" y="{y + 4:.1f}">{escape(name)}</text>')
    parts += [
        f'<text class="m" x="{x:.1f}" y="{bottom + 16}">{escape(str(name))}</text>' for x, name in x_marks
    ]
    parts.append(f'<text class="m" x="{(LEFT + end) / 2:.0f}" y="{HEIGHT - 8}">{escape(axes[0])}</text>')
    parts.append(f'<text x="4" y="{TOP - 14}">{escape(axes[1])}</text>')
    return parts


def _key(number: int, name: str, colour: str) -> str:
    x, y = WIDTH - RIGHT + 10, TOP + 6 + 18 * number
    return (
        f'<rect x="{x}" y="{y - 9}" width="10" height="10" fill="{colour}"/>'
        f'<text x="{x + 15}" y="{y}">{escape(name)}</text>'
    )


def _svg(parts: Sequence[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}">'
        f'<style>{SHEET}</style><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>{"".join(parts)}</svg>\n'
    )
