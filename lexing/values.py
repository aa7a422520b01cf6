"""Dataclasses that are immutable by convention: mypy enforces it; for speed, run time does not.

A frozen dataclass takes four times as long to construct, and a jump of the cursor constructs about a hundred.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, overload

T = TypeVar("T")

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: object) -> Callable[[T], T]:
        """Replaces the decorator of `typing_extensions`, which only type checkers need."""
        return lambda decorator: decorator


@overload
def value(cls: type[T]) -> type[T]: ...
@overload
def value(*, eq: bool) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[T] | None = None, *, eq: bool = True) -> type[T] | Callable[[type[T]], type[T]]:
    """Make *cls* a value class. With *eq* off its instances are compared and hashed by identity."""
    make = dataclass(slots=True, eq=eq, unsafe_hash=eq)
    return make if cls is None else make(cls)
