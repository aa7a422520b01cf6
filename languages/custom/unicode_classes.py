r"""Classes of characters by their general category in Unicode, as in `\p{Lu}`.

Python's own table is used. Scripts and other properties are not in it.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache

from fimlsp.lexing.automata.regex import Range

_NAMES = {
    "letter": "L",
    "cased_letter": "LC",
    "uppercase_letter": "Lu",
    "lowercase_letter": "Ll",
    "titlecase_letter": "Lt",
    "modifier_letter": "Lm",
    "other_letter": "Lo",
    "mark": "M",
    "nonspacing_mark": "Mn",
    "spacing_mark": "Mc",
    "enclosing_mark": "Me",
    "number": "N",
    "decimal_number": "Nd",
    "letter_number": "Nl",
    "other_number": "No",
    "punctuation": "P",
    "connector_punctuation": "Pc",
    "dash_punctuation": "Pd",
    "open_punctuation": "Ps",
    "close_punctuation": "Pe",
    "initial_punctuation": "Pi",
    "final_punctuation": "Pf",
    "other_punctuation": "Po",
    "symbol": "S",
    "math_symbol": "Sm",
    "currency_symbol": "Sc",
    "modifier_symbol": "Sk",
    "other_symbol": "So",
    "separator": "Z",
    "space_separator": "Zs",
    "line_separator": "Zl",
    "paragraph_separator": "Zp",
    "other": "C",
    "control": "Cc",
    "format": "Cf",
    "surrogate": "Cs",
    "private_use": "Co",
    "unassigned": "Cn",
}
_KNOWN = frozenset(name.casefold() for name in _NAMES.values())
_OF_CATEGORY = re.compile(r"(?:gc|general_?category)\s*[=:]\s*", re.IGNORECASE)


class UnknownClassError(ValueError):
    """A class that is no general category; the message is a predicate."""


@cache
def characters_of(name: str) -> tuple[Range, ...]:
    """The characters of the general category *name*, short or long, as ascending ranges.

    Raises:
        UnknownClassError: there is no such category.
    """
    plain = _OF_CATEGORY.sub("", name.strip(), count=1).replace(" ", "_").replace("-", "_").casefold()
    short = _NAMES.get(plain, plain).casefold()
    if short not in _KNOWN:
        raise UnknownClassError(f"uses \\p{{{name}}}, which is no general category such as L or Nd")
    wanted = ("lu", "ll", "lt") if short == "lc" else (short,)
    return tuple(one for category in wanted for one in _runs().get(category, ()))


@cache
def _runs() -> dict[str, list[Range]]:
    """The ascending ranges of each category, and of each first letter of categories."""
    runs: dict[str, list[Range]] = {}
    for code in range(sys.maxunicode + 1):
        category = unicodedata.category(chr(code)).casefold()
        for name in (category, category[0]):
            own = runs.setdefault(name, [])
            if own and own[-1][1] == code - 1:
                own[-1] = own[-1][0], code
            else:
                own.append((code, code))
    return runs
