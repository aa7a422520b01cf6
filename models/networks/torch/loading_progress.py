"""Reports how far the loading of weights has come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from transformers.utils import logging

OnProgress = Callable[[float], None]


@contextmanager
def reporting_progress(on_progress: OnProgress) -> Iterator[None]:
    """While weights are loaded inside, call *on_progress* with the share that is there, from 0 to 1.

    Replaces the progress bars of transformers. Versions without a hook for that report nothing.
    """
    set_hook: Callable[[Any], Any] | None = getattr(logging, "set_tqdm_hook", None)
    if set_hook is None:
        yield
        return

    def bar(factory: Callable[..., Any], arguments: tuple[Any, ...], options: Mapping[str, Any]) -> object:
        return counted(arguments[0], on_progress) if arguments else factory(**options)

    before = set_hook(bar)
    try:
        yield
    finally:
        set_hook(before)


def counted(items: Iterable[Any], on_progress: OnProgress) -> Iterator[Any]:
    """The *items*; before each, *on_progress* gets the share of those that came before it."""
    items = list(items)
    for number, item in enumerate(items):
        on_progress(number / len(items))
        yield item
    on_progress(1.0)
