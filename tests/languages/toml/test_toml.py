"""TOML against tomli: short middles, cuts of random files, edits, and cases one by one."""

import itertools
import random
from pathlib import Path

import pytest

from fimlsp.languages.toml import toml
from fimlsp.testing import cases, fed, first_refusal, grows, total, type_a_line, verdict

from ...sampling import sampled
from .judge import is_toml
from .suites import ALPHABETS, SIDES, SUITES, TOML, program

FILES = sorted((Path(__file__).parent / "cases" / "middle").glob("*.txt"))


SHORT = [(name, sides) for name in ALPHABETS for sides in (SIDES if name == "definitions" else SIDES[:5])]


@pytest.mark.parametrize(("name", "sides"), sampled(SHORT, 4))
def test_all_short_middles(name, sides):
    assert TOML.walk(*sides, ALPHABETS[name], 3).faults == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ALPHABETS)
def test_longer_middles(name):
    assert TOML.walk(b"a = ", b"\n", ALPHABETS[name], 5).faults == []


@pytest.mark.slow
def test_cuts_of_random_files():
    assert total(SUITES(1), 2_000).faults == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_many_cuts(seed):
    assert total(SUITES(seed), 30_000).faults == []


@pytest.mark.parametrize("size", [30, 300])
def test_random_files_are_valid(size):
    assert all(is_toml(program(random.Random(seed), size)) for seed in range(10))


def test_an_edited_file_is_read_as_a_new_one():
    text = program(random.Random(1), 300)
    assert type_a_line(TOML, text, (b"k = ", b'"', b"a", b'"', b"  # one"))


@pytest.mark.parametrize("text", [b"[[a]]\nb = [1, 2]\n", b'b = """a\nb"""\n', b"[a]\nb = [\n  [1],\n]\n"])
def test_a_key_costs_the_same_in_a_large_file(text):
    assert grows(TOML, text) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_cases(path):
    tally = TOML.tally()
    for left, middle, right, expected in cases(path):
        state = fed(TOML.start_between(left, right), middle)
        assert verdict(state) == expected, (left, middle, right)
        tally.judge(left, middle, right, state)
    assert tally.faults == []


REFUSALS = [
    ("a = \n", "line 1, column 5: the end instead of"),
    ("[ [a]]\n", "line 1, column 3: `[a]]` instead of [ KEY"),
    ("a = 1 b = 2\n", "line 1, column 7: `b = 2` instead of EOL COMMENT"),
    ("a = {b = 1,}\n", "line 1, column 12: `}` instead of KEY"),
]


@pytest.mark.parametrize(("text", "place"), REFUSALS)
def test_the_place_of_a_refusal(text, place):
    assert str(first_refusal(TOML.engine, text.encode())).startswith(place)


STAYING = [
    ("a = [", "[1]", "]\n", True),
    ("a = [", "[1], [[2]]", "]\n", True),
    ("a = [[1], ", "[2]", "]\n", True),
    ("[[", "a", "]]\n", True),
    ("a = {b = ", "1", "}\n", True),
    ("a = {b = ", "1}\nc = {d = 2", "}\n", False),
    ("a = [", "1]\nb = [2", "]\n", False),
    ("a = [\n", "1\n]\nb = [ 2", "\n]\n", False),
    ("a = [[1", "], [2", "]]\n", False),
    ("a = [ ", "1 ], b = [ 2", " ]\n", False),
    ("[a", ".b", "]\n", True),
    ("[a", "]\n[b", "]\n", False),
    ("[[a", "]]\n[[b", "]]\n", False),
]


@pytest.mark.parametrize(("left", "middle", "right", "stays"), STAYING)
def test_a_middle_that_stays_may_write_arrays(left, middle, right, stays):
    document = TOML.engine.document(f"{left}{right}".encode())
    start = document.middle(len(left), len(left), may_escape=False, relax=False).start
    state = start.feed(middle.encode())
    assert (state is not None and state.complete) is stays


DEFINITIONS = [
    "a = 1\n",
    "a.b = 1\n",
    "a.c = 1\n",
    "a = {b = 1}\n",
    "a = [{b = 1}]\n",
    "[a]\n",
    "[a.b]\n",
    "[a.b.c]\n",
    "[[a]]\n",
    "[[a.b]]\n",
    "['a']\n",
    '"\\u0061" = 1\n',
    "b.c = 1\n",
    "b = {c = 1, c = 2}\n",
    "b = {c.a = 1, c.b = 2, 'c'.b = 3}\n",
    "b = {c = {}, c.a = 1}\n",
]


@pytest.mark.parametrize("length", [1, 2, 3, pytest.param(4, marks=pytest.mark.slow)])
def test_all_orders_of_definitions(length):
    check = toml.whole_text_check()
    for lines in itertools.product(DEFINITIONS, repeat=length):
        text = "".join(lines).encode()
        assert (not check.faults(text)) is is_toml(text), text


LINES_AROUND_DELIMITERS = (
    b"[t]\n",
    b"b='''",
    b"''' #'''\n",
    b"'''\n",
    b"a\n",
    b"# '''\n",
    b'"""\n',
    b'c="""\n',
)
STRINGS = (b"0='''", b"0='''\n", b'0="""', b'0="""\\', b"[x]\n0='''", b"", b"0=1\n")


def test_a_table_on_both_sides_has_a_middle_only_if_a_string_may_hide_one_of_them():
    n_hidden = 0
    for pieces in itertools.product(LINES_AROUND_DELIMITERS, repeat=3):
        right = b"\n" + b"".join(pieces)
        if right.count(b"[t]") != 1:
            continue
        state = TOML.start_between(b"[t]\n", right)
        if state is None:
            assert not any(is_toml(b"[t]\n" + middle + right) for middle in STRINGS), right
        else:
            n_hidden += 1
            completion = state.shortest_completion
            assert is_toml(b"[t]\n" + completion + right), (right, completion)
    assert n_hidden > 20
