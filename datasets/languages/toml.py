"""TOML: Python's `tomllib` as the reference parser, and the places for holes: tokens, brackets and lines.

A key that is defined twice is no fault of syntax; `compile_error` has it. The parser stops
at its first fault, so it finds no fault of syntax below such a place.
"""

from __future__ import annotations

import re

from fimlsp.datasets.languages.replay_language import BracketPlaces, MissingParserError, ReplayLanguage, Span
from fimlsp.languages.toml import toml as toml_grammar

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\''
    r"|(?P<skipped>#[^\n]*)|[][{},=]|[^][{},=\"'#\s]+",
    re.DOTALL,
)
_BEYOND_SYNTAX = (
    "Cannot overwrite",
    "Cannot declare",
    "Cannot mutate",
    "Cannot redefine",
    "Duplicate inline",
)


def _error(text: str) -> str | None:
    try:
        import tomllib
    except ImportError as error:
        raise MissingParserError(
            "Cannot check TOML: Python 3.10 has no tomllib. Use Python 3.11 or newer."
        ) from error
    try:
        tomllib.loads(text)
    except ValueError as error:
        return str(error)
    except RecursionError:
        return "nested too deeply for the reference parser"
    return None


def syntax_error(text: str) -> str | None:
    """The error of syntax in *text*, in one line; None if there is none.

    Raises:
        MissingParserError: this Python has no `tomllib`.
    """
    error = _error(text)
    return None if error is None or error.startswith(_BEYOND_SYNTAX) else error


def compile_error(text: str) -> str | None:
    """The key or table that *text* defines twice, in one line; None if there is none."""
    error = _error(text)
    return error if error is not None and error.startswith(_BEYOND_SYNTAX) else None


def tokens_of(text: str) -> list[Span]:
    """The span of each string, bracket, sign and word of valid TOML, without comments."""
    return [token.span() for token in _TOKEN.finditer(text) if token["skipped"] is None]


TOML_PLACES = BracketPlaces(tokens_of, {"{": "}", "[": "]"})
TOML = ReplayLanguage(
    name="toml",
    patterns=("*.toml",),
    grammar=toml_grammar,
    reference_parser="Python's tomllib",
    syntax_error=syntax_error,
    compiler=compile_error,
    suites=TOML_PLACES.suites_of,
    bodies=TOML_PLACES.bodies_of,
    statements=TOML_PLACES.statements_of,
)
