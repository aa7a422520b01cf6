"""Long work can be interrupted, and interrupted work can be repeated."""

from __future__ import annotations

from functools import partial
from itertools import count

import pytest

from fimlsp.languages.python import python
from fimlsp.languages.python.compiler.file_check import FileCheck
from fimlsp.lexing.interruption import Interrupted, interruptible
from fimlsp.quotient.engine import Engine

from .middle_support import engine

PARTS = b"""\
def read(path):
    with open(path) as file:
        for line in file:
            rows.append([
                f"{line!r:>{width}}",
                {"a": 1, "b": (2, 3)},
            ])
    return [row for row in rows if <|>

class Table:
    def total(self): return sum(self.values
        for x in y)
"""
BROKEN = PARTS.replace(b"values\n", b"values))\n").replace(b"= [", b"= [(")
ONE_LINE = b"x = f(a, <|>" + b", ".join(b"[b, {c: d}, f'{e}']" for _ in range(40)) + b")\n"


def answers(document, cursor, end):
    """The verdicts of the engine on some middles at a cursor."""
    start = document.middle(cursor, end).start
    states = [start and start.feed(middle) for middle in (b"", b"x", b"x]", b"(x, y", b"]\n    def f(")]
    return [state and (state.complete, state.feed(state.shortest_completion).complete) for state in states]


def asked(times):
    """A scope that is over after so many *times* of checking."""
    asks = count(1)
    return interruptible(lambda: next(asks) > times)


@pytest.mark.parametrize("text", [PARTS, BROKEN, ONE_LINE], ids=["valid", "broken", "one line"])
def test_what_was_interrupted_is_answered_when_asked_again(text):
    left, right = text.split(b"<|>")
    cursor = len(left)
    expected = answers(Engine(python(), engine().tables).document(left + right), cursor, cursor)
    for times in count():
        document = Engine(python(), engine().tables).document(left + right)
        try:
            with asked(times):
                answers(document, cursor, cursor)
        except Interrupted:
            assert answers(document, cursor, cursor) == expected, times
        else:
            break
    assert times > 5, "it was asked now and then"


LONG = {
    "many lines on the left": (b"".join(b"x%d = %d\n" % (n, n) for n in range(5_000)), b"", b"\n"),
    "many lines on the right": (b"", b"", b"".join(b"x%d = %d\n" % (n, n) for n in range(5_000))),
    "a long line on the left": (b"x = " + b"a if b else " * 2_000, b"", b"\n"),
    "a long line on the right": (b"x = ", b"", b" if b else a" * 2_000 + b"\n"),
    "a long middle": (b"x = ", b"a if b else " * 2_000, b"\n"),
    "many arguments": (b"f(" + b"a, " * 3_000, b"", b")\n"),
    "a long string": (b"x = '''" + b"a\n" * 3_000, b"", b"'''\n"),
    "a long field": (b"x = ", b"", b" f'{a[" + b"0, " * 2_000 + b"0]}'\n"),
    "many levels": (b"", b"", b"".join(b" " * n + b"x\n" for n in reversed(range(500)))),
}


@pytest.mark.parametrize("name", LONG)
def test_long_texts_are_interrupted(name):
    left, middle, right = LONG[name]
    document = Engine(python(), engine().tables).document(left + right)
    with asked(15), pytest.raises(Interrupted):
        document.middle(len(left), len(left)).start.feed(middle)


LINES = b"".join(b"x%d = %d\n" % (n, n) for n in range(3_000))
READERS = {
    "above": lambda: partial(Engine(python(), engine().tables).document(LINES).left_at, len(LINES)),
    "below": lambda: partial(Engine(python(), engine().tables).document(LINES).goes_on_at, 0),
    "check": lambda: partial(FileCheck((3, 11)).faults, LINES),
}


@pytest.mark.parametrize("reader", READERS)
def test_what_was_read_before_an_interruption_is_not_read_again(reader, monkeypatch):
    monkeypatch.setattr("fimlsp.lexing.line.MEGABYTE", 1_000)  # too little to remember all the lines
    asks = []
    with interruptible(lambda: asks.append(0)):
        READERS[reader]()()
    assert 3 < attempts(READERS[reader](), len(asks) // 4) < 8


def attempts(read, most):
    """How many attempts *read* takes, each of which may ask *most* times."""
    try:
        with asked(most):
            read()
    except Interrupted:
        return 1 + attempts(read, most)
    return 1
