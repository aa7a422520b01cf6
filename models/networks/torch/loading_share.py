"""How far the loading of weights has come, as far as transformers lets one know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from transformers.utils import logging

Tell = Callable[[float], None]


@contextmanager
def telling(tell: Tell) -> Iterator[None]:
    """While weights are loaded, *tell* the share of them that is there, from 0 to 1.

    Takes the place of the progress bars that transformers would draw. Older versions do not let one know.
    """
    set_hook: Callable[[Any], Any] | None = getattr(logging, "set_tqdm_hook", None)
    if set_hook is None:
        yield
        return

    def bar(factory: Callable[..., Any], arguments: tuple[Any, ...], options: Mapping[str, Any]) -> object:
        return counted(arguments[0], tell) if arguments else factory(**options)

    before = set_hook(bar)
    try:
        yield
    finally:
        set_hook(before)


def counted(items: Iterable[Any], tell: Tell) -> Iterator[Any]:
    """The *items*, *tell*ing which share of them was asked for."""
    items = list(items)
    for number, item in enumerate(items):
        tell(number / len(items))
        yield item
    tell(1.0)
