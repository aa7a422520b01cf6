"""The value that describes TOML to the engine, and its editor policy."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from fimlsp.languages.toml.lexical_spec import toml_lexical_spec
from fimlsp.lexing.lexical_spec import LexicalSpec
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.lark_loader import read_grammar
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.language.editor_policy import Comment, EditorPolicy

FAR = 4_000
"""Bytes around a suggestion in which the keys of its table are read."""

_PAIR = re.compile(rb"[ \t]*([\w.\"'-]+)[ \t]*=")
_HEADER = re.compile(rb"[ \t]*\[[^,=]*\][ \t]*(?:#.*)?\r?\Z")


@dataclass(frozen=True)
class TomlPolicy(EditorPolicy):
    """TOML's policy: a key stands once in its table."""

    def first_unwanted(self, left: bytes, text: bytes, right: bytes) -> int | None:
        """As in `EditorPolicy`: before a key that its table has already. Only pairs at line starts count."""
        head = left[left.rfind(b"\n") + 1 :]
        above = left[max(0, len(left) - len(head) - FAR) : len(left) - len(head)].split(b"\n")
        below = right.partition(b"\n")[2][:FAR].split(b"\n")
        known, rest = set[bytes](), set[bytes]()
        for lines, keys in ((above[::-1], known), (below, rest)):
            for line in lines:
                if _HEADER.match(line):
                    break
                _add_key(line, keys)
        offset = 0
        for number, line in enumerate(text.split(b"\n")):
            whole = line if number else head + line
            pair = _PAIR.match(whole)
            is_begun = number == 0 and _PAIR.match(head) is not None
            if _HEADER.match(whole):
                known, rest = set(), set()
            elif pair is not None and not is_begun and pair[1] in known | rest:
                return offset
            _add_key(whole, known)
            offset += len(line) + 1
        return None


def _add_key(line: bytes, keys: set[bytes]) -> None:
    pair = _PAIR.match(line)
    if pair is not None:
        keys.add(pair[1])


TOML_POLICY = TomlPolicy(
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

    Some rules are no matter of syntax and are not checked. Keys and tables are defined once. A value that is
    no table has no keys. Inline tables and arrays are not extended later.

    Arrays are no enclosures, as the two brackets of `[[` may belong to either side of a cursor.
    """

    name = "TOML"
    enclosures = {"{": "}"}  # noqa: RUF012 -- a constant of the class

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


@cache
def _toml_grammar() -> Grammar:
    grammar = read_grammar(files(__package__).joinpath("grammar.lark").read_text("utf-8"), START)
    return replace(grammar, may_be_empty=True)


toml = Toml()
"""TOML."""
