"""The texts of each language for measurements; only the module of the measured language is imported."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from .corpus import Corpus

LANGUAGES = ("python", "python-compile", "json", "lua", "go", "lark")


def corpora(language: str) -> Sequence[Corpus]:
    """The corpora of one of `LANGUAGES`."""
    module = import_module(f".{language.partition('-')[0]}", __package__)
    of_language: Sequence[Corpus] = module.CORPORA[language]
    return of_language
