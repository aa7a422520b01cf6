"""The test suites of TOML: alphabets, pieces, random files, and the suites made of them."""

from __future__ import annotations

import random

from fimlsp.languages.toml import toml
from fimlsp.testing import Judged, endless, lexemes

from .judge import is_toml

ALPHABETS = {
    "tables": (b"[", b"]", b"[[", b"]]", b"a", b".", b'"b"', b" ", b"\n", b"#"),
    "pairs": (b"a", b"=", b".", b"1", b"-", b'""', b"''", b" ", b"\n", b"\r\n", b"#"),
    "arrays": (b"[", b"]", b",", b"1", b"{}", b"a=", b"\n", b"#\n", b" "),
    "inline tables": (b"{", b"}", b",", b"a=", b"b=", b"1", b"[", b"]", b"\n"),
    "numbers": (b"0", b"1", b"_", b".", b"e", b"+", b"-", b"x", b"b", b"inf", b"nan"),
    "dates": (b"1979-02-28", b"2000-02-29", b"T", b" ", b"07:32:00", b".5", b"Z", b"-07:00", b"-", b"1"),
    "strings": (b'"', b"'", b"\\", b"u", b"0", b"0000", b"d800", b"a", b"\n", b"\xc3\xa9", b"\x7f"),
    "long strings": (b'"""', b'"', b"'''", b"'", b"\\", b" ", b"\n", b"\r\n", b"\r", b"a"),
    "definitions": (
        *(b"a=1\n", b"a.b=1\n", b"a={b=1}\n", b"a=[{}]\n", b'"a"', b"b = 2\n"),
        *(b"[a]\n", b"[a.b]\n", b"[a.b.c]\n", b"[[a]]\n", b"[[a.b]]\n"),
    ),
    "bytes": (b'"', b"#", b"\xc3", b"\xa9", b"\xe2\x82\xac", b"\xff", b"\t", b"\r", b"\n", b"\x00"),
}
SIDES = (
    *((b"", b""), (b"a = ", b"\n"), (b"a = [", b"]\n"), (b"[[", b"]]\nb = 1\n"), (b"a = {b = ", b"}\n")),
    *((b"[[a]]\nb = 1\n", b"b = 2\n[a.c]\n"), (b"[a.b]\n", b"[a]\nb.c = 1\n"), (b"a.b = 1\n", b"a.c = 1\n")),
)
PIECES = (
    *(b"[", b"]", b"[[", b"]]", b"{", b"}", b",", b"=", b".", b"#", b"\n", b"\r\n", b"\r", b" ", b"\t"),
    *(b'"', b"'", b'"""', b"'''", b"\\", b"\\u00e9", b"\\U0010FFFF", b"\\n", b'"a"', b"'a'", b'""'),
    *(b"1", b"1.5", b"+1", b"1e5", b"0x1F", b"_", b"-", b"a", b"true", b"inf", b"nan"),
    *(b"1979-05-27", b"07:32:00", b"T", b"Z", b"\xc3\xa9", b"\xc3", b"\x00", b"\x7f"),
    *(b"\n[a]\n", b"\n[[a]]\n", b"\na = 1\n", b"\na.b = 1\n"),
)
TOML = Judged(toml, is_toml, PIECES)
WORDS = {
    "KEY": (b"a",),
    "VALUE": (
        *(b"+1", b"+1.5e+3", b"1e+5", b"+inf", b"+nan", b"07:32:00", b"23:59:59.999999"),
        *(b"1979-05-27T07:32:00Z", b"1979-05-27 07:32:00.5-07:00", b"1979-05-27t07:32:00"),
    ),
    "KEY_OR_VALUE": (
        *(b"1", b"-17", b"1_000", b"1.5", b"0xDEAD_beef", b"0o755", b"0b1_0", b"true", b"false"),
        *(b"inf", b"-nan", b"6.6e-3", b"1979-05-27", b"2000-02-29", b"0"),
    ),
    "STRING": (b'"a b"', b'"\\"\\u00e9"', b"'C:\\'", b'""', b"''", '"é#"'.encode()),
    "LONG_STRING": (b'"""a"b""c"""', b'"""\n \\\n  a"""', b"'''a\n'b''\n'''", b'""""a"""""', b"''''''"),
    "COMMENT": (b"#", b"# remark", '# "é'.encode()),
    "EOL": (b"\n", b"\r\n"),
}


def program(rng: random.Random, size: int) -> bytes:
    """A valid file of about *size* lexemes, made of random parts that define nothing twice."""
    gaps, data, count = (b"", b" ", b"\t", b"  "), b"", 0
    for number in range(size):
        words = {**WORDS, "KEY": (b"a", b"k%d" % number, b"t%d" % number, b"-%d" % number)}
        part = lexemes(toml, words, rng, min(size, rng.choice((2, 8, 30))))
        extended = b"".join((data, *(lexeme + rng.choice(gaps) for lexeme in part), b"\n"))
        if is_toml(extended):
            data, count = extended, count + len(part)
        if count >= size:
            break
    return data


SUITES = endless(TOML, list(ALPHABETS.values()), SIDES, program)
