"""Suites of judged cases: each makes tallies of some hundred verdicts, as often as it is asked to."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterable, Iterator, Sequence

from fimlsp.quotient.states.protocol import State

from . import realistic
from .checking import DEAD, Fault, Tally, engine, fed, start_between, verdict
from .judge import is_json

SYMBOLS = (b"{", b"}", b"[", b"]", b",", b":", b'""', b"1", b" ", b"\n")
ALPHABETS = (
    SYMBOLS,
    (b"0", b"1", b"-", b"+", b".", b"e", b"E", b" ", b",", b"[", b"]"),
    (b'"', b"\\", b"u", b"0", b"a", b"n", b"/", b"\n", b"\x1f", b" "),
    (b'"', b"\xc3", b"\xa9", b"\xe2", b"\x82", b"\xed", b"\xa0", b"\x80", b"\xf4", b"\xff", b"a"),
    (b"t", b"r", b"u", b"e", b"n", b"l", b"true", b"null", b"fals", b"[", b","),
    (b'"a,b"', b",", b"[", b"]", b'"', b"\r", b"\n", b"1", b"\t"),
)
PIECES = (
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b'"',
        b"\\",
        b'""',
        b'"a"',
        b"1",
        b"-",
        b".",
        b"e5",
        b" ",
        b"\n",
        b"\r",
    ),
    *(
        b"\t",
        b"null",
        b"tru",
        b"\\u00",
        b"\\n",
        b'","',
        b'":',
        b"],[",
        b"},{",
        b"\xc3",
        b"\xa9",
        b"\x00",
        b"'",
        b"/",
    ),
)
LENGTHS = (0, 1, 2, 5, 20, 100)


def words(alphabet: Sequence[bytes], most: int) -> Iterator[bytes]:
    """All texts of at most *most* symbols."""
    for length in range(most + 1):
        yield from map(b"".join, itertools.product(alphabet, repeat=length))


def walk(
    left: bytes, right: bytes, state: State | None, alphabet: Sequence[bytes], most: int, tally: Tally
) -> None:
    """Judge all middles of at most *most* symbols, each fed symbol by symbol; dead ones stay dead."""
    level: list[tuple[bytes, State | None]] = [(b"", state)]
    for length in range(most + 1):
        for middle, reached in level:
            tally.judge(left, middle, right, reached)
        if length < most:
            level = [(m + symbol, fed(reached, symbol)) for m, reached in level for symbol in alphabet]


def whole_texts(alphabet: Sequence[bytes], most: int) -> Tally:
    """All texts of at most *most* symbols, fed to an empty document."""
    tally = Tally()
    walk(b"", b"", start_between(b"", b""), alphabet, most, tally)
    return tally


def valid_texts(alphabet: Sequence[bytes], most: int) -> list[bytes]:
    """The valid texts among those of at most *most* symbols."""
    return [word for word in words(alphabet, most) if is_json(word)]


def cut_everywhere(text: bytes, alphabet: Sequence[bytes], most: int) -> Tally:
    """Middles of at most *most* symbols in all cuts of *text*."""
    tally = Tally()
    for start, end in itertools.combinations_with_replacement(range(len(text) + 1), 2):
        left, right = text[:start], text[end:]
        walk(left, right, start_between(left, right), alphabet, most, tally)
    return tally


def mutated(middle: bytes, rng: random.Random) -> bytes:
    """*middle* with a piece put in or instead of some bytes, or with some left out or doubled."""
    place = rng.randrange(len(middle) + 1)
    until = min(len(middle), place + rng.choice((0, 0, 1, 2, 8)))
    return (
        middle[:place]
        + rng.choice([rng.choice(PIECES), rng.choice(PIECES), b"", middle[place:until] * 2])
        + middle[until:]
    )


def cuts(data: bytes, rng: random.Random, count: int) -> Iterator[tuple[int, int]]:
    """Random parts of *data*, also from its very beginning and up to its very end."""
    for _ in range(count):
        start = rng.choice([rng.randrange(len(data) + 1), rng.randrange(len(data) + 1), 0])
        yield start, rng.choice([min(len(data), start + rng.choice(LENGTHS)), len(data)])


def realistic_cuts(rng: random.Random, size: int) -> Tally:
    """A realistic text, cut: prefixes of the truth live, mutants are judged, and what is dead stays so."""
    tally = Tally()
    data = realistic.text(rng, size)
    document = engine().document(data)
    for start, end in cuts(data, rng, 6):
        left, middle, right = data[:start], data[start:end], data[end:]
        state = document.middle_at_bytes(start, end, relax=False).start
        _judge_prefixes(tally, left, middle[:300], right if end - start <= 300 else middle[300:] + right, rng)
        for mutant in [mutated(middle, rng) for _ in range(6)]:
            reached = fed(state, mutant)
            tally.judge(left, mutant, right, reached)
            if reached is None:
                _judge_dead(tally, left, mutant, right, rng)
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


def _judge_dead(tally: Tally, left: bytes, middle: bytes, right: bytes, rng: random.Random) -> None:
    """Look for something that completes a middle said to be dead."""
    for tried in [b"".join(rng.choices(PIECES, k=rng.randrange(1, 4))) for _ in range(5)]:
        tally.judge(left, middle + tried, right, None)


def staying_cuts(rng: random.Random, size: int) -> Tally:
    """As `realistic_cuts`, of middles that stay where both sides are: what they complete is valid."""
    tally = Tally()
    data = realistic.text(rng, size)
    document = engine().document(data)
    for start, end in cuts(data, rng, 6):
        left, right = data[:start], data[end:]
        state = document.middle_at_bytes(start, end, relax=False, may_escape=False).start
        for middle in (b"", *[mutated(data[start:end], rng) for _ in range(4)]):
            reached = fed(state, middle)
            if reached is not None and (reached.complete or not is_json(left + middle + right)):
                tally.judge(left, middle, right, reached)
    return tally


def broken_cuts(rng: random.Random, size: int) -> Tally:
    """Two sides that were not made for each other: a start exists exactly if something connects them."""
    tally = Tally()
    one, other = realistic.text(rng, size), realistic.text(rng, size)
    left = one[: rng.randrange(len(one) + 1)]
    right = mutated(other[rng.randrange(len(other) + 1) :], rng)
    state = start_between(left, right)
    if state is None:
        _judge_dead(tally, left, b"", right, rng)
    else:
        tally.judge(left, b"", right, state)
    return tally


def endless(seed: int) -> Iterator[Tally]:
    """Tallies of all suites in turn."""
    rng = random.Random(seed)
    texts = valid_texts(SYMBOLS[:-1], 5)
    while True:
        alphabet = rng.choice(ALPHABETS)
        yield whole_texts(rng.sample(alphabet, 4), 4)
        yield cut_everywhere(rng.choice(texts), rng.sample(alphabet, 3), 2)
        size = rng.choice((30, 200, 1000, 4000))
        yield realistic_cuts(rng, size)
        yield staying_cuts(rng, size)
        for _ in range(10):
            yield broken_cuts(rng, size)


def judged(tallies: Iterable[Tally], cases: int) -> Tally:
    """The sum of as many *tallies* as have *cases* judged verdicts."""
    total = Tally()
    for tally in tallies:
        total.include([tally])
        if total.judged >= cases:
            break
    return total


def wrongly_dead(left: bytes, right: bytes, alphabet: Sequence[bytes], most: int) -> list[bytes]:
    """Prefixes of valid middles of at most *most* symbols that are said to be dead, by trying all of them."""
    start = start_between(left, right)
    complete = [word for word in words(alphabet, most) if is_json(left + word + right)]
    return [
        word[:length]
        for word in complete
        for length in range(len(word) + 1)
        if verdict(fed(start, word[:length])) == DEAD
    ]
