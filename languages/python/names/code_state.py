"""A cheap scan of Python code: the state at its end, and the role that a name there would have.

It knows far less than the grammar: words, brackets and strings. It never fails. Where the role of a name is
unclear, it is `NameRole.OPEN`, which allows any name.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import lru_cache
from keyword import kwlist


class NameRole(Enum):
    """The role of a name at its first byte."""

    OPEN = auto()
    """Any role: the name is bound there, or its role is unknown."""
    USE = auto()
    """A use of a visible name."""
    START = auto()
    """The first word of a statement: a use, unless an assignment follows."""
    ELEMENT = auto()
    """The first word in a bracket: a use, unless a comprehension binds it."""
    ARGUMENT = auto()
    """The first word of an argument: a use, or the name of a keyword argument."""
    ATTRIBUTE = auto()
    """An attribute of the value before the dot."""
    IMPORTED = auto()
    """A name of the module from which it is imported."""


@dataclass(frozen=True, slots=True)
class Bracket:
    """An open bracket. It calls *callee*, if that is not empty; one that *binds* holds parameters."""

    sign: bytes
    callee: bytes = b""
    binds: bool = False


KEYWORDS = frozenset(word.encode() for word in (*kwlist, "match", "case"))
VALUES = frozenset([b"None", b"True", b"False"])
UNKNOWN = b"()"
"""The chain of a value without a name, such as that of a call."""

FAR = 4_000
"""Bytes before the end of some code within which a statement is searched from which to scan."""

STRINGS_WITHIN = 200_000
"""The largest offset in a file at which strings of several lines are detected."""

_BIND_NEXT = frozenset([b"def", b"class", b"as", b"import", b"global", b"nonlocal", b"for", b"lambda"])
_BIND_MANY = frozenset([b"import", b"global", b"nonlocal", b"for", b"lambda", b"from import"])
_OPEN_BLOCK = frozenset(b"if elif else for while with try except finally def class match case async".split())
_PIECE = re.compile(
    rb"[\w\x80-\xff]+|\\\r?\n|\n|[^\S\n]+|\"\"\"|'''|[\"'#.,;()\[\]{}]|:=|[-+*/%&|^@<>=!]+|.", re.DOTALL
)
_STRING_END = {
    quote: re.compile(rb"(?:[^\\]|\\.)*?" + ending, re.DOTALL)
    for quote, ending in {
        b'"""': b'"""',
        b"'''": b"'''",
        b'"': b'["\\n]',
        b"'": b"['\\n]",
        b"#": b"\\n",
    }.items()
}
_LONG_QUOTES = (b'"""', b"'''")
_QUOTE = re.compile(rb"\"\"\"|'''|[\"'#]")
_STARTS = re.compile(rb"^[ \t]*(?:(?:async def|def|class|import|from) |@)", re.M)
_PREFIX = re.compile(rb"(?i)[rbuft]{1,3}\Z")
_SIGN = re.compile(rb"\"\"\"|'''|[\"'#;()\[\]{}\n]|\\\r?\n")
_OPENING = frozenset([b"(", b"[", b"{"])
_CLOSING = frozenset([b")", b"]", b"}"])


@dataclass(frozen=True, slots=True)
class CodeState:
    """The lexical state at the end of some code.

    Attributes:
        quote: the opening quotes of the string, or the sign of the comment, around the end; empty in code.
        word: the word that the code ends with.
        chain: the names with dots before that word, such as `self.items.`. It is empty if there are none, and
            starts with `UNKNOWN` if they are attributes of another value.
        last: the sign or keyword before the chain; empty at the start of a statement.
        clause: the keyword that decides the role of names, such as `for` up to its `in`.
        module: the module after `from`.
        head: the first word of the statement.
        brackets: the open brackets, the innermost last.
    """

    quote: bytes = b""
    word: bytes = b""
    chain: bytes = b""
    last: bytes = b""
    clause: bytes = b""
    module: bytes = b""
    head: bytes = b""
    brackets: tuple[Bracket, ...] = ()

    @property
    def role(self) -> NameRole:
        """The role of the word at the end, or of one that starts there."""
        if (
            self.quote
            or self.word[:1].isdigit()
            or self.clause == b"from"
            or self.head in (b"case", b"import")
        ):
            return NameRole.OPEN
        if self.clause == b"from import":
            return NameRole.OPEN if self.chain else NameRole.IMPORTED
        if self.chain:
            is_attribute = self.chain.endswith(b".") and not self.chain[:1].isdigit()
            return NameRole.ATTRIBUTE if is_attribute and self.chain != UNKNOWN + b"." else NameRole.OPEN
        return NameRole.OPEN if self.clause else self._role_of_name()

    def _role_of_name(self) -> NameRole:
        if not self.brackets:
            is_target = self.last == b"," and self.head not in KEYWORDS
            return NameRole.START if not self.last or is_target else NameRole.USE
        inner = self.brackets[-1]
        if inner.binds:
            return NameRole.OPEN if self.last in (b"(", b",", b"*", b"**") else NameRole.USE
        if inner.callee and self.last in (b"(", b","):
            return NameRole.ARGUMENT
        return NameRole.ELEMENT if self.last in (b"(", b"[", b"{", b",") else NameRole.USE

    @property
    def owner(self) -> bytes:
        """The names with dots of the value that has the attribute here; empty if it has no name."""
        return b"" if self.chain.startswith(UNKNOWN) else self.chain[:-1]

    @property
    def callee(self) -> bytes:
        """The names with dots of the called function, if the innermost bracket is that of a call."""
        callee = self.brackets[-1].callee if self.brackets else b""
        return b"" if callee.startswith(UNKNOWN) else callee

    def feed(self, code: bytes) -> CodeState:
        """The state after *code* as well. O(len(code))."""
        state, offset = self, 0
        while offset < len(code):
            if state.quote:
                end = state.string_end(code, offset)
                if end is None:
                    return state
                state, offset = replace(state, quote=b""), end
            else:
                piece = first_piece(code, offset)
                state = state.after(piece)
                offset += len(piece)
        return state

    def string_end(self, code: bytes, offset: int) -> int | None:
        """The end in *code* of the string or comment around *offset*; None if it goes on. O(len(code))."""
        end = _STRING_END[self.quote].match(code, offset)
        return None if end is None else end.end() - code.startswith(b"\n", end.end() - 1)

    def after(self, piece: bytes) -> CodeState:
        """The state after one more piece; only for a state in code."""
        if is_word(piece):
            return replace(self, word=self.word + piece)
        if piece[:1] in (b'"', b"'"):
            before = replace(self, word=b"") if self.is_prefix(piece) else self.ended()
            return replace(before, quote=piece, chain=UNKNOWN)
        ended = self.ended() if self.word else self
        if piece == b"#":
            return replace(ended, quote=piece)
        if piece == b";" or (piece == b"\n" and not self.brackets):
            return CodeState()
        if piece[:1].isspace() or piece[:1] == b"\\":
            return ended
        if piece == b"." and ended.clause != b"from":
            return replace(ended, chain=(ended.chain or UNKNOWN).rstrip(b".") + b".")
        return ended._after_sign(piece)

    def is_prefix(self, piece: bytes) -> bool:
        """True if *piece* opens a string and the word is its prefix."""
        return piece[:1] in (b'"', b"'") and _PREFIX.match(self.word) is not None

    def ended(self) -> CodeState:
        """The state after the word, once another piece ends it."""
        word = self.word
        if self.clause == b"from" and word != b"import":
            return replace(self, word=b"", module=self.module + word)
        if word in KEYWORDS and word not in VALUES and not self.chain.endswith(b"."):
            return self._after_keyword(word)
        clause = self.clause if self.clause in _BIND_MANY else b""
        return replace(self, word=b"", chain=self.chain + word, head=self.head or word, clause=clause)

    def _after_keyword(self, word: bytes) -> CodeState:
        head = self.head or word
        if self.clause == b"from import":  # the name after `as` is a new one
            return replace(self, word=b"", chain=UNKNOWN)
        if head == b"from":
            clause = b"from import" if word == b"import" else b"from"
        else:
            clause = word if word in _BIND_NEXT else b""
        return replace(self, word=b"", chain=b"", last=word, head=head, clause=clause)

    def _after_sign(self, sign: bytes) -> CodeState:
        if self.clause == b"from":
            return replace(self, module=self.module + sign)
        if sign in _OPENING:
            binds = sign == b"(" and self.last == b"def"
            callee = self.chain if sign == b"(" and not (binds or self.clause) else b""
            bracket = Bracket(sign, callee, binds)
            clause = self.clause if self.clause in _BIND_MANY else b""
            return replace(self, chain=b"", last=sign, clause=clause, brackets=(*self.brackets, bracket))
        if sign in _CLOSING:
            return replace(self, chain=UNKNOWN, last=self.last or sign, brackets=self.brackets[:-1])
        if sign == b":" and not self.brackets and self.clause != b"lambda" and self.head in _OPEN_BLOCK:
            return CodeState()
        keeps = (self.clause == b"lambda" and sign != b":") or sign in (b",", b"*")
        clause = self.clause if keeps and self.clause in _BIND_MANY else b""
        return replace(self, chain=b"", last=sign, clause=clause)


def first_piece(code: bytes, offset: int) -> bytes:
    """The word, white space or sign that *code* has at *offset*."""
    piece = _PIECE.match(code, offset)
    assert piece is not None
    return piece[0]


def is_word(piece: bytes) -> bool:
    """True if *piece*, a whole one, is a name, a keyword or a number."""
    return piece[:1].isalnum() or piece[0] == 0x5F or piece[0] >= 0x80


def reading_start(left: bytes) -> int:
    """The offset from which to scan *left* for the state at its end: its last definition or import.

    An offset in a string of several lines, such as a long docstring, is replaced by one before the string.
    """
    far = max(0, len(left) - FAR)
    start = max((statement.start() for statement in _STARTS.finditer(left, far)), default=-1)
    if start < 0:
        start = left.find(b"\n", far) + 1 if far else 0
    if start > STRINGS_WITHIN or not any(left.count(quote, 0, start) % 2 for quote in _LONG_QUOTES):
        return start
    strings = _long_strings(left[:start])
    return _start_outside(left, strings) if strings and strings[-1].stop == start else start


def _start_outside(left: bytes, strings: Sequence[range]) -> int:
    """The offset of the last definition or import before the last of *strings*, and in none of them.

    Without one nearby, a line start at that distance, also in none of them.
    """
    opened = strings[-1].start
    far = max(0, opened - FAR)
    near = strings[bisect_left(strings, far, key=lambda string: string.stop) : -1]
    starts = [statement.start() for statement in _STARTS.finditer(left, far, opened)]
    outside = (start for start in reversed(starts) if not any(start in string for string in near))
    line = left.find(b"\n", far, opened) + 1 if far else 0
    around = next((string.stop for string in near if line in string), line)
    return next(outside, around)


@lru_cache(maxsize=8)
def _long_strings(code: bytes) -> tuple[range, ...]:
    """The strings in triple quotes of *code*; an open one extends to the end. O(len(code))."""
    strings, end = list[range](), 0
    while (quote := _QUOTE.search(code, end)) is not None:
        ending = _STRING_END[quote[0]].match(code, quote.end())
        end = len(code) if ending is None else ending.end()
        if quote[0] in _LONG_QUOTES:
            strings.append(range(quote.start(), end))
    return tuple(strings)


@lru_cache(maxsize=2)
def state_at_end(left: bytes) -> CodeState:
    """The state at the end of *left*, by the code near it. Cached, as all texts at a cursor need it."""
    code = left[reading_start(left) :]
    return CodeState().feed(code[_last_statement(code) :])


def _last_statement(code: bytes) -> int:
    """The offset after the last `;` or line end at which `CodeState.after` starts anew. O(len(code))."""
    start = depth = offset = 0
    while (sign := _SIGN.search(code, offset)) is not None:
        offset = sign.end()
        if sign[0] in _STRING_END:
            end = _STRING_END[sign[0]].match(code, offset)
            if end is None:
                break
            offset = end.end() - code.startswith(b"\n", end.end() - 1)
        elif sign[0] in _CLOSING:
            depth = max(0, depth - 1)
        elif sign[0] == b";" or (sign[0] == b"\n" and not depth):
            start, depth = offset, 0
        else:
            depth += sign[0] in _OPENING
    return start
