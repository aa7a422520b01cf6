"""Middles cut from real files: prefixes of the true middle are viable, and CPython judges changed ones."""

import random
from collections.abc import Iterator

from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.testing.checking import COMPLETE, Fault, fed, verdict

from ..corpus import library_files, read
from ..middle_support import cursor_in, engine, fault, is_python

LENGTHS = (0, 1, 3, 10, 30, 100, 300)
PIECES = (
    *(b"(", b")", b"[", b"]", b"{", b"}", b"'", b'"', b'"""', b"'''", b"f'", b":", b",", b"=", b".", b"*"),
    *(b"\n", b"\r", b" ", b"    ", b"\t", b"\f", b"\\", b"\\\n", b"#", b"@", b"\xc3", b"\xc2\xa0"),
    *(b"x", b"0", b"1.", b":=", b"else:", b" if ", b" for x in y", b"return", b"lambda: ", b"async "),
)


def files(seed: int, longest: int) -> Iterator[bytes]:
    """Files of the standard library in a random order."""
    for path in library_files(10_000, seed):
        data = read(path).encode(errors="replace")
        if "site-packages" not in path.parts and 0 < len(data) < longest and is_python(data):
            yield data


def cuts(data: bytes, rng: random.Random, count: int) -> Iterator[tuple[int, int]]:
    """Random parts of *data*, from anywhere in it, also from inside a character, and up to its end."""
    for _ in range(count):
        start = rng.choice([rng.randrange(len(data) + 1), max(0, len(data) - rng.choice(LENGTHS))])
        yield start, min(len(data), start + rng.choice(LENGTHS))


def faults_of_truth(
    start: GrammarState | None, left: bytes, middle: bytes, right: bytes, rng: random.Random
) -> Iterator[Fault]:
    """The faults of all prefixes of a true middle; of some, the shortest completion is tried too."""
    state = start
    tried = {rng.randrange(len(middle) + 1), len(middle)}
    for length in range(len(middle) + 1):
        if state is None:
            yield Fault("refuses a true prefix", left[-80:], middle[:length], right[:80])
            return
        found = fault(left, middle[:length], right, state) if length in tried else None
        if found is not None:
            yield found
        state = state.feed(middle[length : length + 1])


def mutated(middle: bytes, rng: random.Random) -> bytes:
    """*middle* with a piece put in, bytes left out, punctuation replaced, or a line moved or left out."""
    place = rng.randrange(len(middle) + 1)
    lines = middle.splitlines(keepends=True) or [b""]
    line = rng.randrange(len(lines))
    moved = rng.choice(
        [b" " + lines[line], b"    " + lines[line], b"\t" + lines[line].lstrip(), lines[line][1:], b""]
    )
    marks = [index for index, byte in enumerate(middle) if byte in b"()[]{}'\":\n,=. "] or [place]
    mark = rng.choice(marks)
    return rng.choice(
        [
            middle[:place] + rng.choice(PIECES) + middle[place:],
            middle[:place] + middle[place + rng.choice((1, 2, 4, 8)) :],
            middle[:mark] + rng.choice(PIECES) + middle[mark + 1 :],
            b"".join([*lines[:line], moved, *lines[line + 1 :]]),
        ]
    )


def faults_of_mutants(
    start: GrammarState | None, left: bytes, middle: bytes, right: bytes, rng: random.Random
) -> Iterator[Fault]:
    """The faults of a few mutants, one of which is also completed."""
    mutants = [mutated(middle, rng) for _ in range(6)]
    for mutant in mutants:
        accepted = verdict(fed(start, mutant)) == COMPLETE
        if accepted != is_python(left + mutant + right):
            yield Fault("accepts" if accepted else "rejects", left[-80:], mutant, right[:80])
    found = fault(left, mutants[0], right, fed(start, mutants[0]))
    if found is not None:
        yield found


def check_files(count: int, cuts_each: int, seed: int, longest: int) -> None:
    rng = random.Random(seed)
    faults: list[Fault] = []
    for _, data in zip(range(count), files(seed, longest), strict=False):
        document = engine().document(data)
        for start, end in cuts(data, rng, cuts_each):
            parts = data[:start], data[start:end], data[end:]
            state = cursor_in(document, start, end)
            faults += faults_of_truth(state, *parts, rng)
            faults += faults_of_mutants(state, *parts, rng)
        is_python.cache_clear()
    assert faults == []


def test_files():
    check_files(count=8, cuts_each=8, seed=1, longest=8_000)
