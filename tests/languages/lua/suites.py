"""Suites of judged cases: each makes tallies of some hundred verdicts, as often as it is asked to."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from fimlsp.quotient.states.protocol import State

from .checking import Fault, Tally, engine, start_between
from .judge import is_lua
from .programs import program

ALPHABETS: tuple[tuple[bytes, ...], ...] = (
    (b"a", b"=", b"1", b",", b"(", b")", b" ", b"\n"),
    (b"a", b".", b":", b"[", b"]", b"(", b")", b'"s"', b"{}", b"=", b"1"),
    (b"do ", b"end ", b"break ", b"while ", b"1 ", b"return ", b";", b"repeat ", b"until "),
    (b"if ", b"then ", b"else ", b"elseif ", b"end ", b"1 ", b"a()", b"return "),
    (b"for ", b"a ", b"= ", b"1,", b"in ", b"do ", b"end ", b"2 "),
    (b"function ", b"a", b"(", b")", b"...", b",", b" end ", b"return ", b"local ", b".b", b":c"),
    (b"local ", b"a", b"<", b">", b"const", b"close", b",", b"=", b"1", b" "),
    (b"goto ", b"::", b"a", b" ", b"break", b"=", b"1"),
    (b"a=", b"f", b"(g)", b".x", b"=", b"1", b" ", b"local ", b"()", b";"),
    (b"a=", b"-", b"not ", b"#", b"~", b"1", b"..", b".", b"//", b"=", b"<", b" "),
    (b"a={", b"}", b"[", b"]", b"=", b"1", b",", b";", b"b", b"..."),
    (b"a=", b"0", b"1", b"x", b"e", b"p", b".", b"+", b"F", b"g", b" "),
    (b'a="', b'"', b"\\", b"n", b"x", b"4", b"2", b"u{", b"}", b"z", b"\n", b"\r", b" "),
    (b"a='", b"'", b"\\", b"1", b"2", b"5", b"6", b"9", b"\xc3", b"\xa9", b"\x00"),
    (b"a=", b"[", b"=", b"]", b"x", b"\n", b" "),
    (b"--", b"[", b"=", b"]", b"\n", b"a=1", b" ", b"\xe9", b"\xc3\xa9"),
)
PIECES = tuple(
    itertools.chain(*ALPHABETS, (b"]]", b"[[", b"--[[", b"end", b"\r\n", b"\n\r", b"\t", b"!", b"@"))
)
CONTEXTS = ((b"", b""), (b"a=1 ", b" b=2"), (b"while 1 do ", b" end"), (b"f(", b")"), (b"return {", b"}"))
LENGTHS = (0, 1, 2, 5, 20, 100)


def fed(state: State | None, middle: bytes) -> State | None:
    """The state after *middle* as well."""
    return None if state is None else state.feed(middle)


def walk(left: bytes, right: bytes, alphabet: Sequence[bytes], most: int, tally: Tally) -> None:
    """Judge all middles of at most *most* symbols, each fed symbol by symbol; dead ones stay dead."""
    level: list[tuple[bytes, State | None]] = [(b"", start_between(left, right))]
    for length in range(most + 1):
        for middle, reached in level:
            tally.judge(left, middle, right, reached)
        if length < most:
            level = [(m + symbol, fed(reached, symbol)) for m, reached in level for symbol in alphabet]


def mutated(middle: bytes, rng: random.Random) -> bytes:
    """*middle* with a piece put in or instead of some bytes, or with some left out or doubled."""
    place = rng.randrange(len(middle) + 1)
    until = min(len(middle), place + rng.choice((0, 0, 1, 2, 8)))
    put = rng.choice([rng.choice(PIECES), rng.choice(PIECES), b"", middle[place:until] * 2])
    return middle[:place] + put + middle[until:]


def cuts(data: bytes, rng: random.Random, count: int) -> Iterator[tuple[int, int]]:
    """Random parts of *data*, also from its very beginning and up to its very end."""
    for _ in range(count):
        start = rng.choice([rng.randrange(len(data) + 1), rng.randrange(len(data) + 1), 0])
        yield start, rng.choice([min(len(data), start + rng.choice(LENGTHS)), len(data)])


def cut_program(data: bytes, rng: random.Random, count: int = 6) -> Tally:
    """A valid program, cut: prefixes of the truth live, and mutants are judged."""
    tally = Tally()
    document = engine().document(data)
    for start, end in cuts(data, rng, count):
        left, middle, right = data[:start], data[start:end], data[end:]
        state = document.middle_at_bytes(start, end, relax=False).start
        _judge_prefixes(tally, left, middle[:200], middle[200:] + right, rng)
        for mutant in [mutated(middle, rng) for _ in range(6)]:
            reached = fed(state, mutant)
            tally.judge(left, mutant, right, reached)
            if reached is None:
                for tried in [b"".join(rng.choices(PIECES, k=rng.randrange(1, 4))) for _ in range(3)]:
                    tally.judge(left, mutant + tried, right, None)
    return tally


def _judge_prefixes(tally: Tally, left: bytes, middle: bytes, right: bytes, rng: random.Random) -> None:
    """Judge the prefixes of a true middle, a piece at a time."""
    state = start_between(left, right)
    place = 0
    while place < len(middle):
        if state is None:
            tally.faults.append(Fault("refuses a true prefix", left, middle[:place], right))
            return
        tally.judge(left, middle[:place], right, state)
        size = rng.choice((1, 1, 2, 4))
        state, place = state.feed(middle[place : place + size]), min(len(middle), place + size)
    tally.judge(left, middle, right, state)


def staying_cuts(data: bytes, rng: random.Random) -> Tally:
    """Middles that stay where both sides are: what they complete is valid."""
    tally = Tally()
    document = engine().document(data)
    for start, end in cuts(data, rng, 6):
        left, right = data[:start], data[end:]
        state = document.middle_at_bytes(start, end, relax=False, may_escape=False).start
        for middle in (b"", *[mutated(data[start:end], rng) for _ in range(4)]):
            reached = fed(state, middle)
            if reached is not None and (reached.complete or is_lua(left + middle + right) is False):
                tally.judge(left, middle, right, reached)
    return tally


def broken_cuts(one: bytes, other: bytes, rng: random.Random) -> Tally:
    """Two sides that were not made for each other: a start exists exactly if something connects them."""
    tally = Tally()
    left = one[: rng.randrange(len(one) + 1)]
    right = mutated(other[rng.randrange(len(other) + 1) :], rng)
    state = start_between(left, right)
    if state is not None:
        tally.judge(left, b"", right, state)
    else:
        for tried in [b"".join(rng.choices(PIECES, k=rng.randrange(1, 4))) for _ in range(5)]:
            tally.judge(left, tried, right, None)
    return tally


def endless(seed: int, files: Sequence[Path] = ()) -> Iterator[Tally]:
    """Tallies of all suites in turn; of real *files* too, if there are any."""
    rng = random.Random(seed)
    while True:
        tally = Tally()
        walk(*rng.choice(CONTEXTS), rng.sample(rng.choice(ALPHABETS), 5), 3, tally)
        yield tally
        data = program(rng, rng.choice((5, 20, 100, 500)))
        yield cut_program(data, rng)
        yield staying_cuts(data, rng)
        other = program(rng, 50)
        for _ in range(5):
            yield broken_cuts(data, other, rng)
        if files:
            text = rng.choice(files).read_bytes()
            if is_lua(text):
                yield cut_program(text, rng)


def judged(tallies: Iterator[Tally], cases: int) -> Tally:
    """The sum of as many *tallies* as have *cases* judged verdicts."""
    total = Tally()
    for tally in tallies:
        total.include(tally)
        if total.judged >= cases:
            break
    return total
