"""TOML 1.0: tomli 2.2.1 as the reference parser, and the places for holes: tokens, brackets and lines.

Later versions of tomli, and `tomllib` from Python 3.15 on, read TOML 1.1.
"""

from __future__ import annotations

import re

from fimlsp.datasets.languages.replay_language import BracketPlaces, MissingParserError, ReplayLanguage, Span
from fimlsp.extras import package_version
from fimlsp.languages.toml import toml as toml_grammar

_TOKEN = re.compile(
    r'"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\''
    r"|(?P<skipped>#[^\n]*)|[][{},=]|[^][{},=\"'#\s]+",
    re.DOTALL,
)
PACKAGE = "tomli==2.2.1"


def syntax_error(text: str) -> str | None:
    """The error in *text*, in one line; None if it is TOML. Keys that are defined twice are errors as well.

    Raises:
        MissingParserError: tomli is missing, or of another version.
    """
    if f"tomli=={package_version('tomli')}" != PACKAGE:
        raise MissingParserError(f"Cannot check TOML 1.0: its parser is missing. Run: pip install {PACKAGE}")
    import tomli

    try:
        tomli.loads(text)
    except ValueError as error:
        return str(error)
    except RecursionError:
        return "nested too deeply for the reference parser"
    return None


def tokens_of(text: str) -> list[Span]:
    """The span of each string, bracket, sign and word of valid TOML, without comments."""
    return [token.span() for token in _TOKEN.finditer(text) if token["skipped"] is None]


TOML_PLACES = BracketPlaces(tokens_of, {"{": "}", "[": "]"})
TOML = ReplayLanguage(
    name="toml",
    patterns=("*.toml",),
    grammar=toml_grammar,
    reference_parser="tomli 2.2.1",
    syntax_error=syntax_error,
    compiler=None,
    suites=TOML_PLACES.suites_of,
    bodies=TOML_PLACES.bodies_of,
    statements=TOML_PLACES.statements_of,
)
