"""The text right of a cursor: its lexemes from any offset, and what it closes that it does not open."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from fimlsp.languages.slua.both_sides.closings import Closing, Target, opener, outline_of, targets
from fimlsp.languages.slua.incremental.machine import Outline
from fimlsp.languages.slua.incremental.tokens import LEXEME, SIGNS, is_name

_BLANKS = re.compile(rb"[ \t\r\n]*")
_WORD = re.compile(rb"[A-Za-z0-9_]+")
_STRING_TAIL = re.compile(rb'(?:[^"\\\x00-\x1f\x7f]|\\[nt"\\])*"')
_BEHIND_VALUE = ("and", "do", "or", "then")
_BEFORE_VALUE = ("false", "function", "not", "true")
_LEAD = {1: b"\xc3", 2: b"\xe1", 3: b"\xf1"}
"""First bytes of characters whose other bytes may be any, by the number of these."""


@dataclass(frozen=True, slots=True)
class Lexeme:
    """A lexeme, and where it ends; the empty one is the end of the text."""

    text: str
    end: int


class RightText:
    """The text *data* right of a cursor."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._lexemes: dict[int, Lexeme | None] = {}
        self._known_targets: dict[int, frozenset[Target]] = {}

    def lexeme(self, offset: int) -> Lexeme | None:
        """The lexeme at *offset* or behind blanks there; None if nothing that begins there is one."""
        if offset not in self._lexemes:
            self._lexemes[offset] = self._read(offset)
        return self._lexemes[offset]

    def _read(self, offset: int) -> Lexeme | None:
        found = _BLANKS.match(self.data, offset)
        start = found.end() if found else offset
        if start == len(self.data):
            return Lexeme("", start)
        lexeme = LEXEME.match(self.data, start)
        return None if lexeme is None else _decoded(lexeme[0], lexeme.end())

    def joined(self, begun: bytes) -> Lexeme | None:
        """The lexeme that *begun* and the beginning of the text make together, its end being in the text.

        None if they make none, or one that ends before the text begins and is not *begun* itself.
        """
        found = LEXEME.match(begun + self.data)
        if found is None or found.end() < len(begun):
            return None
        return _decoded(found[0], found.end() - len(begun))

    def follow(self, offset: int) -> list[Lexeme]:
        """The lexemes from *offset* on, as far as there are any."""
        found = []
        lexeme = self.lexeme(offset)
        while lexeme is not None and lexeme.text:
            found.append(lexeme)
            lexeme = self.lexeme(lexeme.end)
        return found

    @cached_property
    def word(self) -> str:
        """The letters and digits that the text begins with."""
        found = _WORD.match(self.data)
        return found[0].decode("ascii") if found else ""

    @cached_property
    def sign(self) -> str:
        """The sign that the text begins with; empty if it begins with none."""
        found = LEXEME.match(self.data)
        return found[0].decode("ascii") if found and not self.word and found[0][:1] != b'"' else ""

    @cached_property
    def follows_value(self) -> bool:
        """Whether the text may begin with what can stand behind a value."""
        first = self.texts[0] if self.texts else ""
        if self.word:
            return any(word.endswith(self.word) for word in _BEHIND_VALUE)
        return (
            first in _BEHIND_VALUE if first[:1].isalnum() else first[:1] != '"' and first not in (":", "->")
        )

    @cached_property
    def string_tail(self) -> tuple[bytes, Lexeme] | None:
        """What opens a text that ends in this one, and the whole of it; None if none can."""
        inner = len(self.data) - len(self.data.lstrip(bytes(range(0x80, 0xC0))))
        opening = b'"' + _LEAD.get(inner, b"")
        found = _STRING_TAIL.match(self.data)
        lexeme = found and _decoded(opening + found[0], found.end())
        return None if lexeme is None else (opening, lexeme)

    @cached_property
    def number_tail(self) -> Lexeme | None:
        """The number that a zero before the text makes of its beginning, if that is no number by itself."""
        return self.joined(b"0") if self.data[:1] == b"." and self.data[1:2].isdigit() else None

    @cached_property
    def names(self) -> frozenset[str]:
        """All names in the text, as it is read from its beginning or from within a text."""
        starts = [0, *([self.string_tail[1].end] if self.string_tail else [])]
        texts = {lexeme.text for start in starts for lexeme in self.follow(start)}
        return frozenset(text for text in texts if is_name(text))

    @cached_property
    def used_names(self) -> tuple[str, ...]:
        """The names that may be those of variables, in the order of their use."""
        starts = [0, *([self.string_tail[1].end] if self.string_tail else [])]
        found: dict[str, None] = {}
        for start in starts:
            before = ""
            for lexeme in self.follow(start):
                if is_name(lexeme.text) and before != ".":
                    found[lexeme.text] = None
                before = lexeme.text
        return tuple(found)

    @cached_property
    def free_names(self) -> tuple[str, ...]:
        """Those of the used names that are not declared before their first use; last what may be cut."""
        first: dict[str, bool] = {}
        texts = list(self.texts)
        if [*map(is_name, texts[:2])] == [True, True] and texts[2:3] in ([":"], ["="], ["{"]):
            texts[0] = "local"  # a keyword that declares, whose beginning is in the middle
        in_head = in_type = False
        for number, text in enumerate(texts):
            before = texts[number - 1] if number else ""
            in_head = text == "function" or (in_head and before != ")")
            in_type = (before, text) == (":", "(") or (in_type and before != ")")
            is_key = before in (",", "{") and texts[number + 1 : number + 2] == ["="]
            if is_name(text) and before != "." and not is_key:
                first.setdefault(
                    text, not (in_head or in_type or before in ("local", "for", "interface", ":", "->"))
                )
        names = (name for name in self.used_names if first.get(name, name not in self.keys))
        return tuple(sorted(names, key=lambda name: name == self.word))

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The lexemes from the beginning on."""
        return tuple(lexeme.text for lexeme in self.follow(0))

    @cached_property
    def ends_block(self) -> bool:
        """Whether no statement stands behind the one that the text begins in."""
        depth = 0
        for text, behind in pairwise((*self.texts, "")):
            depth += (text in ("function", "if", "do")) - (text == "end")
            if text == ";" and depth <= 0:
                return behind in ("end", "else", "elseif", "")
        return True

    @cached_property
    def begins_function(self) -> bool:
        """Whether the text begins with a function, or within the keyword of one."""
        head = self.texts[: self.texts.index(")")] if ")" in self.texts else ()
        is_cut = bool(self.word) and "function".endswith(self.word)
        behind = (*self.texts[len(head) + 1 : len(head) + 2], "")[0]
        return is_cut and head[1:2] == ("(",) and opener(")", behind) == "function"

    @cached_property
    def keys(self) -> frozenset[str]:
        """The names that may be those of fields in tables that are made."""
        texts = [lexeme.text for offset in self.offsets for lexeme in self.follow(offset)]
        triples = zip(["{", *texts], texts, [*texts[1:], ""], strict=False)
        return frozenset(text for before, text, after in triples if before in ("{", ",") and after == "=")

    @cached_property
    def field_names(self) -> tuple[str, ...]:
        """The names that are those of fields, in the order of their use."""
        read = (behind for before, behind in pairwise(self.texts) if before == "." and is_name(behind))
        return tuple(dict.fromkeys((*read, *sorted(self.keys))))

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """Where the first lexeme that is wholly in the text may begin."""
        found = {0, len(self.word)}
        if any(sign.endswith(self.sign) and sign != self.sign for sign in SIGNS):
            found.add(len(self.sign))
        if self.string_tail is not None:
            found.add(self.string_tail[1].end)
        if self.number_tail is not None:
            found.add(self.number_tail.end)
        return tuple(sorted(found))

    @cached_property
    def targets(self) -> frozenset[Target]:
        """What may have to be open where the text begins, or goes on behind its first lexeme."""
        found = {target for offset in self.offsets for target in self._targets(offset)}
        cut = [word for word in ("then", "do", "end") if word.endswith(self.word) and word != self.word]
        behind = self._targets(len(self.word)) if self.word else ()
        if self.begins_function:
            found |= set(targets(["function", *self.texts[1:]]))
        return frozenset(found | {(Closing(word), *each) for each in behind for word in cut})

    def outlines(self, offset: int) -> frozenset[Outline]:
        """What the text from *offset* on closes and does not open; several where `do` has two meanings."""
        return frozenset(map(outline_of, self._targets(offset)))

    def _is_return_cut(self, texts: list[str]) -> bool:
        """Whether the first of *texts* is the end of `return`: behind it stands what can follow no name."""
        second = (*texts[1:2], "")[0]
        is_value = is_name(second) or second[:1].isdigit() or second[:1] == '"' or second in _BEFORE_VALUE
        return bool(self.word) and "return".endswith(self.word) and is_value

    def _targets(self, offset: int) -> frozenset[Target]:
        if offset not in self._known_targets:
            lexemes = self.follow(offset)
            is_whole = self.lexeme(lexemes[-1].end if lexemes else offset) is not None
            texts = [lexeme.text for lexeme in lexemes]
            if not offset and self._is_return_cut(texts):
                texts[0] = "return"
            self._known_targets[offset] = frozenset(targets(texts) if is_whole else ())
        return self._known_targets[offset]


def _decoded(data: bytes, end: int) -> Lexeme | None:
    try:
        return Lexeme(data.decode("utf-8"), end)
    except UnicodeDecodeError:
        return None
