"""The number of CPU threads that a model uses, so that some are left for the editor.

Decoding is memory-bound: two to four threads saturate it, and only reading the prompt scales further.
Importing this module does not import torch.
"""

from __future__ import annotations

import os
from contextlib import suppress

from fimlsp.models.errors import ModelError

ENOUGH = 4


def default_threads() -> int:
    """Half of the processors that this process may use, at most four."""
    return max(1, min(ENOUGH, usable_processors() // 2))


def limit_threads(threads: int) -> None:
    """Let torch use *threads* threads for each call, and run one call at a time; for the whole process.

    Raises:
        ModelError: *threads* is less than 1.
    """
    if threads < 1:
        raise ModelError(f"A model cannot run on {threads} threads; use 1 or more.")
    import torch

    torch.set_num_threads(threads)
    with suppress(RuntimeError):  # it can be set once in a process
        torch.set_num_interop_threads(1)


def usable_processors() -> int:
    """The number of processors that this process may use, if the system reports it; otherwise of all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
