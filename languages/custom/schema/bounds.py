"""Numbers of JSON that are not beyond a bound, as expressions over their digits.

They are written without an exponent: with one, no automaton could compare them.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from fimlsp.lexing.automata.regex import EMPTY, Regex, choice, exactly, many, maybe, one_of, sequence, some

_DIGIT = one_of(string.digits)
_ANY_DIGITS = many(_DIGIT)
_ANY_FRACTION = maybe(".", some(_DIGIT))
_NOTHING = choice()
_NOT_ZERO = sequence(many("0"), one_of("123456789"), _ANY_DIGITS)
_ANY_WHOLE = choice("0", sequence(one_of("123456789"), _ANY_DIGITS))
_ANY = sequence(_ANY_WHOLE, _ANY_FRACTION)

MOST_DIGITS = 100


@dataclass(frozen=True, slots=True)
class Bound:
    """The numbers from *value* on, or down from it if it *is_upper*; without it if it *is_strict*."""

    value: Decimal
    is_upper: bool
    is_strict: bool

    @property
    def is_short(self) -> bool:
        """True if an automaton can compare with it."""
        return sum(map(len, _digits(abs(self.value)))) <= MOST_DIGITS


@cache
def within(bound: Bound) -> Regex:
    """The numbers within *bound*."""
    size = _digits(abs(bound.value))
    nearer, farther = _at_most(*size, bound.is_strict), _at_least(*size, bound.is_strict)
    is_beyond_zero = bound.value < 0 if bound.is_upper else bound.value > 0
    if is_beyond_zero or (bound.value == 0 and bound.is_strict):
        same, other = farther, _NOTHING
    else:
        same, other = _ANY, nearer
    negative, positive = (same, other) if bound.is_upper else (other, same)
    return choice(sequence("-", negative), positive)


def _digits(size: Decimal) -> tuple[str, str]:
    """The digits of *size* before and after its point."""
    whole, _, fraction = f"{size:f}".partition(".")
    return whole.lstrip("0") or "0", fraction.rstrip("0")


def _at_least(whole: str, fraction: str, is_strict: bool) -> Regex:
    if fraction:
        rest: Regex = sequence(".", _fraction_above(fraction, is_strict))
    else:
        rest = sequence(".", _NOT_ZERO) if is_strict else _ANY_FRACTION
    return choice(sequence(_whole_above(whole), _ANY_FRACTION), sequence(whole, rest))


def _at_most(whole: str, fraction: str, is_strict: bool) -> Regex:
    if fraction:
        rest = maybe(".", _fraction_below(fraction, is_strict))
    else:
        rest = _NOTHING if is_strict else maybe(".", some("0"))
    return choice(sequence(_whole_below(whole), _ANY_FRACTION), sequence(whole, rest))


def _above(digit: str) -> Regex:
    return one_of(string.digits[int(digit) + 1 :])


def _below(digit: str, least: int = 0) -> Regex:
    return one_of(string.digits[least : int(digit)])


def _fraction_above(digits: str, is_strict: bool) -> Regex:
    rest = _NOT_ZERO if is_strict else _ANY_DIGITS
    for digit in reversed(digits):
        rest = choice(sequence(_above(digit), _ANY_DIGITS), sequence(digit, rest))
    return rest


def _fraction_below(digits: str, is_strict: bool) -> Regex:
    rest = _NOTHING if is_strict else many("0")
    for number, digit in enumerate(reversed(digits)):
        rest = choice(
            sequence(_below(digit), _ANY_DIGITS), sequence(digit, rest if number == 0 else maybe(rest))
        )
    return rest


def _whole_above(digits: str) -> Regex:
    rest: Regex = _NOTHING
    for place, digit in reversed([*enumerate(digits)]):
        rest = choice(
            sequence(_above(digit), exactly(len(digits) - place - 1, _DIGIT)), sequence(digit, rest)
        )
    longer = sequence(one_of("123456789"), exactly(len(digits), _DIGIT), _ANY_DIGITS)
    return choice(sequence(one_of("123456789"), _ANY_DIGITS) if digits == "0" else longer, rest)


def _whole_below(digits: str) -> Regex:
    rest: Regex = _NOTHING
    for place, digit in reversed([*enumerate(digits)]):
        least = 1 if place == 0 and len(digits) > 1 else 0
        rest = choice(
            sequence(_below(digit, least), exactly(len(digits) - place - 1, _DIGIT)), sequence(digit, rest)
        )
    shorter: Regex = EMPTY
    for _ in range(len(digits) - 2):
        shorter = maybe(_DIGIT, shorter)
    if len(digits) == 1:
        return rest
    return choice(rest, "0", sequence(one_of("123456789"), shorter))
