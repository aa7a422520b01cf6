"""Numbers, characters and strings in Go, as `go/scanner` reads them."""

from __future__ import annotations

import string

from fimlsp.lexing.automata.regex import (
    Regex,
    character_but,
    choice,
    exactly,
    many,
    maybe,
    one_of,
    sequence,
    some,
)

_MARK = "\ufeff"
_DIGIT, _OCTAL, _BINARY = one_of(string.digits), one_of(string.octdigits), one_of("01")
_HEX = one_of(string.hexdigits)
_BREAK = maybe("_")


def number() -> Regex:
    """A number with an underscore only between digits, or behind the letters of a base."""
    decimal, power = _separated(_DIGIT), _exponent("eE")
    hexadecimal = _behind_base("xX", _HEX)
    hexadecimal_digits = choice(
        sequence(hexadecimal, maybe(".", maybe(_separated(_HEX)))),
        sequence("0", one_of("xX"), ".", _separated(_HEX)),
    )
    floating = choice(
        sequence(decimal, ".", maybe(decimal), maybe(power)),
        sequence(decimal, power),
        sequence(".", decimal, maybe(power)),
        sequence(hexadecimal_digits, _exponent("pP")),
    )
    integer = choice(
        sequence(one_of("123456789"), many(_BREAK, _DIGIT)),
        sequence("0", many(_BREAK, _OCTAL)),
        hexadecimal,
        _behind_base("oO", _OCTAL),
        _behind_base("bB", _BINARY),
    )
    imaginary = choice(decimal, hexadecimal, _behind_base("oObB", _DIGIT), floating)
    return choice(integer, floating, sequence(imaginary, "i"))


def malformed_number() -> Regex:
    """What is read as one number before it is found out whether it is one."""
    digits, sign = many(one_of(string.digits + "_")), maybe(one_of("+-"))
    hexdigits = many(one_of(string.hexdigits + "_"))
    exponent = maybe(one_of("eEpP"), sign, digits)
    binary_exponent = maybe(one_of("pP"), sign, digits)  # an "e" is one of the digits
    return choice(
        sequence(_DIGIT, digits, maybe(".", digits), exponent, maybe("i")),
        sequence(".", _DIGIT, digits, exponent, maybe("i")),
        sequence("0", one_of("bBoO"), digits, maybe(".", digits), exponent, maybe("i")),
        sequence("0", one_of("xX"), hexdigits, maybe(".", hexdigits), binary_exponent, maybe("i")),
    )


def _separated(digit: Regex) -> Regex:
    return sequence(digit, many(_BREAK, digit))


def _behind_base(letters: str, digit: Regex) -> Regex:
    return sequence("0", one_of(letters), some(_BREAK, digit))


def _exponent(letters: str) -> Regex:
    return sequence(one_of(letters), maybe(one_of("+-")), _separated(_DIGIT))


def rune() -> Regex:
    """One character, or an escape, in single quotes."""
    return sequence("'", choice(character_but("'\\\n" + _MARK), _escape("'")), "'")


def quoted() -> Regex:
    """A string in double quotes."""
    return sequence('"', many(choice(character_but('"\\\n' + _MARK), _escape('"'))), '"')


def raw_string() -> Regex:
    """A string between back quotes, in which nothing is escaped."""
    return sequence("`", many(character_but("`" + _MARK)), "`")


def _escape(quote: str) -> Regex:
    """An escape in a literal with these *quote* marks; those of code points are no surrogates."""
    three = exactly(3, _HEX)
    basic = choice(
        sequence(one_of("0123456789abcABCefEF"), three),
        sequence(one_of("dD"), one_of("01234567"), exactly(2, _HEX)),
    )
    plane = choice(sequence("000", one_of("123456789abcdefABCDEF")), "0010")
    return sequence(
        "\\",
        choice(
            one_of("abfnrtv\\" + quote),
            sequence(one_of("0123"), _OCTAL, _OCTAL),
            sequence("x", exactly(2, _HEX)),
            sequence("u", basic),
            sequence("U", choice(sequence("0000", basic), sequence(plane, exactly(4, _HEX)))),
        ),
    )
