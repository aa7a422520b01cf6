"""Lua against its own `load`; `python -m tests.languages.lua` judges as many cases as there is time for."""

import random
from pathlib import Path

import pytest

pytest.importorskip("lupa", reason="Lua's judge: pip install lupa")

from fimlsp.quotient.verification import verify_case
from fimlsp.testing.checking import cases, total, verdict
from fimlsp.testing.edited import type_a_line

from .judge import is_lua
from .programs import program
from .suites import ALPHABETS, LUA, SUITES

HERE = Path(__file__).parent
CASES = list(cases(HERE / "cases" / "middles.txt"))


def test_middles():
    wrong = []
    for left, middle, right, expected in CASES:
        start = LUA.start_between(left, right)
        state = start and start.feed(middle)
        tally = LUA.tally()
        tally.judge(left, middle, right, state)
        if verdict(state) != expected or tally.faults:
            wrong.append((left, middle, right, verdict(state)))
    assert wrong == []
    assert len(CASES) > 100


def test_random_programs():
    tally = total(SUITES(3), 6_000)
    assert tally.faults == []
    assert tally.undecided < tally.judged / 20


@pytest.mark.parametrize("alphabet", ALPHABETS, ids=lambda alphabet: alphabet[0].decode())
def test_short_texts(alphabet):
    assert LUA.walk(b"", b"", alphabet, 2 if len(alphabet) > 9 else 3).faults == []


@pytest.mark.parametrize("level", [20, 21])
def test_brackets_with_more_equal_signs_are_told_and_not_judged(level):
    signs = "=" * level
    text = f"a = [{signs}[ b ]{signs}]"
    assert is_lua(text.encode())
    case = {"left": "x = 1\n", "middle": text, "right": "\n"}
    if level == 20:
        assert verify_case(LUA.engine, case)["complete"]
    else:
        with pytest.raises(
            ValueError, match="line 2: a long bracket with more than 20 equal signs is not read"
        ):
            verify_case(LUA.engine, case)
    commented = verify_case(LUA.engine, {**case, "middle": f"--- [{signs}["})
    assert commented["complete"]


def test_the_plugin_for_neovim():
    folder = HERE.parents[2] / "editors" / "neovim"
    files = list(folder.rglob("*.lua"))
    assert len(files) > 3
    for file in files:
        text = file.read_bytes()
        assert is_lua(text)
        assert LUA.start_between(b"", text).complete


@pytest.mark.slow
def test_a_line_that_is_edited():
    pieces = (b"-", b"-", b"[", b"[", b" x ", b"]", b"]")
    typed = type_a_line(LUA, program(random.Random(2), 1200), pieces)
    assert is_lua(typed) is not False
