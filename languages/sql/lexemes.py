"""The lexemes of queries: SQLite's words and signs. Comments are left out."""

from __future__ import annotations

import re
from typing import ClassVar

from fimlsp.languages.typed import lexicon as core
from fimlsp.languages.typed.lexicon import LETTERS, Lexicon

_WORDS = """
    add all alter and as asc autoincrement between by case cast check collate commit constraint create cross
    current_date current_time current_timestamp default deferrable delete desc distinct drop else end escape
    except exists false filter first foreign from full glob group having in index indexed inner insert
    intersect into is isnull join last left like limit materialized natural not nothing notnull null nulls
    offset oid on or order outer over primary recursive references regexp returning right rowid select set
    table then to transaction true union unique update using values when where window with _rowid_
"""
KEYWORDS = frozenset(_WORDS.split())
"""The words that SQLite reserves, and those with a meaning in queries. Names that are spelt so are quoted."""

SIGNS = frozenset((*"(),.;*=<>+-/%", "<>", "!=", "<=", ">=", "||"))

LEXEME = re.compile(
    rb"'(?:[^'\x00-\x1f\x7f]|'')*'(?!')"
    rb'|"[^"]*"'
    rb"|[A-Za-z_][A-Za-z0-9_]*"
    rb"|[0-9]+(?:\.[0-9]+)?(?![A-Za-z0-9_.])"
    rb"|<>|[!<>]=|\|\||-(?!-)|[(),.;*=<>+/%]"
)
"""A lexeme of a query, in bytes. A string that matches may still be invalid UTF-8."""

TOKEN = re.compile(r"""'(?:[^']|'')*'|"[^"]*"|\x01\d+\x02|[A-Za-z_]\w*|\d+(?:\.\d+)?|<>|[!<>]=|\|\||\S""")

LEXICON = Lexicon(
    KEYWORDS,
    SIGNS,
    LEXEME,
    TOKEN,
    quote="'",
    name_quote='"',
    starts=LETTERS | frozenset(b"_"),
    ignores_case=True,
)


class ExpectedTokens(core.ExpectedTokens):
    """The tokens of a query that may come next."""

    __slots__ = ()

    lexicon: ClassVar[Lexicon] = LEXICON
