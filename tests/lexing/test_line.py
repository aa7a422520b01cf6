"""Lines: their ends, lexemes and open brackets, each read on its own."""

import random
import sys
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fimlsp.languages.python.lexical_spec import BRACKETS as PAIRS
from fimlsp.languages.python.lexical_spec import python_lexical_spec
from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.line import Line, LineReader, joined, n_joined, physical_end, unmatched_brackets
from fimlsp.lexing.nesting import BlockColumns, Column

TABLES = LexerTables(python_lexical_spec())


def read(data: bytes, start: int = 0) -> Line:
    return LineReader(TABLES).read(data, start)


def names(line: Line) -> str:
    return " ".join(TABLES.kinds[kind] for kind in line.kinds)


LINES = {
    # text: the lexemes of its first line, and where that ends
    b"x = 1\ny": ("NAME = REAL", 6),
    b"x\r\ny": ("NAME", 3),
    b"x\ry": ("NAME", 2),
    b"x": ("NAME", 1),
    b"": ("", 0),
    b"\n": ("", 1),
    b"  # note\nx": ("", 9),
    b"x # note\ny": ("NAME", 9),
    b"if x: y\n": ("if NAME : NAME", 8),
    b"x = (\n1)": ("NAME = (", 6),
    b"'''a\nb'''\nx": ("STRING", 10),
    b"'''a\nb''' + '''\n'''\nx": ("STRING + STRING", 20),
    b"x = \\\n  1\ny": ("NAME = REAL", 10),
    b"f'a{x}'\n": ("FSTRING_START:' FSTRING_TEXT FIELD_OPEN NAME FIELD_CLOSE FSTRING_END", 8),
    b"\xc3\xa9 = 1\n": ("NAME = REAL", 7),
}


@pytest.mark.parametrize("text", LINES)
def test_lines(text):
    line = read(text)
    kinds, size = LINES[text]
    assert (names(line), line.size, line.broken) == (kinds, size, False)


BROKEN = [
    b"?\nx",
    b"'a\nb",
    b"'''a\nb",
    b"x\\",
    b"x \\ \n",
    b"\xff\n",
    b"\xc2\xa0\n",
    b"\0\n",
    b"f'{a\n",
]


@pytest.mark.parametrize("text", BROKEN)
def test_broken_lines_are_one_physical_line(text):
    line = read(text)
    assert asdict(line) == asdict(Line(physical_end(text, 0), broken=True, reach=line.reach))


COLUMNS = {
    b"x": Column(0, 0),
    b"  x": Column(2, 2),
    b"\tx": Column(8, 1),
    b"  \tx": Column(8, 3),
    b"\t x": Column(9, 2),
    b"  \f x": Column(1, 1),
    b"  \\\n x": Column(2, 2),
    b"  # x": None,
    b"  \n": None,
}


@pytest.mark.parametrize("text", COLUMNS)
def test_columns(text):
    line = read(text)
    assert (line.column, line.blank) == (COLUMNS[text], COLUMNS[text] is None)


BRACKETS = {
    "": ("", ""),
    "()": ("", ""),
    "([": ("", ")]"),
    ")]": (")]", ""),
    "}({": ("}", ")}"),
    "(]": ("", ""),
    "x)(y[z]": (")", ")"),
}


@pytest.mark.parametrize("text", BRACKETS)
def test_unmatched_brackets(text):
    closers, openers = unmatched_brackets(PAIRS, text)
    assert ("".join(closers), "".join(openers)) == BRACKETS[text]


def test_lines_know_their_brackets():
    line = read(b"), (x, [y, {}\n")
    assert (line.closers, line.openers) == ((")",), (")", "]"))


REACHES = {
    b"x\n": 0,
    b"?\n": 0,
    b"'''a\nb'''\nx\n": 10,
    b"x = \\\n  1\ny\n": 10,
    b"'''a\nb''' ?\nx\n": 12,
    b"'''a\nb\n": sys.maxsize,
}


@pytest.mark.parametrize("text", REACHES)
def test_how_far_lines_reach(text):
    assert read(text).reach == REACHES[text]


GIVEN_UP = {
    b"'''a\nb''' ?\nx\n": None,  # `?` is no lexeme
    b"'''a\n\0\n''' + x\ny\n": None,
    b"'''a\n''' b c\n'''\nd\n'''\n": lambda kinds: len(kinds) < 2,
}
"""Broken lines of several stretches, broken by themselves or by neighbours that must not be adjacent."""


@pytest.mark.parametrize("text", GIVEN_UP)
def test_a_line_that_is_given_up_is_read_once(text):
    reader = LineReader(TABLES)
    line = reader.read(text + b"x\n", 0, GIVEN_UP[text])
    assert line.broken
    assert reader.read(text + b"y\n", 0, GIVEN_UP[text]) is line
    other = reader.read(text.replace(b"a", b"e") + b"y\n", 0, GIVEN_UP[text])
    assert other is not line


JOINED = {
    "x": 1,
    "x|y": 1,
    "(|)": 2,
    "x|(|[|]|)": 4,
    "(|) (|)": 3,
    "(|": 1,
    ")": 1,
    "x) (|)": 1,
    "(|)|x": 1,
    "(||# note|)": 4,
    "(|?|)": 1,
    "(" + 49 * "|" + ")": 50,
    "(" + 50 * "|" + ")": 1,
}


@pytest.mark.parametrize("text", JOINED)
def test_lines_that_brackets_join(text):
    lines = [read(line.encode()) for line in text.split("|")]
    count = n_joined(lines)
    whole = joined(lines[-count:])
    assert count == JOINED[text]
    assert whole.size == sum(line.size for line in lines[-count:])
    assert whole.kinds == tuple(kind for line in lines[-count:] for kind in line.kinds)
    assert whole.column == lines[-count].column


PIECES = [
    b"x",
    b" ",
    b"(",
    b")",
    b"'",
    b'"""',
    b"\n",
    b"\r",
    b"\\",
    b"#",
    b"f'{",
    b"}'",
    b"\xc3",
    b"\t",
    b":",
    b"\0",
]


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.lists(st.sampled_from(PIECES), max_size=6))
def test_what_was_remembered_does_not_matter(pieces, others):
    one, other = b"".join(pieces), b"".join(others)
    reader = LineReader(TABLES)
    for data in (one, one, one + other, other + one):
        position = 0
        while position < len(data):
            line = reader.read(data, position)
            assert asdict(line) == asdict(read(data, position))
            assert line.size > 0
            position += line.size
        assert position == len(data)


@given(st.lists(st.sampled_from(PIECES), max_size=30), st.integers(min_value=0, max_value=1030))
def test_lines_one_after_the_other_are_those_read_on_their_own(pieces, size):
    data = b"x" * size + b"".join(pieces)
    reader = LineReader(TABLES)
    for _ in range(2):
        position = 0
        for line in reader.lines(data, 0):
            assert asdict(line) == asdict(read(data, position))
            position += line.size
        assert position == len(data)


@pytest.mark.parametrize(
    ("columns", "change"),
    [
        ([Column(0, 0)], 0),
        ([Column(4, 4)], 1),
        ([Column(4, 4), Column(4, 4)], 0),
        ([Column(4, 4), Column(8, 8), Column(0, 0)], -2),
        ([Column(4, 4), Column(8, 8), Column(4, 4)], -1),
        ([Column(4, 4), Column(2, 2)], None),
        ([Column(8, 1), Column(8, 8)], None),
        ([Column(8, 8), Column(16, 2)], None),
        ([Column(8, 1), Column(16, 2)], 1),
    ],
)
def test_indents(columns, change):
    indents = BlockColumns()
    for column in columns[:-1]:
        entered = indents.enter(column, 99)
        assert entered is not None
        indents = entered[0]
    entered = indents.enter(columns[-1], 99)
    assert (entered and entered[1]) == change


def test_indents_have_cpythons_limit():
    indents = BlockColumns()
    for width in range(1, 100):
        entered = indents.enter(Column(width, width), 99)
        assert entered is not None
        indents = entered[0]
    assert indents.enter(Column(100, 100), 99) is None


def test_order_of_columns():
    rng = random.Random(1)
    for _ in range(200):
        one, other = (Column(rng.randrange(4), rng.randrange(4)) for _ in range(2))
        assert one.deeper_than(other) is (one.tabs8 > other.tabs8 and one.tabs1 > other.tabs1)
