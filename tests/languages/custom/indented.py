"""Grammars of indentation to judge, some written and some random, with Lark and its indenter as the judge."""

from __future__ import annotations

import random
from collections.abc import Iterator

from fimlsp.datasets.languages.own_grammar import syntax_error
from fimlsp.languages.custom.grammar_files import GrammarFiles
from fimlsp.languages.custom.language import LarkLanguage
from fimlsp.quotient.grammar.cfg import GrammarError
from fimlsp.testing.checking import Judged, Tally

USUAL = "A: /a+/\n_NL: /(\\r?\\n[\\t ]*)+/\nWS: /[ \\t]+/\n%ignore WS\n"
DECLARED = "%declare _INDENT _DEDENT\n"
COMMENTED = (
    "A: /a+/\nCOMMENT: /#[^\\n]*/\n_NL: ( /\\r?\\n[\\t ]*/ | COMMENT )+\n"
    "WS: /[ \\t]+/\n%ignore WS\n%ignore COMMENT\n"
)
WITHIN_LINE_ENDS = COMMENTED.replace("%ignore COMMENT\n", "")
GRAMMARS = {
    "tree": "start: (_NL | tree)*\ntree: A _NL [_INDENT tree+ _DEDENT]\n" + USUAL + DECLARED,
    "headers": 'start: item*\nitem: A _NL | A ":" (A _NL | _NL _INDENT item+ _DEDENT)\n'
    + COMMENTED
    + DECLARED,
    "comments": "start: (_NL | item)*\nitem: A _NL | A _NL _INDENT item+ _DEDENT\n"
    + WITHIN_LINE_ENDS
    + DECLARED,
    "brackets": 'start: item*\nitem: value _NL | A ":" _NL _INDENT item+ _DEDENT\n'
    'value: A | A "(" value* ")"\n' + USUAL + DECLARED,
}
_BLOCK = "_NL _INDENT {items}+ _DEDENT"
_ITEMS = (
    "A _NL",
    "A A _NL",
    'A ":" block',
    'A ":" (block | A _NL)',
    '":" block ["=" block]',
    'A "(" A* ")" _NL',
    '"(" [A ("=" A)*] ")" ":" block',
    "A _NL [_INDENT other+ _DEDENT]",
)
_OTHERS = ("A _NL", '"=" A _NL', '"=" block', "item")
_ALPHABET = (b"a", b":", b"\n", b" ", b"(", b")", b"=", b"#", b"\n ", b"\n  ", b"\r", b"\r\n")


def judged(text: str) -> Judged:
    """The grammar *text* with Lark as its judge."""
    language = LarkLanguage(GrammarFiles((("test.lark", text),)), "start")
    known: dict[bytes, bool] = {}

    def accepts(whole: bytes) -> bool:
        if whole not in known:
            known[whole] = syntax_error(language, whole.decode()) is None
        return known[whole]

    return Judged(language, accepts, grammar=text)


def random_indented(rng: random.Random) -> str:
    """A random grammar in which blocks are indented."""
    items = rng.sample(_ITEMS, rng.randint(2, 4))
    others = rng.sample(_OTHERS, rng.randint(1, 2))
    start = rng.choice(("item*", "(_NL | item)*", "(item | other)*"))
    lines = [
        f"start: {start}",
        f"item: A A A _NL | {' | '.join(items)}",
        f"other: A A A _NL | {' | '.join(others)}",
        f"block: _NL _INDENT {rng.choice(('item', 'other', '(item | other)'))}+ _DEDENT",
    ]
    return "\n".join(lines) + "\n" + rng.choice((USUAL, COMMENTED, WITHIN_LINE_ENDS)) + DECLARED


def endless(rng: random.Random, *, most_symbols: int = 3) -> Iterator[Tally]:
    """Short texts of random grammars, alone and between lines that are there."""
    while True:
        of = judged(random_indented(rng))
        try:
            of.fresh_engine()
        except GrammarError:
            continue
        alphabet = rng.sample(_ALPHABET, 5)
        tally = of.walk(b"", b"", alphabet, most_symbols)
        for _ in range(4):
            left = b"".join(rng.choices(_ALPHABET, k=rng.randint(0, 6)))
            right = b"".join(rng.choices(_ALPHABET, k=rng.randint(0, 6)))
            tally.include(of.walk(left, right, alphabet, most_symbols))
        yield tally
