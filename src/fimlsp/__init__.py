"""Inline completions that connect to what follows the cursor.

Each name in `__all__` is imported from its room when it is first used, so that `import fimlsp` costs nothing.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # as in `typing`, which takes longer to import than all else here
if TYPE_CHECKING:
    from fimlsp.languages.between import fill_in_middle as fill_in_middle
    from fimlsp.languages.custom import choice as choice
    from fimlsp.languages.custom import gbnf as gbnf
    from fimlsp.languages.custom import json_schema as json_schema
    from fimlsp.languages.custom import load_grammar as load_grammar
    from fimlsp.languages.custom import regular as regular
    from fimlsp.languages.json import json as json
    from fimlsp.languages.python import python as python
    from fimlsp.models.completion import complete_many as complete_many
    from fimlsp.models.completion import generate as generate
    from fimlsp.models.completion import generate_many as generate_many
    from fimlsp.models.completion import score_middle as score_middle
    from fimlsp.models.decoding.settings import DecodeSettings as DecodeSettings
    from fimlsp.models.loading import load_model as load_model
    from fimlsp.models.masked_logits import MaskedLogits as MaskedLogits
    from fimlsp.models.masked_logits import fill_bitmask as fill_bitmask
    from fimlsp.models.masked_logits import vocabulary_of as vocabulary_of
    from fimlsp.models.protocols import Candidates as Candidates
    from fimlsp.models.protocols import Scoring as Scoring
    from fimlsp.quotient.engine import Document as Document
    from fimlsp.quotient.engine import Engine as Engine
    from fimlsp.quotient.masks.vocabulary import Vocabulary as Vocabulary

__version__ = "0.2.0"
__all__ = [
    "Candidates",
    "DecodeSettings",
    "Document",
    "Engine",
    "MaskedLogits",
    "Scoring",
    "Vocabulary",
    "choice",
    "complete_many",
    "fill_bitmask",
    "fill_in_middle",
    "gbnf",
    "generate",
    "generate_many",
    "json",
    "json_schema",
    "load_grammar",
    "load_model",
    "python",
    "regular",
    "score_middle",
    "vocabulary_of",
]

_ORIGINS = {
    "Candidates": ("fimlsp.models.protocols", "Candidates"),
    "DecodeSettings": ("fimlsp.models.decoding.settings", "DecodeSettings"),
    "Document": ("fimlsp.quotient.engine", "Document"),
    "Engine": ("fimlsp.quotient.engine", "Engine"),
    "MaskedLogits": ("fimlsp.models.masked_logits", "MaskedLogits"),
    "Scoring": ("fimlsp.models.protocols", "Scoring"),
    "Vocabulary": ("fimlsp.quotient.masks.vocabulary", "Vocabulary"),
    "choice": ("fimlsp.languages.custom", "choice"),
    "complete_many": ("fimlsp.models.completion", "complete_many"),
    "fill_bitmask": ("fimlsp.models.masked_logits", "fill_bitmask"),
    "gbnf": ("fimlsp.languages.custom", "gbnf"),
    "fill_in_middle": ("fimlsp.languages.between", "fill_in_middle"),
    "generate": ("fimlsp.models.completion", "generate"),
    "generate_many": ("fimlsp.models.completion", "generate_many"),
    "json": ("fimlsp.languages.json", "json"),
    "json_schema": ("fimlsp.languages.custom", "json_schema"),
    "load_grammar": ("fimlsp.languages.custom", "load_grammar"),
    "load_model": ("fimlsp.models.loading", "load_model"),
    "python": ("fimlsp.languages.python", "python"),
    "regular": ("fimlsp.languages.custom", "regular"),
    "score_middle": ("fimlsp.models.completion", "score_middle"),
    "vocabulary_of": ("fimlsp.models.masked_logits", "vocabulary_of"),
}

if os.path.isfile(os.path.join(os.path.dirname(__file__), "lexing")):
    raise ImportError(
        "Cannot import fimlsp: the symbolic links in src/fimlsp/ were checked out as text files. "
        "Do: git config core.symlinks true && git checkout -- src (Windows: in developer mode), "
        "or install a wheel."
    )

if not TYPE_CHECKING:  # a type checker would take every name for one that is here

    def __getattr__(name: str) -> object:
        if name not in _ORIGINS:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib import import_module

        module, attribute = _ORIGINS[name]
        value = globals()[name] = getattr(import_module(module), attribute)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
