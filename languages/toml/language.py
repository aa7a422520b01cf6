"""The value that describes TOML to the engine, and its editor policy."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from fimlsp.languages.toml.definitions import DefinedOnce
from fimlsp.languages.toml.lexical_spec import toml_lexical_spec
from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.lexical_spec import LexicalSpec
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.lark_loader import read_grammar
from fimlsp.quotient.language.contract import Language, WholeTextCheck
from fimlsp.quotient.language.editor_policy import Comment, EditorPolicy

TOML_POLICY = EditorPolicy(
    file_ending=".toml",
    comment=Comment("#"),
    known_names=frozenset([b"true", b"false", b"inf", b"nan"]),
    not_code=re.compile(rb"#[^\n]*|\"(?:\\.|[^\"\\\n])*\"?|'[^'\n]*'?"),
)
"""TOML's policy."""

START = "file"


@dataclass(frozen=True)
class Toml(Language):
    """TOML 1.0 in UTF-8, without a byte order mark.

    It is read as tomli 2.2.1 and `tomllib` up to Python 3.14 read it. Numbers may have any number of digits
    and brackets may nest deeply, which these limit.
    """

    name = "TOML"
    enclosures = {"{": "}", "[": "]"}  # noqa: RUF012 -- a constant of the class

    @property
    def editor(self) -> EditorPolicy:
        """As in `Language`."""
        return TOML_POLICY

    def lexical_spec(self) -> LexicalSpec:
        """As in `Language`."""
        return toml_lexical_spec()

    def grammar(self) -> Grammar:
        """As in `Language`."""
        return _toml_grammar()

    def whole_text_check(self) -> WholeTextCheck:
        """As in `Language`: each key and table is defined once."""
        return DefinedOnce(LexerTables(self.lexical_spec()))


@cache
def _toml_grammar() -> Grammar:
    grammar = read_grammar(files(__package__).joinpath("grammar.lark").read_text("utf-8"), START)
    return replace(grammar, may_be_empty=True)


toml = Toml()
"""TOML."""
