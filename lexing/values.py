"""Values: dataclasses of which nobody sets a field.

The type checker sees to that, and at run time nothing does: a frozen dataclass takes four times as long to
make, and a jump to another place of a file makes a hundred of them.
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
        """For type checkers alone; older versions of `typing` lack it."""
        return lambda decorator: decorator


@overload
def value(cls: type[T]) -> type[T]: ...
@overload
def value(*, eq: bool) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value(cls: type[T] | None = None, *, eq: bool = True) -> type[T] | Callable[[type[T]], type[T]]:
    """Make *cls* a class of values; without *eq* a value is equal to itself alone."""
    make = dataclass(slots=True, eq=eq, unsafe_hash=eq)
    return make if cls is None else make(cls)
