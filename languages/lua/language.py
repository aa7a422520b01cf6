"""The value that describes Lua to the engine."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from fimlsp.languages.lua.editor_policy import LUA_POLICY
from fimlsp.languages.lua.lexis import MOST_EQUAL_SIGNS, lua_lexis
from fimlsp.lexing.lexis import Lexis
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.lark_loader import read_grammar
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.language.editor_policy import EditorPolicy

START = "chunk"

_LONGER_BRACKET = re.compile(rb"\[={%d,}" % (MOST_EQUAL_SIGNS + 1))


@dataclass(frozen=True)
class Lua(Language):
    """Lua 5.4 in UTF-8, as `load` reads it.

    Of what `load` refuses beyond the syntax these checks are kept: `break` only in loops, `...` only where a
    function has it, attributes `const` and `close` only, one `close` in a declaration. Labels and jumps,
    assignments to constants, and the limits of a function are not.
    """

    name = "Lua"
    enclosures = {"(": ")", "{": "}", "[": "]"}  # noqa: RUF012 -- a constant of the class
    blocks = {  # noqa: RUF012 -- a constant of the class
        **dict.fromkeys(("function", "do", "else"), ("end",)),
        "then": ("end", "else", "elseif"),
    }

    @property
    def editor(self) -> EditorPolicy:
        """As in `Language`."""
        return LUA_POLICY

    def lexis(self) -> Lexis:
        """As in `Language`."""
        return lua_lexis()

    def grammar(self) -> Grammar:
        """As in `Language`."""
        return _lua_grammar()

    def terminal(self, kind: str) -> str:
        """As in `Language`."""
        return "STRING" if kind == "LONG_STRING" else kind

    def not_read(self, text: bytes) -> str | None:
        """As in `Language`: long brackets of a level that the automaton does not count to."""
        found = _LONGER_BRACKET.search(text)
        if found is None:
            return None
        line = text.count(b"\n", 0, found.start()) + 1
        return f"line {line}: a long bracket with more than {MOST_EQUAL_SIGNS} equal signs is not read"


@cache
def _lua_grammar() -> Grammar:
    text = files(__package__).joinpath("grammar.lark").read_text("utf-8")
    grammar = read_grammar(text, START, lambda name: False if name == "NEVER" else None, drop_useless=True)
    return replace(grammar, may_be_empty=True)


lua = Lua()
"""Lua."""
