"""JSON in a user's own grammar, written for Lark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fimlsp.languages.custom import load_grammar

from .corpus import Corpus
from .json import JsonCorpus

_GRAMMAR = load_grammar(Path(__file__).parent / "json.lark")

CORPORA: Mapping[str, Sequence[Corpus]] = {
    "lark": (JsonCorpus(_GRAMMAR, minified=False), JsonCorpus(_GRAMMAR, minified=True)),
}
