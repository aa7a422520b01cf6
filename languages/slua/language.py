"""The value that describes sLua to the engine: scripts that are given one interface."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from fimlsp.languages.slua.interface import Interface, read_interface
from fimlsp.languages.slua.lexemes import KEYWORDS, slua_lexical_spec
from fimlsp.languages.suggested_lines import LinesPolicy
from fimlsp.lexing.lexical_spec import LexicalSpec
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.lark_loader import read_grammar
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.language.editor_policy import EditorPolicy

if TYPE_CHECKING:
    from fimlsp.quotient.states.protocol import RelaxedSpan, State


SLUA_POLICY = LinesPolicy(
    file_ending=".slua",
    known_names=frozenset(word.encode("ascii") for word in KEYWORDS),
    block_opener=re.compile(
        rb".*(?:[({]|\b(?:then|do|else)|\bfunction\b(?:(?!\bfunction\b)[^()])*\([^()]*\))\s*\Z", re.DOTALL
    ),
    block_closer=re.compile(rb"(?:end\b|[)},;\s])*\Z"),
    repeatable=re.compile(rb"(?:else|do|then|break;|return\b.*)\Z"),
)
"""The policy of sLua: as that of Lua, without comments."""


START = "chunk"
_MOST_KEPT = 8


@dataclass(frozen=True)
class Slua(Language):
    """sLua for scripts that are given the interface with this text, which is valid; *tidy* as in `Tidy`.

    The grammar and the lexemes serve the contexts of a cursor, prompts and limits. The states of a middle
    come from the incremental parser, which knows types.
    """

    interface: str = ""
    tidy: bool = False

    name = "sLua"
    enclosures = {"(": ")", "{": "}"}  # noqa: RUF012 -- a constant of the class

    @property
    def editor(self) -> EditorPolicy:
        """As in `Language`."""
        return SLUA_POLICY

    def lexical_spec(self) -> LexicalSpec:
        """As in `Language`."""
        return slua_lexical_spec()

    def grammar(self) -> Grammar:
        """As in `Language`."""
        return _grammar()

    def middle(
        self, left: bytes, right: bytes, *, may_escape: bool = True, relax: bool = False
    ) -> tuple[State | None, tuple[RelaxedSpan, ...]]:
        """As in `fimlsp.quotient.states.protocol.OwnMiddles`."""
        from fimlsp.languages.slua.incremental.statements import begin
        from fimlsp.languages.slua.middles.recovery import closest_middle, repaired_middle
        from fimlsp.languages.slua.tidy import Tidy

        start = begin(interface_of(self.interface))
        if relax:
            state, replacements = repaired_middle(start, left, right, may_escape=may_escape)
        else:
            state, replacements = closest_middle(start.feed(left), right, may_escape=may_escape), ()
        return (Tidy.after(state, left) if state is not None and self.tidy else state), replacements


@lru_cache(_MOST_KEPT)
def interface_of(text: str, name: str = "interface") -> Interface:
    """The interface that *text* declares, the same object for the same text; *name* as in `read_interface`.

    Raises:
        InterfaceError: the text has faults.
    """
    return read_interface(text, name)


@cache
def _grammar() -> Grammar:
    text = files(__package__).joinpath("grammar.lark").read_text("utf-8")
    grammar = read_grammar(text, START, lambda _: None, drop_useless=True)
    return replace(grammar, may_be_empty=True)


slua = Slua()
"""sLua of scripts that are given nothing."""
