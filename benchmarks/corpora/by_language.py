"""The texts of each language to measure on; only those of the language that is measured are imported."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from .corpus import Corpus

LANGUAGES = ("python", "python-compile", "json", "lua", "go", "lark")


def corpora(language: str) -> Sequence[Corpus]:
    """What is measured of one of `LANGUAGES`."""
    found: Sequence[Corpus] = import_module(f".{language.partition('-')[0]}", __package__).CORPORA[language]
    return found
