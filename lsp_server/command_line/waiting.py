"""Shows on a terminal what a command is doing, once that takes longer than a moment."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

MOMENT_S = 1.0


@contextmanager
def shown_if_slow() -> Iterator[Callable[[str], None]]:
    """Shows a bar on standard error, if that is a terminal, with the step that was told last."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task("", total=None)
    starting = Timer(MOMENT_S, bar.start)
    starting.start()
    try:
        yield lambda step: bar.update(task, description=step)
    finally:
        starting.cancel()
        starting.join()
        bar.stop()
