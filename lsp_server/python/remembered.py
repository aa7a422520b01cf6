"""Remembers what was found in a text by the text's hash, so that the text itself is not kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from fimlsp.lexing.bounded_dict import BoundedDict

P = ParamSpec("P")
R = TypeVar("R")


def remembered(
    most: int,
) -> Callable[[Callable[Concatenate[bytes, P], R]], Callable[Concatenate[bytes, P], R]]:
    """Makes a function of a text remember its *most* latest results, which should be small.

    Two texts of one length count as the same if their 64-bit hashes are, which are salted in each process.
    """

    def decorate(function: Callable[Concatenate[bytes, P], R]) -> Callable[Concatenate[bytes, P], R]:
        known = BoundedDict[object, R](most)

        @wraps(function)
        def found(text: bytes, /, *args: P.args, **kwargs: P.kwargs) -> R:
            key = hash(text), len(text), args, *kwargs.items()
            if key not in known:
                known[key] = function(text, *args, **kwargs)
            return known[key]

        return found

    return decorate
