"""The answers of each method from the same predictions, in files with a marked hole."""

import ast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fimlsp.datasets.bench import Bench, BenchSettings, SharedSteps
from fimlsp.datasets.languages.python import PYTHON
from fimlsp.datasets.methods import (
    Case,
    checked_stops,
    decode,
    edit_similarity,
    first_line,
    is_one_line,
    stops_of,
    whole_text,
)
from fimlsp.models.prompts.prompt import Prompt
from fimlsp.quotient.engine import Engine

from ..holes import END, Writer, parse_hole, straight, written_by

ENGINE = Engine(PYTHON.grammar)
PIECES = [b"a", b" ", b"(", b")", b"\n", b"1", b":", "é".encode()[:1], b"'"]


def run(marked, table, tokens=20):
    return Bench(BenchSettings(tokens=tokens), written_by(table)).run(*parse_hole(marked))


def check(marked, table, tokens=20, **expected):
    """Each method answers as *expected*; (text,) is an answer that does not parse.

    The figures between tokens are those of the same methods unless they are given.
    """
    expected = {
        "longest_at_tokens": expected["longest"],
        "constrained_at_tokens": expected["constrained"],
        **expected,
    }
    result = run(marked, table, tokens)
    assert result.crash is None
    answers = {
        name: attempt.text if attempt.ok or attempt.text is None else (attempt.text,)
        for name, attempt in result.attempts.items()
    }
    assert answers == expected
    assert all(attempt.cause is None for attempt in result.attempts.values() if attempt.ok)
    assert all(attempt.cause for attempt in result.attempts.values() if not attempt.ok)
    return result


def test_all_agree_on_what_is_right_at_once():
    check(
        "f(<|a, b|>)\n", straight(b"a", b", ", b"b"),
        unconstrained="a, b", longest="a, b", best="a, b", constrained="a, b", steered="a, b",
    )  # fmt: skip


def test_what_parses_may_not_compile():
    result = check(
        "f(a=1<|, b=2|>)\n", straight(b", ", b"a", b"=", b"3"),
        unconstrained=", a=3", longest=", a=3", best=", a=3", constrained=", a=3", steered=", a=3",
    )  # fmt: skip
    assert result.compiles
    assert {attempt.compile_error for attempt in result.attempts.values()} == {"keyword argument repeated"}
    assert not run("return<| 1|>\n", straight(b" 1")).compiles


def test_a_beginning_may_parse_where_the_whole_does_not():
    check(
        "f(<|a|>)\n", straight(b"a", b"))") | {b"a": [b"))", b" + b", END]},
        unconstrained=("a))",), longest="a", best="a", constrained="a", steered="a",
    )  # fmt: skip


def test_a_text_may_end_inside_a_token():
    check(
        "def f(<|a|>) -> b: pass\n", straight(b"a, c", b") -> (b"),
        unconstrained=("a, c) -> (b",), longest="a, c", best="a, c", constrained="a, c", steered="a, c",
    )  # fmt: skip
    check(
        "x = a<|b|>c\n", straight(b" +d+"),
        unconstrained=" +d+", longest=" +d+", best=" +d+", constrained=" +d+", steered=" +d+",
    )  # fmt: skip
    check(
        "x = [<|1|>]\n", straight(b"1]"),
        unconstrained=("1]",), longest="1", longest_at_tokens="", best="1",
        constrained="1", constrained_at_tokens="", steered="1",
    )  # fmt: skip
    check(
        "f(b +<|a|>)\n", straight(b"a["),
        unconstrained=("a[",), longest="a", longest_at_tokens=None, best="a",
        constrained="a", constrained_at_tokens=None, steered="a",
    )  # fmt: skip


def test_a_stop_inside_a_token_scores_like_the_stop_after_it():
    stops = stops_of(decode(Writer(straight(b"ab", "é".encode())), Prompt((1,), 100), None, tokens=9))
    assert [(stop.length, stop.is_between_tokens) for stop in stops] == [
        (0, True), (1, False), (2, True), (4, True),
    ]  # fmt: skip
    assert stops[1].score == stops[2].score
    assert max(stops[1:3]) == stops[2]


def test_the_last_token_of_a_text_that_was_cut_off_has_no_stop():
    cut_off = decode(Writer(straight(b"a", b"b", b"c")), Prompt((1,), 100), None, tokens=2)
    assert [stop.length for stop in stops_of(cut_off)] == [0, 1]
    assert [stop.length for stop in stops_of(cut_off, of_last=True)] == [0, 1, 2]
    check(
        "1 +<|1|>\n", straight(b"(", b"1", b")", b" +"), tokens=3,
        unconstrained="(1)", longest="(1)", best="(1)", constrained="(1)", steered="(1)",
    )  # fmt: skip


def test_what_was_written_is_kept_where_it_is_no_answer():
    attempts = run("x = [<|1]|>\n", {b"1, " * n: [b"1, "] for n in range(9)}, 3).attempts
    assert attempts["constrained"].text is None
    assert attempts["constrained"].written == "1, 1, 1, "
    assert attempts["steered"].written is None


def test_the_judge_is_timed():
    assert run("f(<|a|>)\n", straight(b"a")).check_ms > 0


def test_of_two_beginnings_the_best_scored_is_another_than_the_longest():
    table = {b"": [b"a"], b"a": [b" + b", END], b"a + b": [b"]", b"}", b")}", END]}
    check(
        "f(<|a|>)\n", table,
        unconstrained=("a + b]",), longest="a + b", best="a", constrained="a", steered="a",
    )  # fmt: skip


def test_the_constraint_goes_on_where_checking_ends():
    check(
        "f(b +<|a|>)\n", {b"": [b"]", b"a"]},
        unconstrained=("]",), longest=None, best=None, constrained="a", steered="a",
    )  # fmt: skip


def test_a_refused_candidate_ends_what_is_complete():
    check(
        "f(<|a|>)\n", {b"": [b"]", b"a"]},
        unconstrained=("]",), longest="", best="", constrained="", steered="",
    )  # fmt: skip


def test_only_steering_ends_in_time():
    check(
        "x = [<|1]|>\n", {b"1, " * n: [b"1, "] for n in range(9)}, tokens=6,
        unconstrained=("1, " * 6,), longest=None, best=None, constrained=None,
        steered="1, " * 6 + "]",
    )  # fmt: skip


def test_half_characters_are_answers_that_do_not_parse():
    result = check(
        "'<|é|>'\n", straight("é".encode(), "é".encode()[:1]),
        unconstrained=("é\udcc3",), longest="é", best="é", constrained="é", steered="é",
    )  # fmt: skip
    assert result.attempts["longest"].exact


def test_an_answer_is_kept_byte_by_byte_whatever_the_encoding_of_file_names(monkeypatch):
    monkeypatch.setattr("os.fsdecode", lambda data: data.decode("latin-1"))
    assert run("'<|é|>'\n", straight("é".encode())).attempts["steered"].exact


def test_what_it_took_is_counted():
    result = run("f(b +<|a|>)\n", {b"": [b"]", b"}", b"a"], b"a": [b"]", END]})
    constrained = result.attempts["constrained"]
    assert (constrained.tokens, constrained.rejected, constrained.tried) == (1, 3, 4)
    assert constrained.rejections == {"2": 1}
    assert (result.attempts["unconstrained"].tokens, result.attempts["unconstrained"].rejected) == (1, 0)
    assert (result.size, result.truth, result.one_line, result.first) == (9, 1, True, True)


def test_likeness_is_measured_on_every_answer():
    attempts = run("x = <|cart\ny|>\n", straight(b"cat", b"\ny", b"))")).attempts
    assert attempts["longest"].exact is False
    assert attempts["longest"].first_line == 0.75
    assert attempts["longest"].similarity == pytest.approx(5 / 6, abs=1e-4)
    assert attempts["unconstrained"].similarity == pytest.approx(4 / 7, abs=1e-4)


def test_what_does_not_connect_is_asked_of_cpython():
    middle = decode(Writer(straight(b"a", b"))")), Prompt((1,), 100), None, tokens=9)
    case = Case(PYTHON, "f(", "a", ")\n", None)
    assert [stop.length for stop in checked_stops(case, middle)] == [0, 1]


@settings(max_examples=40)
@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_checked_stops_are_those_that_cpython_accepts(pieces):
    left, right = "x = (", ")\ny\n"
    middle = decode(Writer(straight(*pieces)), Prompt((1,), 100), None, tokens=9)
    file, record = parse_hole(f"{left}<|0|>{right}")
    case = Case.at(record.cut, file.text, ENGINE.document(file.text.encode()), PYTHON)
    assert case.start is not None
    text, stops = whole_text(middle), stops_of(middle, of_last=True)
    assert checked_stops(case, middle) == [
        stop for stop in stops if accepted(left, text[: stop.length], right)
    ]


def accepted(left, middle, right):
    try:
        ast.parse(left + middle.decode() + right)
    except (SyntaxError, ValueError):
        return False
    return True


def test_steps_are_shared_until_a_decoding_leaves_the_others():
    table = {b"": [b"a", b"b"], b"a": [b"c", b"d"], b"ad": [b"e"]}
    network = Writer(table)
    shared = SharedSteps(network)
    a, c, d = (network.token_bytes.index(text) for text in (b"a", b"c", b"d"))

    def read(*tokens):
        return [shared.begin((1, 2)), *(shared.advance(token) for token in tokens)]

    first = read(a, c)
    assert network.steps == 3
    assert read(a, c) == first
    assert network.steps == 3
    assert read(a, d)[-1].tokens == [network.token_bytes.index(b"e")]
    assert network.steps == 4
    assert shared.begin((1, 2), (a, d)) == read(a, d)[-1]
    assert shared.begin((7,)) == first[0]
    assert network.steps == 5


def test_ten_cuts_share_the_document():
    bench = Bench(BenchSettings(tokens=1), written_by({}))
    file, record = parse_hole("a\nf(<|a|>)\nb\n")
    firsts = [bench.run(file, record).first for _ in range(3)]
    other = parse_hole("g(<|a|>)\n")
    assert firsts == [True, False, False]
    assert bench.run(*other).first


def test_an_error_in_a_case_is_its_result(monkeypatch):
    def fail(*_arguments, **_more):
        raise RuntimeError("broken\nindeed")

    monkeypatch.setattr("fimlsp.datasets.methods.decode", fail)
    result = run("f(<|a|>)\n", {})
    assert result.crash.startswith("RuntimeError: broken (test_methods.py:")
    assert result.attempts == {}
    assert "in fail" in result.traceback


@pytest.mark.parametrize(
    ("text", "truth", "similarity"),
    [("cat", "cart", 0.75), ("", "", 1.0), ("a", "", 0.0), ("ab", "ba", 0.0), ("abc", "abd", 2 / 3)],
)
def test_edit_similarity(text, truth, similarity):
    assert edit_similarity(text, truth) == pytest.approx(similarity)
    assert edit_similarity(truth, text) == pytest.approx(similarity)


@pytest.mark.parametrize(("text", "line"), [("a", "a"), ("a\nb", "a"), ("\nb", ""), ("", "")])
def test_first_line(text, line):
    assert first_line(text) == line
    assert is_one_line(text) == (text == line)
