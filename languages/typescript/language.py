"""The values that describe TypeScript and JavaScript to the engine, and their editor policies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from fimlsp.languages.syntax_trees import TreePolicy
from fimlsp.languages.typescript.early_errors import JAVASCRIPT_RULES, TYPESCRIPT_RULES
from fimlsp.languages.typescript.jsx_modes import ELEMENT_KINDS, jsx_modes_at_cursor, may_close_types
from fimlsp.languages.typescript.lexical_spec import KEYWORDS, typescript_lexical_spec
from fimlsp.languages.typescript.modes import COMMENT_END, CONTEXTUAL, LINE_END, TEMPLATE, modes_at_cursor
from fimlsp.languages.typescript.tag_names import TagNames
from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.lexical_spec import LexicalSpec
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.lark_loader import OptionalLineEnds, PlaceChange, Places, read_grammar
from fimlsp.quotient.language.contract import (
    Elements,
    Language,
    OpenModes,
    ReadToCode,
    TextAfterCursor,
    WholeTextCheck,
)
from fimlsp.quotient.language.editor_policy import Comment, EditorPolicy

_BUILT_IN = (
    "Array Boolean Buffer Date Error Infinity JSON Map Math NaN Number Object Promise Proxy Reflect RegExp "
    "Set String Symbol URL WeakMap WeakSet any arguments bigint boolean console document exports fetch "
    "globalThis never number object process string symbol undefined unknown window"
)

TYPESCRIPT_POLICY = TreePolicy(
    file_ending=".ts",
    comment=Comment("//"),
    known_names=frozenset(word.encode() for word in (*KEYWORDS, *CONTEXTUAL, *_BUILT_IN.split())),
    block_opener=re.compile(rb".*(?:[(\[{]|=>)\s*\Z|\s*(?:case\b.*|default\s*):\s*\Z", re.DOTALL),
    not_code=re.compile(
        rb"//[^\n]*|/\*.*?(?:\*/|\Z)|`(?:\\.|[^`\\])*`?|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?",
        re.DOTALL,
    ),
    prose=re.compile(rb"\s*/[/*]"),
    field_opener=b"${",
    access=re.compile(rb"[(\[]|\??\.(?![.\d])"),
    repeatable=re.compile(rb"(?:\} else \{|\} catch .*\{|default:|break;?|continue;?|return\b.*)\Z"),
)
"""The policy of TypeScript."""

JSX_POLICY = replace(
    TYPESCRIPT_POLICY,
    block_opener=re.compile(
        rb".*(?:[(\[{]|=>)\s*\Z|\s*(?:case\b.*|default\s*):\s*\Z"
        rb"|(?:.*[\s=(?:&|{])?<(?![/!])[\w$.:-]*(?:\s[^<]*)?(?<![/=>])>?\s*\Z",
        re.DOTALL,
    ),
    block_closer=re.compile(rb"(?:[)\]},:;\s]|</[\w$.:-]*>|/?>)*\Z"),
    not_code=re.compile(
        rb"//[^\n]*|/\*.*?(?:\*/|\Z)|`(?:\\.|[^`\\])*`?|\"(?:\\.|[^\"\\\n])*\"?|(?<!\w)'(?:\\.|[^'\\\n])*'?",
        re.DOTALL,
    ),
    repeatable=re.compile(
        rb"(?:\} else \{|\} catch .*\{|default:|break;?|continue;?|return\b.*|<[\w$.:-]*>)\Z"
    ),
)
"""The policy where there are elements: a tag opens a block, and an apostrophe in a word starts no string."""

START = "program"
_ENCLOSURES = {"(": ")", "{": "}", "[": "]", "${": "}", "TEMPLATE_START": "TEMPLATE_END"}
_ELEMENTS = {
    "TAG_END": "CLOSE_START",
    **dict.fromkeys(("FRAGMENT", "CHILD_FRAGMENT", "VALUE_FRAGMENT"), "FRAGMENT_END"),
    **dict.fromkeys(("TAG_BRACE", "CHILD_BRACE"), "}"),
}
_HEADER_ENDS = ("=>",), ("=",), ("(", ")"), ("(", ")", "=>"), (",", "(", ")", "=>")
_TAGS = Elements(
    starts=frozenset({"TAG_START", "CHILD_START", "VALUE_START"}),
    opens="TAG_END",
    empty="TAG_CLOSED",
    closes=("CLOSE_START", "CLOSE_END"),
    closing=lambda start: b"</" + start[1:] + b">",
    end_texts=(b">", b"/>"),
    equal="TAG_EQUAL",
    text="ATTRIBUTE",
)
_TERMINALS: Mapping[str, str] = {COMMENT_END: LINE_END, "RESTRICTED_COMMENT": "RESTRICTED_END"}
_PARTS = frozenset(ELEMENT_KINDS) - {"TAG_START", "FRAGMENT"}
_LINE_ENDS = OptionalLineEnds(
    LINE_END,
    "SAME_LINE",
    frozenset({LINE_END, "RESTRICTED_END", "HASHBANG", "HASHBANG_ALONE", "ODD_TEXT", "${"}) | _PARTS,
)
_PLACES = Places(
    frozenset({"await"}),
    {"MAY_AWAIT": "await"},
    {
        "IN_FUNCTION": PlaceChange(keeps={}),
        "IN_ASYNC": PlaceChange(frozenset({"await"}), keeps={}),
    },
    frozenset({"await"}),
)
"""The functions of JavaScript that permit `await`. A module permits it outside of functions."""


@dataclass(frozen=True)
class TypeScript(Language):
    """TypeScript as the parser of TypeScript 6.0 reads it, or without *types* JavaScript as acorn does.

    The parser of TypeScript accepts some texts whose syntax its checker refuses, such as `1 = 2`. Here such a
    text may be refused as well. docs/typescript.md lists the other differences.
    """

    types: bool = True
    jsx: bool = False
    byte_order_mark = True

    @property
    def name(self) -> str:  # type: ignore[override]  # it depends on a field
        """As in `Language`."""
        if self.jsx:
            return "TSX" if self.types else "JSX"
        return "TypeScript" if self.types else "JavaScript"

    @property
    def enclosures(self) -> Mapping[str, str]:  # type: ignore[override]  # likewise
        """As in `Language`."""
        return _ENCLOSURES | _ELEMENTS if self.jsx else _ENCLOSURES

    @property
    def header_ends(self) -> tuple[tuple[str, ...], ...]:
        """As in `Language`: those of functions, and of values and types."""
        return _HEADER_ENDS

    @property
    def elements(self) -> Elements | None:
        """As in `Language`."""
        return _TAGS if self.jsx else None

    @property
    def editor(self) -> EditorPolicy:
        """As in `Language`."""
        ending = (".tsx" if self.jsx else ".ts") if self.types else ".jsx" if self.jsx else ".js"
        return replace(
            JSX_POLICY if self.jsx else TYPESCRIPT_POLICY,
            file_ending=ending,
            grammar="javascript" if not self.types else "tsx" if self.jsx else "typescript",
            rules=TYPESCRIPT_RULES if self.types else JAVASCRIPT_RULES,
        )

    def lexical_spec(self) -> LexicalSpec:
        """As in `Language`."""
        return typescript_lexical_spec(jsx=self.jsx, types=self.types)

    def grammar(self) -> Grammar:
        """As in `Language`."""
        return _grammar(types=self.types, jsx=self.jsx)

    def terminal(self, kind: str) -> str:
        """As in `Language`."""
        return _TERMINALS.get(kind, kind)

    def whole_text_check(self) -> WholeTextCheck | None:
        """As in `Language`: the names of tags."""
        return TagNames(LexerTables(self.lexical_spec())) if self.jsx else None

    def open_modes(self, text: TextAfterCursor) -> OpenModes:
        """As in `Language`. A middle that must stay in code begins no template that the text closes."""
        may_close = text.kept != () and text.data.find(TEMPLATE.encode(), text.cursor) >= 0
        if self.jsx:
            may_end_types = self.types and may_close_types(text.data, text.cursor)
            return ReadToCode(text, jsx_modes_at_cursor(in_template=may_close, types=may_end_types))
        return ReadToCode(text, modes_at_cursor(in_template=may_close))

    def strings_in(self, opened: Sequence[str]) -> tuple[str, ...]:
        """As in `Language`."""
        return tuple(entry for entry in reversed(opened) if entry == TEMPLATE)


@cache
def _grammar(*, types: bool, jsx: bool) -> Grammar:
    text = files(__package__).joinpath("grammar.lark").read_text("utf-8")
    switches = {
        "ON": True,
        "NEVER": False,
        "TS": types,
        "JS": not types,
        "JSX": jsx,
        "CASTS": types and not jsx,
        **dict.fromkeys((*_PLACES.demands, *_PLACES.changes), True if types else None),
    }
    places = None if types else _PLACES
    grammar = read_grammar(text, START, switches.get, places, line_ends=_LINE_ENDS, drop_useless=True)
    return replace(grammar, may_be_empty=True)


typescript, javascript = TypeScript(), TypeScript(types=False)
tsx, jsx = TypeScript(jsx=True), TypeScript(types=False, jsx=True)
"""Both languages, and both with elements of JSX."""
