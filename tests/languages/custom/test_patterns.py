"""Expressions: the automaton matches the same texts as Python's matcher."""

import itertools
import random
import re

import pytest

from fimlsp.languages.custom.patterns import PatternCompiler, PatternError
from fimlsp.lexing.automata.dfa import Dfa
from fimlsp.lexing.automata.leftmost_first import Accept, Lexemes, LookAroundError, Program, leftmost_first

ATOMS = ("a", "b", "c", "[ab]", "[^a]", ".", "é", "[a-é]", r"\w", "ab", "(?i:B)")
REPEATED = ("*", "+", "?", "*?", "+?", "??", "{1,2}", "{0,2}?")
LOOKS = ("(?!{})", "(?={})", "(?<!{})", "(?<={})", r"{}\b", "{}$", r"{}\Z", r"{}\B")


def automaton(patterns: list[str]) -> Dfa:
    program = Program(100_000)
    compiler = PatternCompiler(program)
    starts = tuple(compiler.compiled(p, program.add(Accept(n))) for n, p in enumerate(patterns))
    names = (*map(str, range(len(patterns))), "rejected")
    return leftmost_first(Lexemes(program, starts, names, {}, len(patterns)), "code", lambda _: None).expand()


def matched(dfa: Dfa, text: str) -> tuple[int, int] | None:
    state, matched_at = dfa.starts["code"], None
    for end, byte in enumerate(text.encode(), 1):
        state = dfa.rows[state][byte]
        if dfa.accepts[state] >= 0:
            matched_at = end, dfa.accepts[state]
    return None if matched_at is None or dfa.kinds[matched_at[1]] == "rejected" else matched_at


def expected(patterns: list[str], text: str) -> tuple[int, int] | None:
    whole = "|".join(f"(?P<k{n}>{p})" for n, p in enumerate(patterns))
    matched_at = re.match(whole, text)
    return None if matched_at is None else (len(matched_at.group().encode()), int(matched_at.lastgroup[1:]))


def random_pattern(rng: random.Random, depth: int) -> str:
    kind = rng.random()
    if not depth or kind < 0.35:
        return rng.choice(ATOMS)
    one = random_pattern(rng, depth - 1)
    if kind < 0.6:
        return one + random_pattern(rng, depth - 1)
    if kind < 0.75:
        return f"(?:{one}|{random_pattern(rng, depth - 1)})"
    if kind < 0.93:
        return f"(?:{one}){rng.choice(REPEATED)}"
    return rng.choice(LOOKS).format(rng.choice("abc"))


@pytest.mark.parametrize("n", [15, pytest.param(400, marks=pytest.mark.slow)])
def test_random_expressions(n):
    rng = random.Random(5)
    n_held = n_refused = 0
    while n_held < n:
        patterns = [random_pattern(rng, 3) for _ in range(rng.randint(1, 3))]
        if any(re.match(pattern, "") for pattern in patterns):
            continue
        try:
            dfa = automaton(patterns)
        except LookAroundError:
            n_refused += 1
            continue
        n_held += 1
        for text in map("".join, itertools.product("abcé", repeat=4)):
            assert matched(dfa, text) == expected(patterns, text), (patterns, text)
    assert n_refused < n_held / 3


@pytest.mark.parametrize(
    "pattern",
    [
        r'"(?!"").*?(?<!\\)(\\\\)*?"',
        r"0(?![1-9])",
        r"[?](?![a-z])",
        r"/\*(.|\n)*?\*/",
        r"(?i:straße)",
        r"a$",
        r"(a|b)*?c",
        r"(|a)+b",
    ],
)
def test_known_expressions(pattern):
    dfa = automaton([pattern])
    letters = sorted({*re.sub(r"[^\w\"\\/*?.]", "", pattern), "x", "\n"})[:6]
    for length in range(1, 5):
        for text in map("".join, itertools.product(letters, repeat=length)):
            assert matched(dfa, text) == expected([pattern], text), text


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(a*)\1", "refers back"),
        (r"(?<=a|bc)d", "cannot be read by Python|no fixed width"),
        (r"a{3000}", "repeats something 3000 times"),
        (r"(?=a(?!b))a", "look-around within"),
        (r"(", "cannot be read"),
    ],
)
def test_what_no_automaton_can_do(pattern, why):
    with pytest.raises(PatternError, match=why):
        automaton([pattern])


@pytest.mark.parametrize(
    "patterns",
    [[r"\bif"], [r"^a"], [r"(?<!a)b"], [r"a(?=b)"], [r"a+(?!b)", "ab"], [r"[ax](?!b)|a", "b"]],
)
def test_look_arounds_that_need_more_text(patterns):
    with pytest.raises(LookAroundError):
        automaton(patterns)


@pytest.mark.parametrize(
    ("patterns", "refused"),
    [
        ([r"a+(?!b)", "b"], ["ab", "aab"]),
        ([r'r?"(?!"").*?"', "[a-z]+"], ['r"""', '"""']),
        ([r"r?'(?!'').*?'", "r?'''.*?'''", "[a-z]+"], ["r'''", "r'''a''"]),
    ],
)
def test_texts_that_a_failed_look_ahead_leaves_unread(patterns, refused):
    dfa = automaton(patterns)
    for text in refused:
        found = [
            dfa.accepts[dfa.run(dfa.starts["code"], text[:end].encode())] for end in range(len(text) + 1)
        ]
        read = [kind for kind in found if kind >= 0]
        assert read[-1] == len(patterns), text
