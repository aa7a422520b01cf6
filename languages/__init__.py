"""The languages that fimlsp completes: their values, and their names for users and editors."""

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

    `identifiers` are the editors' names for its documents (LSP's `languageId`), `patterns` match its file
    names. `language` imports and returns its value, for a language with versions the default one.
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


def _typescript() -> Language:
    from fimlsp.languages.typescript import typescript

    return typescript


def _javascript() -> Language:
    from fimlsp.languages.typescript import javascript

    return javascript


def _slua() -> Language:
    from fimlsp.languages.slua.language import slua

    return slua


LANGUAGES: Mapping[str, KnownLanguage] = MappingProxyType(
    {
        "python": KnownLanguage(("python",), ("*.py", "*.pyi"), _python),
        "json": KnownLanguage(("json",), ("*.json",), _json),
        "lua": KnownLanguage(("lua",), ("*.lua",), _lua),
        "go": KnownLanguage(("go",), ("*.go",), _go),
        "typescript": KnownLanguage(("typescript",), ("*.ts", "*.mts", "*.cts"), _typescript),
        "javascript": KnownLanguage(("javascript",), ("*.js", "*.mjs", "*.cjs"), _javascript),
        "slua": KnownLanguage(("slua",), ("*.slua",), _slua),
    }
)
"""All languages by name."""


IDENTIFIERS = tuple(identifier for known in LANGUAGES.values() for identifier in known.identifiers)
"""The editors' names for the documents of all languages. Clients and the server check this list first."""


class UnknownLanguageError(UserError, ValueError):
    """There is no language with that name."""


def language_named(name: str) -> Language:
    """The language with the name *name*.

    Raises:
        UnknownLanguageError: there is none; the message lists all names.
    """
    if name not in LANGUAGES:
        raise UnknownLanguageError(f"{name!r} is not one of {', '.join(LANGUAGES)}")
    return LANGUAGES[name].language()
