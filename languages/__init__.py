"""The languages that fimlsp completes: the value that describes each, and its names for users and editors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from fimlsp.errors import UserError

if TYPE_CHECKING:
    from fimlsp.quotient.language.contract import Language


@dataclass(frozen=True)
class KnownLanguage:
    """A language that users can choose.

    `identifiers` are what editors call its documents (LSP's `languageId`), `patterns` what its files are
    called. `language` makes it, of a language with versions the usual one; only then is it imported.
    """

    identifiers: tuple[str, ...]
    patterns: tuple[str, ...]
    language: Callable[[], Language]


def _python() -> Language:
    from fimlsp.languages.python import python

    return python()


def _json() -> Language:
    from fimlsp.languages.json import json

    return json


def _lua() -> Language:
    from fimlsp.languages.lua import lua

    return lua


def _go() -> Language:
    from fimlsp.languages.go import go

    return go


def _slua() -> Language:
    from fimlsp.languages.slua.language import slua

    return slua


LANGUAGES: Mapping[str, KnownLanguage] = MappingProxyType(
    {
        "python": KnownLanguage(("python",), ("*.py", "*.pyi"), _python),
        "json": KnownLanguage(("json",), ("*.json",), _json),
        "lua": KnownLanguage(("lua",), ("*.lua",), _lua),
        "go": KnownLanguage(("go",), ("*.go",), _go),
        "slua": KnownLanguage(("slua",), ("*.slua",), _slua),
    }
)
"""All languages, by the names that users give them."""


IDENTIFIERS = tuple(identifier for known in LANGUAGES.values() for identifier in known.identifiers)
"""What editors call the documents of all languages: their clients and the server begin with this list."""


class UnknownLanguageError(UserError, ValueError):
    """No language has that name."""


def language_named(name: str) -> Language:
    """The language that users call *name*.

    Raises:
        UnknownLanguageError: none is called so; the message names all.
    """
    if name not in LANGUAGES:
        raise UnknownLanguageError(f"{name!r} is not one of {', '.join(LANGUAGES)}")
    return LANGUAGES[name].language()
