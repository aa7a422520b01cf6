"""Random grammars held against Lark on all short texts, and on all short middles in cuts of valid ones."""

from __future__ import annotations

import random
from collections.abc import Iterator

from fimlsp.quotient.grammar.cfg import GrammarError
from lark.exceptions import LarkError

from .checking import Tally, Trial, engine_of, judge_of
from .random_grammars import random_grammar

ALPHABET = ("a", "b", "c", " ")


def trials(seed: int) -> Iterator[Trial]:
    """Grammars without end that both Lark and the engine take."""
    number = 0
    while True:
        rng = random.Random(seed * 1_000_003 + number)
        number += 1
        text = random_grammar(rng).text
        try:
            accepts = judge_of(text)
            engine = engine_of(text)
        except (GrammarError, LarkError):
            continue
        yield Trial(text, engine, accepts)


def judged_trials(seed: int, *, most_symbols: int = 4, cuts: int = 6) -> Iterator[Tally]:
    """The tallies of `trials`: whole texts, then middles in cuts of texts that are valid."""
    rng = random.Random(seed)
    for trial in trials(seed):
        valid = trial.walk("", "", ALPHABET, most_symbols)
        for _ in range(cuts if valid else 0):
            whole = rng.choice(valid[-40:]) + rng.choice(("", rng.choice(valid)))
            start = rng.randint(0, len(whole))
            end = rng.randint(start, len(whole))
            trial.walk(whole[:start], whole[end:], ALPHABET, most_symbols - 1)
        yield trial.tally


def judged(seed: int, cases: int, **options: int) -> Tally:
    """As many tallies as have *cases* judged verdicts."""
    found = Tally()
    for tally in judged_trials(seed, **options):
        found.judged += tally.judged
        found.faults += tally.faults
        if found.judged >= cases:
            break
    return found
