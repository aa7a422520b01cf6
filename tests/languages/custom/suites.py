"""Random grammars held against Lark on all short texts, and on all short middles in cuts of valid ones.

One in four is read with the basic lexer, one with the contextual lexer, one with the dynamic lexer, and one
has indentation.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from lark import Lark
from lark.common import ParserConf
from lark.exceptions import LarkError
from lark.parsers.lalr_analysis import LALR_Analyzer

from fimlsp.languages.custom.grammar_files import GrammarFiles
from fimlsp.languages.custom.language import LarkLanguage
from fimlsp.quotient.grammar.cfg import GrammarError
from fimlsp.testing.checking import Judge, Judged, Tally

from .indented import endless as indented_ones
from .random_grammars import random_grammar

ALPHABET = (b"a", b"b", b"c", b" ")


def judge_of(text: str, lexer: str = "basic") -> Judge:
    """Whether Lark accepts a text; each is parsed once."""
    parser = Lark(text, parser="lalr" if lexer == "contextual" else "earley", lexer=lexer)
    if lexer == "contextual":  # Lark shifts where it could reduce as well, and so refuses some sentences
        LALR_Analyzer(ParserConf(parser.rules, {}, ["start"]), strict=True).compute_lalr()
    known: dict[bytes, bool] = {}

    def accepts(whole: bytes) -> bool:
        if whole not in known:
            try:
                parser.parse(whole.decode())
            except LarkError:
                known[whole] = False
            except RuntimeError:  # it has read the text in two ways, which it does not expect
                known[whole] = True
            else:
                known[whole] = True
        return known[whole]

    return accepts


def judged_grammars(seed: int, lexer: str = "basic") -> Iterator[Judged]:
    """Grammars without end that both Lark and the engine take."""
    number = 0
    while True:
        rng = random.Random(seed * 1_000_003 + number)
        number += 1
        text = random_grammar(rng).text
        try:
            accepts = judge_of(text, lexer)
            language = LarkLanguage(GrammarFiles((("test.lark", text),)), "start", lexer)
            of = Judged(language, accepts, grammar=text)
            of.fresh_engine()
        except (GrammarError, LarkError):
            continue
        yield of


def endless(
    seed: int, _files: Sequence[Path] = (), *, most_symbols: int = 4, n_cuts: int = 6
) -> Iterator[Tally]:
    """Whole texts of each grammar, then middles in cuts of those that are valid."""
    rng = random.Random(seed)
    indented = indented_ones(rng)
    others = [
        (judged_grammars(seed, one), random.Random(f"{one} {seed}")) for one in ("contextual", "dynamic")
    ]
    for of in judged_grammars(seed):
        yield _cut(of, rng, most_symbols, n_cuts)
        yield next(indented)
        for grammars, own in others:
            yield _cut(next(grammars), own, most_symbols, n_cuts)


def _cut(of: Judged, rng: random.Random, most_symbols: int, n_cuts: int) -> Tally:
    """Whole texts of a grammar, then middles in cuts of valid ones."""
    tally = of.walk(b"", b"", ALPHABET, most_symbols)
    valid = of.accepted(b"", b"", ALPHABET, most_symbols)
    for _ in range(n_cuts if valid else 0):
        whole = rng.choice(valid[-40:]) + rng.choice((b"", rng.choice(valid)))
        start = rng.randint(0, len(whole))
        end = rng.randint(start, len(whole))
        tally.include(of.walk(whole[:start], whole[end:], ALPHABET, most_symbols - 1))
    return tally
