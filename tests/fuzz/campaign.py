"""Runs a fuzz target: seeded cases for some seconds, each watched so that it cannot hang, memory level."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import time
from contextlib import contextmanager, suppress
from random import Random

import psutil
import pytest

from ..lsp_server.waiting import HANG_GUARD_S, finished

SEED = os.environ.get("FIMLSP_FUZZ_SEED", "1")
MOST_CPU_S = 20
"""Processor time of one case, which does not depend on the load of the machine; most take milliseconds."""

MOST_GROWTH = 1.25
SLACK = 64 << 20
"""Bytes that memory may grow in any case: caches fill, and allocators keep what was freed."""

SECONDS = [
    pytest.param(1.0, id="short"),
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
        """Print the figures, and fail if the second half took more memory than the first."""
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
    """Return freed memory to the system; each thread has had its own arena."""
    gc.collect()
    with suppress(OSError, AttributeError):  # no glibc
        ctypes.CDLL(None).malloc_trim(0)


def run(name, seconds, case):
    """Call *case* with random numbers for so many *seconds*. One that hangs is interrupted and fails."""

    def hang(signal_number, _frame):
        raise Hangs(f"no end: {signal.Signals(signal_number).name}")

    campaign = Campaign(name, seconds)
    before = [(number, signal.signal(number, hang)) for number in (signal.SIGALRM, signal.SIGPROF)]
    try:
        for rng in campaign.each():
            signal.setitimer(signal.ITIMER_PROF, MOST_CPU_S)
            signal.alarm(int(HANG_GUARD_S))
            with campaign.case():
                case(rng)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        for number, handler in before:
            signal.signal(number, handler)
    campaign.conclude()


async def run_async(name, seconds, case, pid=None):
    """As `run`, for a coroutine; the memory is that of the process *pid*."""
    campaign = Campaign(name, seconds, pid)
    for rng in campaign.each():
        with campaign.case():
            await finished(case(rng))
    campaign.conclude()
