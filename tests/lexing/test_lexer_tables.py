"""The tables of the lexer: combinations that a language must not use."""

from __future__ import annotations

import pytest

from fimlsp.lexing.automata.dfa import Rule, Terminals, compile_terminals
from fimlsp.lexing.automata.regex import character_but, many, sequence
from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.lexical_spec import LexicalSpec
from fimlsp.lexing.nesting import CODE, ModeStack

COMMENT = Rule("COMMENT", sequence(";", many(character_but("\n"))))


def tables(line_ends: str, comment: str | None) -> LexerTables:
    """The tables of a language with comments, in which line ends are of the kind *line_ends*."""
    rules = (COMMENT, Rule("A", sequence("a")), Rule(line_ends, sequence("\n")))
    dfa = compile_terminals(Terminals({CODE: rules})).expand()
    return LexerTables(LexicalSpec(dfa, ModeStack(), ModeStack(known=False), comment=comment))


@pytest.mark.parametrize(("line_ends", "comment"), [("NL", "COMMENT"), ("NL", None), ("EOL", None)])
def test_comments_and_line_ends_that_go_together(line_ends, comment):
    assert line_ends in tables(line_ends, comment).kinds


def test_comments_that_the_grammar_does_not_see_need_line_ends_that_it_does_not_see():
    """Otherwise a comment is viable where its line end is not: a dead end."""
    with pytest.raises(ValueError, match="use comments in the grammar as well"):
        tables("EOL", "COMMENT")
