"""The languages that fimlsp completes: their values, and their names for users and editors.

Other packages add languages by entry points of the group `fimlsp.languages`. The name of an entry point is
that of the language, its object a `KnownLanguage`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from fimlsp.errors import UserError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

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


def _tsx() -> Language:
    from fimlsp.languages.typescript import tsx

    return tsx


def _javascript() -> Language:
    from fimlsp.languages.typescript import javascript

    return javascript


def _jsx() -> Language:
    from fimlsp.languages.typescript import jsx

    return jsx


def _toml() -> Language:
    from fimlsp.languages.toml import toml

    return toml


def _slua() -> Language:
    from fimlsp.languages.slua.language import slua

    return slua


BUILT_IN: Mapping[str, KnownLanguage] = MappingProxyType(
    {
        "python": KnownLanguage(("python",), ("*.py", "*.pyi"), _python),
        "json": KnownLanguage(("json",), ("*.json",), _json),
        "lua": KnownLanguage(("lua",), ("*.lua",), _lua),
        "go": KnownLanguage(("go",), ("*.go",), _go),
        "typescript": KnownLanguage(("typescript",), ("*.ts", "*.mts", "*.cts"), _typescript),
        "tsx": KnownLanguage(("typescriptreact",), ("*.tsx",), _tsx),
        "javascript": KnownLanguage(("javascript",), ("*.js", "*.mjs", "*.cjs"), _javascript),
        "jsx": KnownLanguage(("javascriptreact",), ("*.jsx",), _jsx),
        "toml": KnownLanguage(("toml",), ("*.toml",), _toml),
        "slua": KnownLanguage(("slua",), ("*.slua",), _slua),
    }
)
"""The languages of fimlsp itself, by name."""


def with_those_of_packages(
    known: Mapping[str, KnownLanguage], found: Iterable[EntryPoint]
) -> tuple[Mapping[str, KnownLanguage], Mapping[str, str]]:
    """The languages *known* and those *found* in other packages; for each that cannot be used, the reason.

    The first language with a name, an identifier or a pattern keeps it.
    """
    languages, refused = {**known}, dict[str, str]()
    for entry in found:
        try:
            language = entry.load()
            fault = _fault(entry.name, language, languages)
        except Exception as error:
            language, fault = None, f"its package fails with {type(error).__name__}: {error}"
        if fault is None:
            languages[entry.name] = language
        else:
            refused.setdefault(
                entry.name,
                f"Cannot use the language {entry.name} of {entry.value}: {fault}. "
                "Update its package, or uninstall it.",
            )
    return MappingProxyType(languages), MappingProxyType(refused)


def _fault(name: str, language: object, known: Mapping[str, KnownLanguage]) -> str | None:
    """The reason that a package's *language* cannot be used under this *name*; None if it can."""
    if not isinstance(language, KnownLanguage):
        return "it is no KnownLanguage"
    if name in known:
        return "there is another language with this name"
    for other, own in known.items():
        if taken := {*own.identifiers, *own.patterns} & {*language.identifiers, *language.patterns}:
            return f"{min(taken)} belongs to the language {other}"
    return None


if TYPE_CHECKING:
    LANGUAGES: Mapping[str, KnownLanguage]
    """All languages by name."""
    REFUSED: Mapping[str, str]
    """For each language of another package that cannot be used, the reason."""
    IDENTIFIERS: tuple[str, ...]
    """The editors' names for the documents of all languages. Clients and the server check this list first."""


class _Registered(NamedTuple):
    LANGUAGES: Mapping[str, KnownLanguage]
    REFUSED: Mapping[str, str]
    IDENTIFIERS: tuple[str, ...]


def __getattr__(name: str) -> object:
    """The names above are made when they are first used, as a package may import this one itself."""
    if name not in _Registered._fields:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_registered(), name)


@cache
def _registered() -> _Registered:
    from importlib.metadata import entry_points

    languages, refused = with_those_of_packages(BUILT_IN, entry_points(group=__name__))
    identifiers = tuple(identifier for known in languages.values() for identifier in known.identifiers)
    return _Registered(languages, refused, identifiers)


class UnknownLanguageError(UserError, ValueError):
    """There is no language with that name."""


def language_named(name: str) -> Language:
    """The language with the name *name*.

    Raises:
        UnknownLanguageError: there is none; the message lists all names, or has the reason that a
            package's language cannot be used.
    """
    languages, refused, _ = _registered()
    if name not in languages:
        raise UnknownLanguageError(refused.get(name, f"{name!r} is not one of {', '.join(languages)}"))
    return languages[name].language()
