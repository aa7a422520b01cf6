"""Random Lua programs: derivations of the grammar, written with random white space and comments."""

from __future__ import annotations

import random

from fimlsp.languages.lua import lua
from fimlsp.testing.suites import lexemes

WORDS = {
    "NAME": (b"a", b"b", b"print", b"self", b"_x1", b"consts"),
    "NUMBER": (b"1", b"0x1F", b"3.14", b".5", b"1e-3", b"0x.8p1", b"12"),
    "STRING": (
        b'"a"',
        b"'b\\n'",
        b'"\\z \n x"',
        b"[[c\n]d]]",
        b"[==[ ]] ]=] ]==]",
        b'"\\65\\u{7FFFFFFF}"',
        b"''",
    ),
}
GAPS = (b" ", b" ", b" ", b"\n", b"\n", b"\n    ", b" -- remark\n", b" --[[ long ]] ", b" --[=[ ]] ]=]\n")
TIGHT = frozenset((b"(", b")", b",", b"{", b"}", b"]", b";", b"::"))


def program(rng: random.Random, size: int) -> bytes:
    """A valid program of about *size* lexemes or more."""
    text = b""
    for lexeme in lexemes(lua, WORDS, rng, size):
        is_tight = (lexeme in TIGHT or text[-1:] in (b"(", b",", b"{")) and lexeme != b"["
        text += (b"" if is_tight and rng.random() < 0.7 else rng.choice(GAPS)) + lexeme
    return text + rng.choice((b"", b"\n"))
