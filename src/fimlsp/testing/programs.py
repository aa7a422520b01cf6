"""Random programs, derivations of a language's grammar; and all suites of judged cases in turn."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from math import sqrt
from pathlib import Path

from fimlsp.quotient.language.contract import Language
from fimlsp.testing.checking import Judged, Tally
from fimlsp.testing.cuts import balanced_cuts, broken_cuts, cut_text, staying_cuts

Endless = Callable[[int, Sequence[Path]], Iterator[Tally]]
"""Tallies of all suites in turn, from a seed; also of real files, if there are any."""

Program = Callable[[random.Random, int], bytes]
"""A valid program of about so many lexemes or more."""


@cache
def depths(language: Language) -> dict[int, int]:
    """The depth of the shallowest derivation of each symbol."""
    grammar = language.grammar()
    depth_of = dict.fromkeys(range(len(grammar.terminals)), 0)
    changed = True
    while changed:
        changed = False
        for production in grammar.productions:
            if all(symbol in depth_of for symbol in production.rhs):
                depth = 1 + max(depth_of[symbol] for symbol in production.rhs)
                if depth < depth_of.get(production.lhs, 1 << 30):
                    depth_of[production.lhs] = depth
                    changed = True
    return depth_of


@cache
def unbounded(language: Language) -> frozenset[int]:
    """The symbols that derive texts of any length, as they lead to themselves or to such a one."""
    grammar = language.grammar()
    parts_of: dict[int, set[int]] = {}
    for production in grammar.productions:
        parts_of.setdefault(production.lhs, set()).update(production.rhs)
    led_to = {symbol: set(parts) for symbol, parts in parts_of.items()}
    changed = True
    while changed:
        changed = False
        for parts in led_to.values():
            further = set().union(*(parts_of.get(part, ()) for part in parts))
            changed |= not further <= parts
            parts |= further
    recursive = {symbol for symbol, parts in led_to.items() if symbol in parts}
    return frozenset(symbol for symbol, parts in led_to.items() if recursive & {symbol, *parts})


def lexemes(
    language: Language, texts: Mapping[str, Sequence[bytes]], rng: random.Random, size: int
) -> list[bytes]:
    """The lexemes of a random derivation, about *size* or more; *texts* are those of each named terminal.

    The more are missing, the likelier a repetition goes on. Once there may be *size*, the ways are short.
    """
    grammar, depth, grows = language.grammar(), depths(language), unbounded(language)
    texts_so_far: list[bytes] = []
    waiting = [grammar.start]
    while waiting:
        symbol = waiting.pop()
        if grammar.is_terminal(symbol):
            name = grammar.name(symbol)
            texts_so_far.append(rng.choice(texts[name]) if name in texts else name.encode())
            continue
        options = grammar.productions_of(symbol)
        missing = size - len(texts_so_far) - len(waiting)
        if missing <= 0:
            best = min(max(depth[part] for part in option.rhs) for option in options)
            options = tuple(o for o in options if max(depth[part] for part in o.rhs) == best)
        elif grows.isdisjoint(waiting):
            options = tuple(o for o in options if not grows.isdisjoint(o.rhs)) or options
        weights = [2 * sqrt(max(missing, 1)) if symbol in option.rhs else 1 for option in options]
        waiting.extend(reversed(rng.choices(options, weights)[0].rhs))
    return texts_so_far


def endless(
    of: Judged,
    alphabets: Sequence[Sequence[bytes]],
    contexts: Sequence[tuple[bytes, bytes]],
    program: Program,
    outer: Sequence[Sequence[bytes]] = (),
) -> Endless:
    """The suites of a language: short middles over the *alphabets* in the *contexts*, and programs in cuts.

    The first symbol of an alphabet is in each of its middles' samples. Those over the alphabets *outer* are
    whole files.
    """

    def tallies(seed: int, files: Sequence[Path] = ()) -> Iterator[Tally]:
        rng = random.Random(seed)
        while True:
            first, *others = rng.choice(alphabets)
            tally = of.walk(*rng.choice(contexts), [first, *rng.sample(others, min(5, len(others)))], 3)
            if outer:
                alphabet = rng.choice(outer)
                tally.include(of.walk(b"", b"", rng.sample(alphabet, min(5, len(alphabet))), 3))
            yield tally
            yield from in_cuts(of, program, rng, files)

    return tallies


def in_cuts(of: Judged, program: Program, rng: random.Random, files: Sequence[Path]) -> Iterator[Tally]:
    """All suites of cuts in two programs, and one in one of *files*, if there are any.

    A program that the reference parser does not accept is judged once, and not cut.
    """
    data = program(rng, rng.choice((5, 20, 100, 500)))
    if not of.accepts(data):
        wrong = of.tally()
        wrong.judge(b"", b"", data, of.start_between(b"", data))
        yield wrong
    else:
        tally = cut_text(of, data, rng)
        tally.lengths.append(len(data))
        yield tally
        yield staying_cuts(of, data, rng)
        yield balanced_cuts(of, data, rng)
        other = program(rng, 50)
        for _ in range(5):
            yield broken_cuts(of, data, other, rng)
    if files:
        text = rng.choice(files).read_bytes()
        if of.accepts(text):
            yield cut_text(of, text, rng)
