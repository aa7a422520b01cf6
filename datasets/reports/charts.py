"""Charts of the reports, as SVG."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from math import log10

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
