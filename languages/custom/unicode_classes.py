r"""Classes of characters by their general category in Unicode, as in `\p{Lu}`.

Python's own table is used. Scripts and other properties are not in it.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable
from functools import cache

from fimlsp.lexing.automata.regex import Range, ascending

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
_OF_NAMES: dict[str, Callable[[str], bool]] = {
    "xid_start": lambda character: character != "_" and character.isidentifier(),
    "xid_continue": lambda character: f"_{character}".isidentifier(),
}
"""Properties of the characters of names, which Python's own names have."""

_KNOWN = frozenset((*(name.casefold() for name in _NAMES.values()), *_OF_NAMES))
_OF_CATEGORY = re.compile(r"(?:gc|general_?category)\s*[=:]\s*", re.IGNORECASE)


_JOINERS = (0x200C, 0x200D)
_CIRCLED = ((0x24B6, 0x24E9), (0x1F130, 0x1F149), (0x1F150, 0x1F169), (0x1F170, 0x1F189))
_WIDE: dict[str, tuple[tuple[str, ...], tuple[Range, ...]]] = {
    "w": (("L", "M", "Nd", "Nl", "Pc"), (_JOINERS, *_CIRCLED)),
    "s": (("Z",), ((9, 13), (0x85, 0x85))),
}
"""Categories and further characters."""


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
        raise UnknownClassError(
            f"uses \\p{{{name}}}, which is no category such as L or Nd, nor XID_Start or XID_Continue"
        )
    if short in _OF_NAMES:
        return _ranges(_OF_NAMES[short])
    wanted = ("lu", "ll", "lt") if short == "lc" else (short,)
    return tuple(one for category in wanted for one in _runs().get(category, ()))


def _ranges(holds: Callable[[str], bool]) -> tuple[Range, ...]:
    """The characters for which *holds* is true, as ascending ranges."""
    return ascending(
        ((code, code) for code in range(sys.maxunicode + 1) if holds(chr(code))), is_negated=False
    )


def with_ranges(pattern: str) -> str:
    r"""*pattern* of the package `regex` for Python's parser.

    Each `\p{...}`, `\w` and `\s`, negated or not, becomes its characters.

    Raises:
        UnknownClassError: it has a property that is no general category.
    """
    written: list[str] = []
    at, opened = 0, -1
    while at < len(pattern):
        escape = ESCAPE.match(pattern, at)
        if escape is not None:
            inside = _written(escape.group())
            written.append(inside if inside == escape.group() or opened >= 0 else f"[{inside}]")
            at = escape.end()
            continue
        if opened < 0 and pattern[at] == "[":
            opened = at + 1 + pattern.startswith("^", at + 1)
        elif pattern[at] == "]" and at > opened >= 0:
            opened = -1
        written.append(pattern[at])
        at += 1
    return "".join(written)


ESCAPE = re.compile(r"\\(?:[pP]\{\^?[^{}]*\}|[pP][A-Za-z]|.)", re.DOTALL)


def _written(escape: str) -> str:
    """The ranges of an escape, as they are within brackets; itself if it is another one."""
    sort, name = escape[1], escape[2:].strip("{}")
    if sort.lower() == "p":
        ranges = ascending(characters_of(name.removeprefix("^")), is_negated=False)
    elif sort.lower() in _WIDE:
        ranges = ascending(_wide(sort.lower()), is_negated=False)
    else:
        return escape
    if sort.isupper() != name.startswith("^"):
        ranges = ascending(ranges, is_negated=True)
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in ranges)


@cache
def _wide(sort: str) -> tuple[Range, ...]:
    """The characters of `regex` for a class that Python has as well."""
    names, more = _WIDE[sort]
    return (*(one for name in names for one in characters_of(name)), *more)


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
