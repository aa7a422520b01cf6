"""Runs a fuzz target: seeded cases for some seconds, each watched so that it cannot hang, memory level."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import os
import signal
import time
from contextlib import contextmanager, suppress
from random import Random

import psutil
import pytest

SEED = os.environ.get("FIMLSP_FUZZ_SEED", "1")
PATIENCE_S = 20
"""For one case; most take milliseconds."""

MOST_GROWTH = 1.25
SLACK = 64 << 20
"""Bytes that memory may grow in any case: caches fill, and allocators keep what was freed."""

SECONDS = [
    pytest.param(3.0, id="short"),
    pytest.param(float(os.environ.get("FIMLSP_FUZZ_SECONDS", "60")), id="long", marks=pytest.mark.fuzz),
]
for_some_seconds = pytest.mark.parametrize("seconds", SECONDS)


class Hangs(BaseException):
    """Not an Exception, so that no code that is tested takes it for one of its own."""


class Campaign:
    """The cases of the target *name*; `each` gives their random numbers until the *seconds* are over."""

    def __init__(self, name, seconds, pid=None):
        self.name = name
        self.end = time.monotonic() + seconds
        self.middle = time.monotonic() + seconds / 2
        self.process = psutil.Process(pid)
        self.n_cases = 0
        self.early = None

    def each(self):
        while time.monotonic() < self.end or self.n_cases < 2:
            self.n_cases += 1
            if self.early is None and time.monotonic() > self.middle:
                self.early = self.memory()
            yield Random(f"{self.name} {SEED} {self.n_cases}")

    def memory(self):
        if self.process.pid == os.getpid():
            give_back_memory()
        return self.process.memory_info().rss

    def conclude(self):
        """Tell the figures, and fail if the second half took more memory than the first."""
        now = self.memory()
        early = self.early or now
        print(f"{self.name}: {self.n_cases} cases, {early >> 20} MB in the middle, {now >> 20} MB at the end")
        assert now <= MOST_GROWTH * early + SLACK

    @contextmanager
    def case(self):
        """Name the case if it fails."""
        try:
            yield
        except (Exception, Hangs) as error:
            raise AssertionError(
                f"case {self.n_cases} of {self.name} with FIMLSP_FUZZ_SEED={SEED}: {error!r}"
            ) from error


def give_back_memory():
    """Return what the allocator holds of freed memory; each thread has had an arena of its own."""
    gc.collect()
    with suppress(OSError, AttributeError):  # no glibc
        ctypes.CDLL(None).malloc_trim(0)


def run(name, seconds, case):
    """Call *case* with random numbers for so many *seconds*. One that hangs is interrupted and fails."""

    def hang(*_):
        raise Hangs(f"no end after {PATIENCE_S} s")

    campaign = Campaign(name, seconds)
    before = signal.signal(signal.SIGALRM, hang)
    try:
        for rng in campaign.each():
            signal.alarm(PATIENCE_S)
            with campaign.case():
                case(rng)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    campaign.conclude()


async def run_async(name, seconds, case, pid=None):
    """As `run`, for a coroutine; the memory is that of the process *pid*."""
    campaign = Campaign(name, seconds, pid)
    for rng in campaign.each():
        with campaign.case():
            await asyncio.wait_for(case(rng), PATIENCE_S)
    campaign.conclude()
