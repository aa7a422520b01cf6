"""Random Go programs: derivations of the grammar, written with random white space, line ends and comments."""

from __future__ import annotations

import random
from functools import cache

from fimlsp.languages.go import go
from fimlsp.quotient.grammar.cfg import Grammar

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


@cache
def depths() -> dict[int, int]:
    """How deep the shallowest derivation of each nonterminal is."""
    grammar = go.grammar()
    found = dict.fromkeys(range(len(grammar.terminals)), 0)
    changed = True
    while changed:
        changed = False
        for production in grammar.productions:
            if all(symbol in found for symbol in production.rhs):
                depth = 1 + max(found[symbol] for symbol in production.rhs)
                if depth < found.get(production.lhs, 1 << 30):
                    found[production.lhs] = depth
                    changed = True
    return found


def program(rng: random.Random, size: int) -> bytes:
    """A valid program of about *size* lexemes or more."""
    grammar = go.grammar()
    lexemes: list[bytes] = []
    _derive(grammar, grammar.start, rng, [size], lexemes)
    text = b""
    ends = False
    for lexeme in lexemes:
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


def _derive(grammar: Grammar, symbol: int, rng: random.Random, left: list[int], out: list[bytes]) -> None:
    waiting = [symbol]
    while waiting:
        symbol = waiting.pop()
        if grammar.is_terminal(symbol):
            name = grammar.name(symbol)
            out.append(rng.choice(WORDS[name]) if name in WORDS else name.encode())
            left[0] -= 1
            continue
        options = grammar.productions_of(symbol)
        if left[0] <= len(waiting):
            depth = depths()
            best = min(max(depth[part] for part in option.rhs) for option in options)
            options = tuple(o for o in options if max(depth[part] for part in o.rhs) == best)
        waiting.extend(reversed(rng.choice(options).rhs))
