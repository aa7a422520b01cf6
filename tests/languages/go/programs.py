"""Random Go programs: derivations of the grammar, written with random white space, line ends and comments."""

from __future__ import annotations

import random

from fimlsp.languages.go import go
from fimlsp.testing.suites import lexemes

WORDS = {
    "NAME": (b"a", b"b", b"T", b"P", b"x1", b"_", b"\xc3\xa9", b"gopher"),
    "LITERAL": (
        b"1",
        b"0x1F",
        b"3.14",
        b".5",
        b"1e-3",
        b"0x.8p1",
        b"1_000",
        b"0b1i",
        b"'a'",
        b"'\\''",
        b"'\\u00e9'",
    ),
    "STRING": (b'"a"', b'"\\n\\x41"', b"``", b"`c\nd\\`", b'""'),
}
ENDERS = frozenset((b"break", b"continue", b"fallthrough", b"return", b"++", b"--", b")", b"]", b"}"))
GAPS = (b" ", b" ", b" ", b"\t", b" /* remark */ ", b" /**/ ")
LINES = (b"\n", b"\n\t", b" // remark\n", b"\r\n", b" /* over\nlines */ ", b"\n\n")
TIGHT = frozenset((b"(", b")", b",", b"{", b"}", b"]", b"[", b"."))


def program(rng: random.Random, size: int) -> bytes:
    """A valid program of about *size* lexemes or more."""
    text = b""
    ends = False
    for lexeme in lexemes(go, WORDS, rng, size):
        if lexeme == b";" and ends and rng.random() < 0.8:
            text += rng.choice(LINES)
            ends = False
            continue
        if (
            (lexeme in TIGHT or text[-1:] in (b"(", b",", b"{", b"["))
            and rng.random() < 0.7
            and text[-1:] != b"."
        ):
            gap = b""
        else:
            gap = rng.choice(GAPS if ends or rng.random() < 0.8 else LINES)
        text += gap + lexeme
        ends = lexeme in ENDERS or any(lexeme in words for words in WORDS.values())
    return text + rng.choice((b"", b"\n"))
