"""JSON: Python's `json` as the reference parser, and the places for holes: tokens, members and elements.

The parser is used without its extensions of RFC 8259.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

from fimlsp.datasets.languages.replay_language import BracketPlaces, ReplayLanguage, Span
from fimlsp.languages.json import json as json_grammar

_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[][{},:]|[^][{},:"\s]+')
_OPENING, _CLOSING = "[{", "]}"


def syntax_error(text: str) -> str | None:
    """The error in *text*, in one line; None if it is JSON.

    `NaN`, `Infinity` and a byte order mark are refused; an object may repeat a name. Text that is nested
    deeper than Python's recursion limit (about 1,000) is refused as well.
    """
    try:
        json.loads(text, parse_constant=_refuse, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        return f"{error.msg} (line {error.lineno})"
    except RecursionError:
        return "nested too deeply for the reference parser"
    except ValueError as error:
        return str(error)
    return None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")


def tokens_of(text: str) -> list[Span]:
    """The span of each string, number, literal and structural character of valid JSON."""
    return [token.span() for token in _TOKEN.finditer(text)]


def statements_of(text: str) -> list[Span]:
    """Each member of an object, name and value together, and each element of an array."""
    units, starts, last_end = list[Span](), list[int | None](), 0
    for start, end in tokens_of(text):
        if text[start] in _CLOSING or text[start] == ",":
            unit_start = starts.pop()
            if unit_start is not None:
                units.append((unit_start, last_end))
        if text[start] == ",":
            starts.append(None)
        elif starts and starts[-1] is None and text[start] not in _CLOSING:
            starts[-1] = start
        if text[start] in _OPENING:
            starts.append(None)
        last_end = end
    return sorted(units)


JSON_PLACES = BracketPlaces(tokens_of, {"{": "}", "[": "]"})
JSON = ReplayLanguage(
    name="json",
    patterns=("*.json", "*.ipynb"),
    grammar=json_grammar,
    reference_parser="Python's json module (strict)",
    syntax_error=syntax_error,
    compiler=None,
    suites=JSON_PLACES.suites_of,
    bodies=JSON_PLACES.bodies_of,
    statements=statements_of,
)
