"""The value that describes sLua to the engine: scripts that are given one interface."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from fimlsp.languages.slua.editor_policy import SLUA_POLICY
from fimlsp.languages.slua.interface import Interface, read_interface
from fimlsp.languages.slua.lexis import slua_lexis
from fimlsp.lexing.lexis import Lexis
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.lark_loader import read_grammar
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.language.editor_policy import EditorPolicy

if TYPE_CHECKING:
    from fimlsp.quotient.states.protocol import Replacement, State

START = "chunk"
_MOST_KEPT = 8


@dataclass(frozen=True)
class Slua(Language):
    """sLua for scripts that are given the interface with this text, which is right; *tidy* as in `Tidy`.

    The engine knows its syntax, for the contexts of a cursor and for what prompts and limits need of it. What
    may be written is asked of the parser that knows types.
    """

    interface: str = ""
    tidy: bool = False

    name = "sLua"
    enclosures = {"(": ")", "{": "}"}  # noqa: RUF012 -- a constant of the class

    @property
    def editor(self) -> EditorPolicy:
        """As in `Language`."""
        return SLUA_POLICY

    def lexis(self) -> Lexis:
        """As in `Language`."""
        return slua_lexis()

    def grammar(self) -> Grammar:
        """As in `Language`."""
        return _grammar()

    def middle(
        self, left: bytes, right: bytes, *, may_escape: bool = True, relax: bool = False
    ) -> tuple[State | None, tuple[Replacement, ...]]:
        """As in `fimlsp.quotient.states.protocol.OwnMiddles`."""
        from fimlsp.languages.slua.incremental.parser import begin
        from fimlsp.languages.slua.recovery.recovery import closest_middle, mended_middle
        from fimlsp.languages.slua.tidying.tidy import Tidy

        start = begin(interface_of(self.interface))
        if relax:
            state, replacements = mended_middle(start, left, right, may_escape=may_escape)
        else:
            state, replacements = closest_middle(start.feed(left), right, may_escape=may_escape), ()
        return (Tidy.behind(state, left) if state is not None and self.tidy else state), replacements


@lru_cache(_MOST_KEPT)
def interface_of(text: str, name: str = "interface") -> Interface:
    """The interface that *text* declares, the same object for the same text; *name* as in `read_interface`.

    Raises:
        InterfaceError: it is not one.
    """
    return read_interface(text, name)


@cache
def _grammar() -> Grammar:
    text = files(__package__).joinpath("grammar.lark").read_text("utf-8")
    grammar = read_grammar(text, START, lambda _: None, drop_useless=True)
    return replace(grammar, may_be_empty=True)


slua = Slua()
"""sLua of scripts that are given nothing."""
