"""The texts of each language for measurements; only the module of the measured language is imported."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from .corpus import Corpus

LANGUAGES = ("python", "python-compile", "json", "lua", "go", "typescript", "javascript", "lark")
_MODULES = {"python-compile": "python", "javascript": "typescript"}


def corpora(language: str) -> Sequence[Corpus]:
    """The corpora of one of `LANGUAGES`."""
    module = import_module(f".{_MODULES.get(language, language)}", __package__)
    of_language: Sequence[Corpus] = module.CORPORA[language]
    return of_language
