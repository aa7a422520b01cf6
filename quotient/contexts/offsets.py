"""A sorted map from offsets in a text to values, which an edit can cut and shift cheaply."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class Offsets(Generic[T]):
    """A map from offsets to values, sorted by offset.

    A look-up is a bisection, and adding at the end is O(1). Shifting all offsets is O(1); removing or cutting
    off those beyond an offset is linear in their number.
    """

    __slots__ = ("_first", "_keys", "_shift", "_values")

    def __init__(self, keys: list[int], values: list[T], shift: int = 0) -> None:
        self._keys = keys
        self._values = values
        self._shift = shift
        self._first = 0  # index of the first valid entry

    def __len__(self) -> int:
        return len(self._keys) - self._first

    def get(self, offset: int) -> T | None:
        """The value at *offset*; None if there is none."""
        index = bisect_left(self._keys, offset - self._shift, self._first)
        if index < len(self._keys) and self._keys[index] == offset - self._shift:
            return self._values[index]
        return None

    def put(self, offset: int, value: T) -> None:
        """Set the value at *offset*, which has none yet."""
        key = offset - self._shift
        if self._keys and key < self._keys[-1]:
            index = bisect_left(self._keys, key, self._first)
            self._keys.insert(index, key)
            self._values.insert(index, value)
        else:
            self._keys.append(key)
            self._values.append(value)

    @property
    def first(self) -> int:
        """The first offset."""
        return self._keys[self._first] + self._shift

    @property
    def last(self) -> tuple[int, T]:
        """The last offset and its value."""
        return self._keys[-1] + self._shift, self._values[-1]

    def at_or_before(self, offset: int) -> tuple[int, T]:
        """The last offset that is not beyond *offset*, or else the first one of all, with its value."""
        index = max(bisect_right(self._keys, offset - self._shift, self._first) - 1, self._first)
        return self._keys[index] + self._shift, self._values[index]

    def last_until(self, until: Callable[[T], bool]) -> int:
        """The last offset before the values for which *until* is true; these are all later ones."""
        index = bisect_left(self._values, True, self._first, key=until)
        return self._keys[index - 1] + self._shift

    def copy(self) -> Offsets[T]:
        """The same map, to be changed on its own."""
        return Offsets(self._keys[self._first :], self._values[self._first :], self._shift)

    def first_beyond(self, offset: int) -> int | None:
        """The first offset beyond *offset*, None if there is none."""
        index = bisect_right(self._keys, offset - self._shift, self._first)
        return self._keys[index] + self._shift if index < len(self._keys) else None

    def between(self, offset: int, last: int) -> Iterator[tuple[int, T]]:
        """The offsets beyond *offset* but not beyond *last* with their values, in order."""
        start = bisect_right(self._keys, offset - self._shift, self._first)
        end = bisect_right(self._keys, last - self._shift, start)
        return zip([key + self._shift for key in self._keys[start:end]], self._values[start:end], strict=True)

    def cut(self, offset: int) -> Offsets[T]:
        """Remove and return what is beyond *offset*."""
        index = bisect_right(self._keys, offset - self._shift, self._first)
        beyond = Offsets(self._keys[index:], self._values[index:], self._shift)
        del self._keys[index:], self._values[index:]
        return beyond

    def moved_beyond(self, offset: int, shift: int) -> Offsets[T]:
        """What is beyond *offset*, moved by *shift*; this map must not be used afterwards."""
        self._first = bisect_right(self._keys, offset - self._shift, self._first)
        self._shift += shift
        return self

    def extend(self, later: Offsets[T], offset: int, until: Callable[[T], bool]) -> None:
        """Add the entries of *later* beyond *offset*, up to the first value for which *until* is true.

        *until* must then be true for all later values as well.
        """
        start = bisect_right(later._keys, offset - later._shift, later._first)
        end = bisect_left(later._values, True, start, key=until)
        moved = later._shift - self._shift
        keys = later._keys[start:end]
        if moved:
            keys = [key + moved for key in keys]
        if keys and self._keys and keys[0] <= self._keys[-1]:
            known = dict(zip(keys, later._values[start:end], strict=True))
            known.update(zip(self._keys, self._values, strict=True))
            self._keys, self._first = sorted(known), 0
            self._values = [known[key] for key in self._keys]
            return
        self._keys += keys
        self._values += later._values[start:end]
