"""How many threads of the CPU a model uses: some are left for the editor.

Who decodes reads every weight for every token, and two to four threads use up what the memory gives; only
reading a prompt goes on getting quicker. Networks in NumPy use one, as their matrices are small.
"""

from __future__ import annotations

import os
from contextlib import suppress

from fimlsp.models.errors import ModelError

ENOUGH = 4


def default_threads() -> int:
    """Half of the processors that this process may use, four at most."""
    return max(1, min(ENOUGH, _processors() // 2))


def limit_threads(threads: int) -> None:
    """Let torch use so many *threads* for each call, and make one call at a time.

    Raises:
        ModelError: there is none.
    """
    if threads < 1:
        raise ModelError(f"A model cannot run on {threads} threads; use 1 or more.")
    import torch

    torch.set_num_threads(threads)
    with suppress(RuntimeError):  # it can be set once in a process
        torch.set_num_interop_threads(1)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
