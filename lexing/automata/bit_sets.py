"""Sets of small numbers as the bits of an integer: of states, terminals and groups of tokens."""

from __future__ import annotations

from collections.abc import Iterable


def bit_set(numbers: Iterable[int]) -> int:
    """The bit set of *numbers*."""
    bits = 0
    for number in numbers:
        bits |= 1 << number
    return bits


def members(bits: int) -> list[int]:
    """The numbers in a bit set."""
    numbers = []
    while bits:
        lowest = bits & -bits
        numbers.append(lowest.bit_length() - 1)
        bits ^= lowest
    return numbers
