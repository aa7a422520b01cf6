"""Numbers of JSON that are not beyond a bound, as expressions over their digits.

They are written without an exponent: with one, no automaton could compare them. Multiples are found by the
remainder of the digits read so far.
"""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from fimlsp.lexing.automata.leftmost_first import Bytes, Program, Split
from fimlsp.lexing.automata.regex import EMPTY, Regex, choice, exactly, many, maybe, one_of, sequence, some

_DIGIT = one_of(string.digits)
_ANY_DIGITS = many(_DIGIT)
_ANY_FRACTION = maybe(".", some(_DIGIT))
_NOTHING = choice()
_NOT_ZERO = sequence(many("0"), one_of("123456789"), _ANY_DIGITS)
_ANY_WHOLE = choice("0", sequence(one_of("123456789"), _ANY_DIGITS))
_ANY = sequence(_ANY_WHOLE, _ANY_FRACTION)
DECIMAL = sequence(maybe("-"), _ANY)
"""All numbers without an exponent."""

MOST_DIGITS = 100
MOST_REMAINDERS = 2_000
_ZERO = ord("0")


@dataclass(frozen=True, slots=True)
class Bound:
    """The numbers from *value* on, or down from it if it *is_upper*; without it if it *is_strict*."""

    value: Decimal
    is_upper: bool
    is_strict: bool


def is_short(value: Decimal) -> bool:
    """True if an automaton can compare with *value*."""
    return sum(map(len, _digits(abs(value)))) <= MOST_DIGITS


def equal(value: Decimal) -> Regex:
    """The spellings of *value* without an exponent."""
    whole, fraction = _digits(abs(value))
    sign: Regex = maybe("-") if value == 0 else sequence("-") if value < 0 else EMPTY
    rest = sequence(".", fraction, many("0")) if fraction else maybe(".", some("0"))
    return sequence(sign, whole, rest)


def is_countable(step: Decimal) -> bool:
    """True if an automaton can find the multiples of *step*."""
    parts, places = _scaled(step)
    return parts * (places + 1) <= MOST_REMAINDERS


def multiples(program: Program, accept: int, step: Decimal) -> int:
    """The first step in *program* of the numbers that are multiples of *step*, before the step *accept*.

    A state is the remainder of the digits so far, of which those after the point are at most as many as those
    of *step*. Later digits have to be zeros.
    """
    parts, places = _scaled(step)
    zeros = program.choice(())
    program.steps[zeros] = Split((accept, program.add(Bytes({_ZERO: zeros}))))
    after = [program.add(Bytes({_ZERO: zeros} if remainder == 0 else {})) for remainder in range(parts)]
    for place in range(places, 0, -1):
        ends = [remainder * 10 ** (places - place) % parts == 0 for remainder in range(parts)]
        here = [
            program.choice((one, accept) if end else (one,)) for one, end in zip(after, ends, strict=True)
        ]
        after = [program.add(Bytes(_digit_steps(remainder, here))) for remainder in range(parts)]
    before = [program.choice(()) for _ in range(parts)]
    for remainder, one in enumerate(before):
        more = program.add(Bytes({**_digit_steps(remainder, before), ord("."): after[remainder]}))
        program.steps[one] = Split((more, accept) if remainder * 10**places % parts == 0 else (more,))
    digits = _digit_steps(0, before)
    return program.add(Bytes({ord("-"): program.add(Bytes(digits)), **digits}))


def _digit_steps(remainder: int, following: Sequence[int]) -> dict[int, int]:
    """One of *following* for each digit after *remainder*, by the remainder with it."""
    return {_ZERO + digit: following[(10 * remainder + digit) % len(following)] for digit in range(10)}


def _scaled(step: Decimal) -> tuple[int, int]:
    """*step* as a whole number, and the number of digits after its point."""
    places = max(0, -int(step.normalize().as_tuple().exponent))
    return int(step.scaleb(places)), places


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
