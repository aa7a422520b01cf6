"""Clocks, and the figures of many measurements."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median


@dataclass(frozen=True, slots=True)
class Measurement:
    """Milliseconds of one operation, those of garbage collection in it, and its position."""

    cpu: float
    wall: float
    collecting: float
    place: str


@dataclass(slots=True)
class Series:
    """The measurements of one operation; its figures are CPU time."""

    name: str
    target: float | None = None
    unit: str = "ms"
    found: list[Measurement] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The median, which is compared with the target."""
        return median(m.cpu for m in self.found)

    @property
    def wall_median(self) -> float:
        """The median of wall time."""
        return median(m.wall for m in self.found)

    @property
    def p90(self) -> float:
        """The time that nine of ten measurements do not exceed."""
        return self._quantile(90)

    @property
    def p99(self) -> float:
        """The time that 99 of a hundred measurements do not exceed."""
        return self._quantile(99)

    def _quantile(self, percent: int) -> float:
        ordered = sorted(m.cpu for m in self.found)
        return ordered[-(-len(ordered) * percent // 100) - 1]

    @property
    def worst(self) -> Measurement:
        """The slowest measurement."""
        return max(self.found, key=lambda m: m.cpu)

    @property
    def collecting(self) -> float:
        """The share of the CPU time that went into garbage collection."""
        return sum(m.collecting for m in self.found) / max(sum(m.cpu for m in self.found), 1e-9)

    @property
    def longest_collection(self) -> float:
        """The most that garbage collection added to one measurement."""
        return max(m.collecting for m in self.found)

    @contextmanager
    def timed(self, place: str, per: int = 1) -> Iterator[None]:
        """Measure the block, as one of *per* equal operations."""
        with _collections() as pauses:
            wall, cpu = time.perf_counter_ns(), time.process_time_ns()
            yield
            cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
        scale = 1e6 * per
        self.found.append(Measurement(cpu / scale, wall / scale, sum(pauses) / scale, place))


@contextmanager
def _collections() -> Iterator[list[int]]:
    """The nanoseconds of each garbage collection in the block."""
    pauses: list[int] = []
    started = 0

    def watch(phase: str, _: dict[str, int]) -> None:
        nonlocal started
        if phase == "start":
            started = time.process_time_ns()
        else:
            pauses.append(time.process_time_ns() - started)

    gc.callbacks.append(watch)
    try:
        yield pauses
    finally:
        gc.callbacks.remove(watch)
