"""The value that describes JSON to the engine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fimlsp.languages.json.editor_policy import JSON_POLICY
from fimlsp.languages.json.lexis import json_lexis
from fimlsp.lexing.lexis import Lexis
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.lark_loader import read_grammar
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.language.editor_policy import EditorPolicy

START = "text"


@dataclass(frozen=True)
class Json(Language):
    """JSON texts, strictly: no comments, no trailing commas, no NaN, no byte order mark."""

    name = "JSON"
    enclosures = {"{": "}", "[": "]"}  # noqa: RUF012 -- a constant of the class

    @property
    def editor(self) -> EditorPolicy:
        """As in `Language`."""
        return JSON_POLICY

    def lexis(self) -> Lexis:
        """As in `Language`."""
        return json_lexis()

    def grammar(self) -> Grammar:
        """As in `Language`."""
        return _json_grammar()


@cache
def _json_grammar() -> Grammar:
    return read_grammar(files(__package__).joinpath("grammar.lark").read_text("utf-8"), START)


json = Json()
"""JSON."""
