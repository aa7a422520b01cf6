"""Draws the training loss as an SVG picture for the model card."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor

WIDTH, HEIGHT, MARGIN = 640, 320, 48


def loss_plot(history: Sequence[tuple[int, float]]) -> str:
    """A line of the loss (nats per token) over the tokens read; *history* has pairs of tokens and loss."""
    points = history or [(0, 0.0)]
    tokens_max = max(1, points[-1][0])
    low, high = floor(min(loss for _, loss in points)), ceil(max(loss for _, loss in points) + 1e-9)

    def place(tokens: float, loss: float) -> str:
        x = MARGIN + (WIDTH - 2 * MARGIN) * tokens / tokens_max
        y = HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * (loss - low) / max(1, high - low)
        return f"{x:.1f},{y:.1f}"

    line = " ".join(place(tokens, loss) for tokens, loss in points)
    rules = "".join(
        _rule(place(0, level), place(tokens_max, level), str(level)) for level in range(low, high + 1)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        f'font-size="12"><rect width="100%" height="100%" fill="white"/>{rules}'
        f'<polyline points="{line}" fill="none" stroke="#1f6feb" stroke-width="1.5"/>'
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 12}" text-anchor="middle">'
        f"loss in nats per token over {tokens_max / 1e6:.1f} M tokens</text></svg>\n"
    )


def _rule(begin: str, end: str, label: str) -> str:
    """A level line with its *label*."""
    (x, y), (x_end, _) = begin.split(","), end.split(",")
    return (
        f'<line x1="{x}" y1="{y}" x2="{x_end}" y2="{y}" stroke="#ddd"/>'
        f'<text x="{float(x) - 8}" y="{float(y) + 4}" text-anchor="end">{label}</text>'
    )
