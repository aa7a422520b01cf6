"""Go against `go/parser`; `python -m tests.languages.go` judges as many cases as there is time for."""

import random
from pathlib import Path

import pytest

from fimlsp.languages.go import START, go
from fimlsp.quotient.language.tables import ends, tables_of
from fimlsp.testing.checking import cases, total, verdict
from fimlsp.testing.edited import type_a_line

from .judge import is_go
from .programs import program
from .suites import ALPHABETS, GO, OUTER, SUITES

HERE = Path(__file__).parent
CASES = list(cases(HERE / "cases" / "middles.txt"))


def test_middles():
    wrong = []
    for left, middle, right, expected in CASES:
        start = GO.start_between(left, right)
        state = start and start.feed(middle)
        if verdict(state) != expected:
            wrong.append((left, middle, right, verdict(state), expected))
    assert wrong == []
    assert len(CASES) > 200


def test_random_programs_are_read_as_the_grammar_made_them():
    for seed in range(60):
        rng = random.Random(seed)
        data = program(rng, rng.choice((5, 20, 100)))
        assert GO.start_between(b"", data).complete
        place = rng.randrange(len(data) + 1)
        assert GO.start_between(data[:place], data[place:]).complete


def test_no_symbol_ends_both_where_a_line_may_end_and_where_it_may_not():
    tables = tables_of(go)
    lexical = tables.lexical
    enders = {
        terminal
        for terminal, kinds in tables.kinds_of.items()
        if any(lexical.start.after(lexical.kinds[kind]) is not lexical.start for kind in kinds)
    }
    both = [symbol for symbol, last in ends(tables.grammar, -1).items() if last & enders and last - enders]
    assert [tables.grammar.name(symbol) for symbol in both] == [START]


@pytest.mark.slow
def test_a_line_that_is_edited():
    pieces = (b"a", b" ", b"/", b"*", b"\n", b" x ", b"*", b"/", b"`", b"`")
    typed = type_a_line(GO, program(random.Random(2), 3000), pieces)
    assert b"".join(pieces) in typed


def test_a_middle_stays_in_the_comment_over_lines():
    state = GO.start_between(b"package p\nvar x = 1 /* a\n", b" b */\n", may_escape=False)
    assert state.complete
    assert state.feed(b" c\n").complete
    assert state.feed(b"*/") is None


MALFORMED_DIRECTIVES = (
    *("//line a.go:0", "//line a.go:x", "//line :", "//line a.go:1:0", "//line a.go:0:1", "//line a.go:5 "),
    *("//line a.go:1073741825", "//line of code: five", "/*line a.go:0*/", "var c int /*line a.go:0\n*/"),
)
OTHER_REMARKS = (
    *("//line a.go", "//line a.go:1", "//line a.go:1:2", "//line a.go:x:5", "//line a.go:1073741824"),
    *(" //line a.go:0", "//Line a.go:0", "//line\ta.go:0", "/*line a.go:1*/", "/* line a.go:0*/"),
)


@pytest.mark.parametrize("remark", [*MALFORMED_DIRECTIVES, *OTHER_REMARKS])
def test_a_malformed_line_directive_is_a_remark_here(remark):
    assert GO.start_between(b"package p\n", f"{remark}\nvar b int\n".encode()).complete


@pytest.mark.go
@pytest.mark.parametrize("remark", [*MALFORMED_DIRECTIVES, *OTHER_REMARKS])
def test_a_malformed_line_directive_is_refused_by_the_judge(remark):
    judged = is_go(f"package p\n{remark}\nvar b int\n".encode())
    assert judged is (None if remark in MALFORMED_DIRECTIVES else True)  # None: not decided


@pytest.mark.go
def test_middles_judged():
    tally = GO.tally()
    for left, middle, right, _ in CASES:
        start = GO.start_between(left, right)
        tally.judge(left, middle, right, start and start.feed(middle))
    assert tally.faults == []


@pytest.mark.go
def test_random_programs_judged():
    tally = total(SUITES(3), 20_000)
    assert tally.faults == []
    assert tally.undecided < tally.judged / 20


@pytest.mark.go
@pytest.mark.parametrize("alphabet", [*ALPHABETS, *OUTER], ids=lambda alphabet: alphabet[0].decode())
def test_short_texts(alphabet):
    for left, right in ((b"", b""), (b"package p;func f(){", b"}")):
        assert GO.walk(left, right, alphabet, 3).faults == []
