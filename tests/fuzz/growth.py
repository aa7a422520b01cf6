"""How the processor time of some work grows with its input: the ratio of the times at 4 n and at n."""

from __future__ import annotations

from math import inf
from time import process_time

FLOOR_S = 0.003
"""Shorter times are noise: the input grows until the work takes so long."""

MOST = 6.0
"""The largest ratio of linear work: 4, with caches and noise. Quadratic work has 16."""

_AT_ONCE = 30
"""A ratio for an input that is half as long again: only exponential work has it."""

_EXPONENTIAL_N = 54
"""Exponential work takes seconds before this n. Beyond it the input may grow in larger steps."""


def growth(work, text_of, most):
    """The ratio for `work(text_of(n))`; 0 if it is quick up to *most* bytes, inf if the time explodes."""
    before, n, text = 0.0, 16, text_of(16)
    while (took := cpu_time(work, text)) < FLOOR_S:
        if len(text) > most:
            return 0.0
        fitting = n * most // len(text) + 1
        before, n = took, n * 3 // 2 if n < _EXPONENTIAL_N else max(n + 1, min(n * 9, fitting))
        text = text_of(n)
    if took > _AT_ONCE * max(before, FLOOR_S / 5):
        return inf
    ratio = inf
    for _ in range(6):  # a busy machine disturbs single measurements
        shorter = max(cpu_time(work, text_of(n)) for _ in range(2))
        ratio = min(ratio, cpu_time(work, text_of(4 * n)) / shorter)
        if ratio < MOST:
            break
    return ratio


def cpu_time(work, text):
    started = process_time()
    work(text)
    return process_time() - started
