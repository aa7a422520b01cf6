"""Random Lua programs: derivations of the grammar, written with random white space and comments."""

from __future__ import annotations

import random
from functools import cache

from fimlsp.languages.lua import lua
from fimlsp.quotient.grammar.cfg import Grammar

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


@cache
def depths() -> dict[int, int]:
    """How deep the shallowest derivation of each nonterminal is."""
    grammar = lua.grammar()
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
    grammar = lua.grammar()
    lexemes: list[bytes] = []
    _derive(grammar, grammar.start, rng, [size], lexemes)
    text = b""
    for lexeme in lexemes:
        is_tight = (lexeme in TIGHT or text[-1:] in (b"(", b",", b"{")) and lexeme != b"["
        text += (b"" if is_tight and rng.random() < 0.7 else rng.choice(GAPS)) + lexeme
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
