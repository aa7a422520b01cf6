"""JSON and TOML 1.0: reference parsers of Python, and the places for holes in brackets, members and lines.

Python's `json` is used without its extensions of RFC 8259. TOML is read by tomli 2.2.1: later versions of it,
and `tomllib` from Python 3.15 on, read TOML 1.1.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

from fimlsp.datasets.languages.replay_language import BracketPlaces, MissingParserError, ReplayLanguage, Span
from fimlsp.extras import package_version
from fimlsp.languages.json import json as json_grammar
from fimlsp.languages.toml import toml as toml_grammar

_JSON_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[][{},:]|[^][{},:"\s]+')
_OPENING, _CLOSING = "[{", "]}"


def json_error(text: str) -> str | None:
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


def json_tokens(text: str) -> list[Span]:
    """The span of each string, number, literal and structural character of valid JSON."""
    return [token.span() for token in _JSON_TOKEN.finditer(text)]


def json_statements(text: str) -> list[Span]:
    """Each member of an object, name and value together, and each element of an array."""
    units, starts, last_end = list[Span](), list[int | None](), 0
    for start, end in json_tokens(text):
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


JSON_PLACES = BracketPlaces(json_tokens, {"{": "}", "[": "]"})
JSON = ReplayLanguage(
    name="json",
    patterns=("*.json", "*.ipynb"),
    grammar=json_grammar,
    reference_parser="Python's json module (strict)",
    syntax_error=json_error,
    compiler=None,
    suites=JSON_PLACES.suites_of,
    bodies=JSON_PLACES.bodies_of,
    statements=json_statements,
)

_TOML_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\''
    r"|(?P<skipped>#[^\n]*)|[][{},=]|[^][{},=\"'#\s]+",
    re.DOTALL,
)
TOML_PACKAGE = "tomli==2.2.1"


def toml_error(text: str) -> str | None:
    """The error in *text*, in one line; None if it is TOML. Keys that are defined twice are errors as well.

    Raises:
        MissingParserError: tomli is missing, or of another version.
    """
    if f"tomli=={package_version('tomli')}" != TOML_PACKAGE:
        raise MissingParserError(
            f"Cannot check TOML 1.0: its parser is missing. Run: pip install {TOML_PACKAGE}"
        )
    import tomli

    try:
        tomli.loads(text)
    except ValueError as error:
        return str(error)
    except RecursionError:
        return "nested too deeply for the reference parser"
    return None


def toml_tokens(text: str) -> list[Span]:
    """The span of each string, bracket, sign and word of valid TOML, without comments."""
    return [token.span() for token in _TOML_TOKEN.finditer(text) if token["skipped"] is None]


TOML_PLACES = BracketPlaces(toml_tokens, {"{": "}", "[": "]"})
TOML = ReplayLanguage(
    name="toml",
    patterns=("*.toml",),
    grammar=toml_grammar,
    reference_parser="tomli 2.2.1",
    syntax_error=toml_error,
    compiler=None,
    suites=TOML_PLACES.suites_of,
    bodies=TOML_PLACES.bodies_of,
    statements=TOML_PLACES.statements_of,
)
