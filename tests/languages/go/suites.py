"""Suites of judged cases: each makes tallies of some hundred verdicts, as often as it is asked to."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from fimlsp.quotient.states.protocol import State

from .checking import Fault, Tally, engine, start_between
from .judge import is_go
from .programs import program

F = b"package p;func f(){"
ALPHABETS: tuple[tuple[bytes, ...], ...] = (
    (b"a", b"=", b"1", b",", b"(", b")", b" ", b"\n", b";", b":="),
    (b"a", b".", b":", b"[", b"]", b"(", b")", b'"s"', b"{}", b"=", b"1", b"type"),
    (b"if ", b"a", b"{", b"}", b"else ", b";", b":=", b"\n", b"b()", b"T{}"),
    (b"for ", b"a", b"{", b"}", b"range ", b";", b":=", b"\n", b",b", b"++", b"[]T"),
    (b"switch ", b"a", b"{", b"}", b"case ", b"default", b":", b";", b"\n", b"x:=", b".(type)", b"a:"),
    (b"select ", b"{", b"}", b"case ", b"default", b":", b"a", b"<-", b"c", b"=", b":=", b",b", b"\n"),
    (b"func", b"(", b")", b"a", b" T", b"*", b"[", b"]", b"{", b"}", b"...", b",", b" "),
    (b"type ", b"T", b"[", b"]", b"P", b" *", b"C", b",", b"|", b"~", b"int", b" any", b"=", b"("),
    (b"type T[P ", b"]", b"*", b"C", b",", b"|", b"[]", b"(", b")", b"int", b"interface{}", b"+", b"Q "),
    (b"type T struct{", b"}", b"a", b" b", b",", b".", b"*", b"[", b"]", b'"t"', b"\n", b";", b"1", b"("),
    (b"type T interface{", b"}", b"a", b"(", b")", b"|", b"~", b"[", b"]", b"\n", b";", b".b", b"[]", b"int"),
    (b"a:=", b"chan ", b"<-", b"int", b"(", b")", b"func", b"*", b"a", b"[", b"]", b"{}"),
    (b"if ", b"chan ", b"[]", b"func", b"()", b"int", b"{}", b"(", b")", b"struct{}", b"a", b"==", b"{"),
    (b"go ", b"defer ", b"a", b"()", b"(", b")", b".b", b"func(){}", b"-", b"[1]", b"\n"),
    (
        b"return ",
        b"break ",
        b"goto ",
        b"continue ",
        b"fallthrough ",
        b"a",
        b"\n",
        b"/*\n*/",
        b"//\n",
        b":",
        b"1,",
    ),
    (b"var ", b"const ", b"a", b"=", b"1", b" int", b",", b"(", b")", b"\n", b";", b"iota"),
    (b"a=", b"0", b"1", b"x", b"e", b"p", b".", b"+", b"F", b"_", b"8", b"i", b"b", b"o"),
    (b'a="', b'"', b"\\", b"n", b"x", b"4", b"u", b"U", b"0", b"D", b"8", b"\n", b"'"),
    (b"a='", b"'", b"\\", b"1", b"2", b"7", b"4", b"\xc3", b"\xa9", b"\x00", b'"', b"u", b"0"),
    (b"a", b"/", b"*", b"\n", b" ", b"\r", b"=", b"`", b"1"),
    (b"a=b", b"-", b"!", b"&", b"^", b"<", b">", b"=", b"+", b"*", b"~", b"|", b"1", b"a"),
    (b"a{", b"}", b":", b",", b"1", b"b", b"{", b"\n", b"[]T", b"[...]int", b"map[a]b"),
    (b"a[", b"]", b":", b",", b"1", b"b", b"\n", b"()", b"...", b"f("),
)
OUTER: tuple[tuple[bytes, ...], ...] = (
    (b"package ", b"p", b"\n", b";", b"import ", b'"a"', b"(", b")", b". ", b"var a int", b"// b\n"),
    (b"package p;", b"func ", b"f", b"()", b"{}", b"(a T)", b"[P any]", b"[P C]", b"\n", b" T", b";", b"*T"),
    (b"\xef\xbb\xbf", b"package p", b"\n", b"\xef", b"\xbb", b"\xbf", b"//", b"\xc3\xa9", b"\x00"),
    (
        b"package p;func ",
        b"(",
        b")",
        b"f",
        b"[",
        b"]",
        b"P",
        b" ~",
        b"int",
        b"|",
        b",",
        b" T",
        b"...",
        b"*",
        b"[]",
    ),
)
PIECES = tuple(
    itertools.chain(*ALPHABETS, *OUTER, (b"//", b"/*", b"*/", b"`", b"\r\n", b"\t", b"#", b"@", b"?", b"\v"))
)
CONTEXTS = (
    (F, b"}"),
    (F, b"}\n"),
    (F + b"a", b"b}"),
    (F + b"x(", b")}"),
    (F + b"if ", b"{}}"),
    (F + b"x\n", b"\ny\n}"),
    (F + b"switch{case a:", b"\ndefault:\n}}"),
    (b"package p\ntype T", b"\n"),
    (b"package p\nfunc f", b"{}"),
    (b"package p\n", b"\nvar x int"),
    (b"package p\nvar x = ", b""),
)
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
            if reached is not None and (reached.complete or is_go(left + middle + right) is False):
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
        alphabet = rng.choice(ALPHABETS)
        walk(*rng.choice(CONTEXTS), [alphabet[0], *rng.sample(alphabet, 5)], 3, tally)
        walk(b"", b"", rng.sample(rng.choice(OUTER), 5), 3, tally)
        yield tally
        data = program(rng, rng.choice((5, 20, 100, 500)))
        yield cut_program(data, rng)
        yield staying_cuts(data, rng)
        other = program(rng, 50)
        for _ in range(5):
            yield broken_cuts(data, other, rng)
        if files:
            text = rng.choice(files).read_bytes()
            if is_go(text):
                yield cut_program(text, rng)


def judged(tallies: Iterator[Tally], cases: int) -> Tally:
    """The sum of as many *tallies* as have *cases* judged verdicts."""
    total = Tally()
    for tally in tallies:
        total.include(tally)
        if total.judged >= cases:
            break
    return total
