"""The value that describes Lua to the engine, and its editor policy."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from fimlsp.languages.lua.lexical_spec import MOST_EQUAL_SIGNS, lua_lexical_spec
from fimlsp.languages.suggested_lines import LinesPolicy
from fimlsp.lexing.lexical_spec import LexicalSpec
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.lark_loader import read_grammar
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.language.editor_policy import Comment, EditorPolicy

_WORDS = (
    b"and break do else elseif end false for function goto if in local nil not or repeat return then true "
    b"until while"
)
_GLOBALS = (
    b"_ENV _G _VERSION assert collectgarbage coroutine debug dofile error getmetatable io ipairs load "
    b"loadfile math next os package pairs pcall print rawequal rawget rawlen rawset require select self "
    b"setmetatable string table tonumber tostring type utf8 warn xpcall"
)

LUA_POLICY = LinesPolicy(
    file_ending=".lua",
    comment=Comment("--"),
    known_names=frozenset((_WORDS + b" " + _GLOBALS).split()),
    block_opener=re.compile(
        rb".*(?:[(\[{]|\b(?:then|do|else|repeat)|\bfunction\b(?:(?!\bfunction\b)[^()])*\([^()]*\))\s*\Z",
        re.DOTALL,
    ),
    block_closer=re.compile(rb"(?:end\b|[)\]},;\s])*\Z"),
    not_code=re.compile(
        rb"--\[(=*)\[.*?(?:\]\1\]|\Z)|--[^\n]*|\[(=*)\[.*?(?:\]\2\]|\Z)"
        rb"|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?",
        re.DOTALL,
    ),
    prose=re.compile(rb"\s*--"),
    access=re.compile(rb"[(\[]|\.(?![.\d])|:(?!:)"),
    repeatable=re.compile(rb"(?:else|do|repeat|then|break|return\b.*)\Z"),
)
"""Lua's policy: blocks stand between words as well."""


START = "chunk"

_LONGER_BRACKET = re.compile(rb"\[={%d,}" % (MOST_EQUAL_SIGNS + 1))


@dataclass(frozen=True)
class Lua(Language):
    """Lua 5.4 in UTF-8, as `load` reads it.

    Of the checks that `load` makes beyond the syntax, these are included:

    - `break` only in loops;
    - `...` only where a function has it;
    - only the attributes `const` and `close`, and one `close` in a declaration.

    Labels and jumps, assignments to constants, and the limits of a function are not checked.
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

    def lexical_spec(self) -> LexicalSpec:
        """As in `Language`."""
        return lua_lexical_spec()

    def grammar(self) -> Grammar:
        """As in `Language`."""
        return _lua_grammar()

    def terminal(self, kind: str) -> str:
        """As in `Language`."""
        return "STRING" if kind == "LONG_STRING" else kind

    def exceeded_limit(self, text: bytes) -> str | None:
        """As in `Language`: long brackets of a level beyond those of the automaton."""
        bracket = _LONGER_BRACKET.search(text)
        if bracket is None:
            return None
        line = text.count(b"\n", 0, bracket.start()) + 1
        return f"line {line}: a long bracket with more than {MOST_EQUAL_SIGNS} equal signs is not read"


@cache
def _lua_grammar() -> Grammar:
    text = files(__package__).joinpath("grammar.lark").read_text("utf-8")
    grammar = read_grammar(text, START, lambda name: False if name == "NEVER" else None, drop_useless=True)
    return replace(grammar, may_be_empty=True)


lua = Lua()
"""Lua."""
