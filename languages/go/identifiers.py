"""Names in Go: letters and digits as Unicode has them, in the version that Go uses."""

from __future__ import annotations

import string
from functools import cache
from importlib.resources import files

from fimlsp.lexing.automata.regex import Range, Regex, choice, code_points, many, one_of, sequence


def identifier() -> Regex:
    """A name, or a keyword."""
    first = choice(one_of(string.ascii_letters + "_"), code_points(_ranges("letters")))
    digit = choice(one_of(string.digits), code_points(_ranges("digits")))
    return sequence(first, many(choice(first, digit)))


@cache
def _tables() -> dict[str, tuple[Range, ...]]:
    """The code points beyond ASCII of the categories L and Nd in Unicode 17, as Go 1.27 has them."""
    found: dict[str, list[Range]] = {}
    for line in files(__package__).joinpath("letters.txt").read_text("ascii").splitlines():
        if line in ("letters", "digits"):
            ranges = found[line] = []
            continue
        for part in line.split():
            low, _, high = part.partition("-")
            ranges.append((int(low, 16), int(high or low, 16)))
    return {name: tuple(each) for name, each in found.items()}


def _ranges(name: str) -> tuple[Range, ...]:
    return _tables()[name]
