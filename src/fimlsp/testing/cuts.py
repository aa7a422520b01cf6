"""Suites of judged cases in the cuts of a text: each makes a tally of some hundred verdicts."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

from fimlsp.lexing.lexer_tables import longest_match
from fimlsp.testing.checking import Judged, Tally, fed, verdict

LENGTHS = (0, 1, 2, 5, 20, 100)
_TRIES_BETWEEN = 5
_OPENING, _CLOSING = "([{", ")]}"


def cuts(data: bytes, rng: random.Random, count: int) -> Iterator[tuple[int, int]]:
    """Random parts of *data*, also from its very start and up to its very end."""
    for _ in range(count):
        start = rng.choice([rng.randrange(len(data) + 1), rng.randrange(len(data) + 1), 0])
        yield start, rng.choice([min(len(data), start + rng.choice(LENGTHS)), len(data)])


def mutated(of: Judged, middle: bytes, rng: random.Random) -> bytes:
    """*middle* with a piece put in or instead of some bytes, or with some left out or doubled."""
    place = rng.randrange(len(middle) + 1)
    until = min(len(middle), place + rng.choice((0, 0, 1, 2, 8)))
    put = rng.choice([rng.choice(of.pieces), rng.choice(of.pieces), b"", middle[place:until] * 2])
    return middle[:place] + put + middle[until:]


def cut_text(of: Judged, data: bytes, rng: random.Random) -> Tally:
    """A valid text, cut: prefixes of the truth are viable, mutants are judged, and dead middles stay dead."""
    tally = of.tally()
    document = of.engine.document(data)
    for start, end in cuts(data, rng, 6):
        left, middle, right = data[:start], data[start:end], data[end:]
        state = document.middle_at_bytes(start, end, relax=False).start
        _judge_prefixes(of, tally, left, middle[: of.longest], middle[of.longest :] + right, rng)
        for mutant in [mutated(of, middle, rng) for _ in range(6)]:
            reached = fed(state, mutant)
            tally.judge(left, mutant, right, reached)
            if reached is None:
                _judge_dead(of, tally, left, mutant, right, rng, of.tries)
    return tally


def _judge_prefixes(
    of: Judged, tally: Tally, left: bytes, middle: bytes, right: bytes, rng: random.Random
) -> None:
    """Judge the prefixes of a true middle, a piece at a time."""
    state = of.start_between(left, right)
    place = 0
    while place < len(middle):
        if state is None:
            tally.fault("refuses a true prefix", left, middle[:place], right, rest=middle[place:])
            return
        tally.judge(left, middle[:place], right, state)
        size = rng.choice((1, 1, 2, 4))
        state, place = state.feed(middle[place : place + size]), min(len(middle), place + size)
    tally.judge(left, middle, right, state)


def _judge_dead(
    of: Judged, tally: Tally, left: bytes, middle: bytes, right: bytes, rng: random.Random, tries: int
) -> None:
    """Search for completions of a middle that is dead for the engine."""
    for tried in [b"".join(rng.choices(of.pieces, k=rng.randrange(1, 4))) for _ in range(tries)]:
        tally.judge(left, middle + tried, right, None)


def staying_cuts(of: Judged, data: bytes, rng: random.Random) -> Tally:
    """Middles that stay in the brackets and blocks of both sides: the files that they complete are valid."""
    tally = of.tally()
    document = of.engine.document(data)
    for start, end in cuts(data, rng, 6):
        left, right = data[:start], data[end:]
        state = document.middle_at_bytes(start, end, relax=False, may_escape=False).start
        for middle in (b"", *[mutated(of, data[start:end], rng) for _ in range(4)]):
            reached = fed(state, middle)
            if reached is not None and (reached.complete or of.accepts(left + middle + right) is False):
                tally.judge(left, middle, right, reached)
    return tally


def balanced_cuts(of: Judged, data: bytes, rng: random.Random) -> Tally:
    """True middles that close each bracket they open, and no other: one that has to stay may be each of them.

    A language whose enclosures are not all such brackets has no cases.
    """
    tally = of.tally()
    depths = _bracket_depths(of, data)
    document = of.engine.document(data)
    for start in rng.sample(list(depths), min(6, len(depths))):
        ends = [end for end in _balanced_ends(depths, start) if end - start <= of.longest]
        end = rng.choice(ends)
        left, middle, right = data[:start], data[start:end], data[end:]
        state = fed(document.middle_at_bytes(start, end, relax=False, may_escape=False).start, middle)
        tally.judged += 1
        if state is None or not state.complete:
            tally.fault("does not let stay", left, middle, right, verdict(state))
    return tally


def _balanced_ends(depths: Mapping[int, int], start: int) -> Iterator[int]:
    """The offsets from *start* on that are as deep, before the first that is less deep."""
    for offset, depth in depths.items():
        if offset >= start and depth < depths[start]:
            return
        if offset >= start and depth == depths[start]:
            yield offset


def _bracket_depths(of: Judged, data: bytes) -> dict[int, int]:
    """The number of open brackets at each offset of *data* that is not in a string or a comment."""
    enclosures, lexical = of.language.enclosures, of.engine.tables.lexical
    if not set("".join((*enclosures, *enclosures.values()))) <= set(_OPENING + _CLOSING + " "):
        return {}
    modes, position, depth, depths = lexical.start, 0, 0, {0: 0}
    while position < len(data):
        start = position
        lexeme = longest_match(lexical, lexical.dfa.starts[modes.mode], data, position)
        if lexeme is None:
            return {}
        kind, position = lexeme
        name = lexical.kinds[kind]
        modes = modes.after(name) or modes
        family = "comment" if name == lexical.spec.comment else lexical.spec.families.get(name)
        for offset in range(start + 1, position + 1) if family in (None, "line end") else ():
            sign = chr(data[offset - 1])
            depth += (sign in _OPENING) - (sign in _CLOSING)
            if data[offset - 1 : offset + 1] != b"\r\n":
                depths[offset] = depth
    return depths


def broken_cuts(of: Judged, one: bytes, other: bytes, rng: random.Random) -> Tally:
    """Two unrelated sides: a start exists exactly if some text connects them."""
    tally = of.tally()
    left = one[: rng.randrange(len(one) + 1)]
    right = mutated(of, other[rng.randrange(len(other) + 1) :], rng)
    state = of.start_between(left, right)
    if state is None:
        _judge_dead(of, tally, left, b"", right, rng, _TRIES_BETWEEN)
    else:
        tally.judge(left, b"", right, state)
    return tally
