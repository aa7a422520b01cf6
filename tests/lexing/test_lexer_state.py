"""The incremental lexer: it can stop anywhere, and the result does not depend on how the bytes are split."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fimlsp.languages.python.lexical_spec import python_lexical_spec
from fimlsp.lexing.lexer_state import LexerState, Symbol, start_of_line
from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.nesting import BlockColumns, Column

TABLES = LexerTables(python_lexical_spec())
START = start_of_line(TABLES, TABLES.start, BlockColumns())


def name(symbol: Symbol) -> str:
    """A kind by its name, the part after a colon left out, and an INDENT as its width."""
    if isinstance(symbol, Column):
        return f">{symbol.tabs8}"
    kind = TABLES.kinds[symbol]
    return kind if len(kind) < 3 else kind.partition(":")[0]


def names(symbols: list[Symbol]) -> str:
    return " ".join(map(name, symbols))


ENDED = {
    # bytes: the symbols that have ended after them
    b"": "",
    b"x": "",
    b"x ": "NAME",
    b"x=": "NAME",
    b"x==": "NAME",
    b"x==y": "NAME ==",
    b"x\n": "NAME",
    b"x\ny": "NAME NEWLINE",
    b"x\r\ny": "NAME NEWLINE",
    b"x\r\r\ny": "NAME NEWLINE",
    b"if x:\n  y": "if NAME : NEWLINE >2",
    b"if x:\n\ty\nz": "if NAME : NEWLINE >8 NAME NEWLINE DEDENT",
    b"if x:\n if y:\n  z\nw": "if NAME : NEWLINE >1 if NAME : NEWLINE >2 NAME NEWLINE DEDENT DEDENT",
    b"if x:\n\n # y\n  z": "if NAME : NEWLINE >2",
    b"if x:\n  \\\n y": "if NAME : NEWLINE >2",
    b"(\n x)": "( NAME",
    b"(\n x) ": "( NAME )",
    b"x \\\n y ": "NAME NAME",
    b"# x\ny ": "NAME",
    b"'a' ": "STRING",
    b"''": "",
    b"'' ": "STRING",
    b"'''": "",
    b"f'a": "FSTRING_START",
    b"f'a{b} ": "FSTRING_START FSTRING_TEXT FIELD_OPEN NAME FIELD_CLOSE",
    b"f'{a:>{b}}' ": "FSTRING_START FIELD_OPEN NAME FIELD_COLON FSTRING_TEXT FIELD_OPEN NAME FIELD_CLOSE "
    "FIELD_CLOSE FSTRING_END",
    b"f'' ": "FSTRING_START FSTRING_END",
}


@pytest.mark.parametrize("text", ENDED)
def test_symbols_that_have_ended(text):
    step = START.feed(text)
    assert step is not None
    assert names(step.symbols) == ENDED[text]


REFUSED = [
    *(
        b") ",
        b"(] ",
        b"?",
        b"$",
        b"'\n",
        b"\\x",
        b"\\ ",
        b"\xff",
        b"\0",
        b"\xc2\xa0",
        b"f'{\\",
        b"f'{#",
        b"f'{'",
    ),
    *(b"if x:\n  y\n z", b"if x:\n\ty\n        z", b"b'\xc3", b"'\\xg", b"f'''{'''"),
]


@pytest.mark.parametrize("text", REFUSED)
def test_bytes_that_nothing_mends(text):
    assert START.feed(text) is None


FINISHED = {
    b"": "",
    b"x": "NAME",
    b"x ": "NAME",
    b"x\n": "NAME NEWLINE",
    b"x # y": "NAME",
    b"''": "STRING",
    b"x = 1.": "NAME = REAL",
    b"f'a'": "FSTRING_START FSTRING_TEXT FSTRING_END",
    b"f''": "FSTRING_START",  # f and two quotes may begin a long string, so the second quote is left over
    b"'a": None,
    b"'''": None,
    b"\xc3": None,
    b"x\\": None,
}


@pytest.mark.parametrize("text", FINISHED)
def test_finishing(text):
    step = START.feed(text)
    assert step is not None
    last = step.lexer.finish()
    found = None if last is None else names(step.symbols + last.symbols)
    assert found == FINISHED[text]


def test_columns_are_reported_where_the_left_is_unknown():
    step = start_of_line(TABLES, TABLES.start, None).feed(b"  x\ny ")
    assert step is not None
    assert names(step.symbols) == ">2 NAME NEWLINE >0 NAME"


def test_a_line_begins_where_the_right_context_goes_on():
    step = START.feed(b"if x:\n  y\n ")
    assert step is not None
    deeper, level = step.lexer.start_line(b"   "), step.lexer.start_line(b" ")
    assert deeper is not None
    assert level is not None
    assert (names(deeper.symbols), names(level.symbols)) == (">4", "")
    assert step.lexer.start_line(b"") is None


PIECES = [
    *(b"x", b"if", b" ", b"  ", b"\n", b"\r", b"(", b")", b"'", b'"', b'"""', b"f'", b"{", b"}", b":", b"\\"),
    *(b"#", b"1", b".", b"e", b"=", b"\t", b"\f", b"\xc3", b"\xa9", b"0", b"or", b"rb'", b"!", b"r"),
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=14).map(b"".join)


def fed_in_pieces(data: bytes, rng: random.Random) -> tuple[LexerState, list[Symbol]] | None:
    lexer, symbols = START, list[Symbol]()
    while data:
        size = rng.choice((1, 1, 2, 5))
        step = lexer.feed(data[:size])
        if step is None:
            return None
        lexer, symbols, data = step.lexer, symbols + step.symbols, data[size:]
    return lexer, symbols


@given(TEXTS, st.integers(min_value=0))
def test_pieces_and_the_whole(data, seed):
    step = START.feed(data)
    assert fed_in_pieces(data, random.Random(seed)) == (step and (step.lexer, step.symbols))


@given(TEXTS, TEXTS)
def test_what_ended_stays(data, more):
    step = START.feed(data)
    further = START.feed(data + more)
    if further is not None:
        assert step is not None
        assert further.symbols[: len(step.symbols)] == step.symbols


@given(TEXTS, st.one_of(TEXTS, st.sampled_from([b"a", b" ", b"_1", b".", b"\n", b"0", b"'", b"{"])))
def test_what_changes_nothing(data, more):
    step = START.feed(data)
    if step is not None and not more.strip(step.lexer.idle):
        assert step.lexer.feed(more) == (step.lexer, [])


INSIDE = {
    # bytes: next ones that change nothing, and next ones that change something
    b"self": (b"abc_9", b" .(=\n'"),
    b"# note": (b"abc .'", b"\n\r"),
    b"    # note": (b"abc .'", b"\n\r"),
    b"x = 'text": (b"abc .#", b"'\\\n\r"),
    b"x = 'text\\": (b"", b"n'x"),
    b"x = '''text": (b"abc .\n", b"'\\"),
    b"f'text": (b"abc .", b"'{}\\\n\r"),
    b"f'{x} {a": (b"", b"b_}:"),
    b"x = 12": (b"", b"345_.ej"),
    b"x = '\\N{DASH": (b"", b"ABC }"),
    b"x =  ": (b" \t", b"xyz("),
    b"    ": (b"", b" \tx#"),
}


@pytest.mark.parametrize("text", INSIDE)
def test_most_of_a_long_lexeme_changes_nothing(text):
    step = START.feed(text)
    assert step is not None
    same, others = INSIDE[text]
    assert [byte for byte in same + others if byte in step.lexer.idle] == list(same)
