"""Version switches in grammars: which rules they keep, and that none in Python's grammar is useless."""

import re
from functools import partial

import pytest

from fimlsp.languages.python.grammar import START, grammar_text, places_of_blocks, python_grammar, switched_on
from fimlsp.languages.python.versions import PYTHON_VERSIONS, Check, PythonVersion
from fimlsp.quotient.grammar.cfg import Grammar, GrammarError
from fimlsp.quotient.grammar.lark_loader import read_grammar

PYTHON = grammar_text()
CHECKS: tuple[Check, ...] = ("parse", "compile")
DECLARATIONS, RULES = PYTHON.split("\n\n// Lists with commas.", 1)
SWITCH = re.compile(r"\b(SINCE|UNTIL)_3_\d+\b")

CASES = {
    "file: A B C | SINCE_3_10 B": ("A B C", "A B C | B"),
    "file: A B C | B SINCE_3_10": ("A B C", "A B C | B"),
    "file: A [SINCE_3_10 B] C": ("A C", "A B C | A C"),
    "file: A [B] [UNTIL_3_9 C]": ("A B C | A B | A C | A", "A B | A"),
    "file: A (UNTIL_3_9 B | SINCE_3_10 C)": ("A B", "A C"),
    "file: A (B | SINCE_3_10 C)": ("A B", "A B | A C"),
    "file: A (SINCE_3_10 B)* C": ("A C", "A B+ C | A C"),
    "file: A C | A (SINCE_3_10 B)+": ("A C", "A C | A B+"),
    "file: A | b\nb: SINCE_3_10 B C": ("A", "A | b"),
    "file: A | SINCE_3_10 b\nb: B C": ("A", "A | b"),
    "file: A | B C b\nb: c\nc: SINCE_3_10 C": ("A", "A | B C b"),
    "file: A | two{B}\ntwo{item}: item SINCE_3_10 item": ("A", "A | two{B}"),
    "file: A | UNTIL_3_9 SINCE_3_10 B": ("A", "A"),
}


def in_version(text: str, version: PythonVersion | None, check: Check = "parse") -> Grammar:
    places = places_of_blocks(version or PYTHON_VERSIONS[-1]) if check == "compile" else None
    switches = partial(switched_on, version=version, check=check, places=places)
    return read_grammar(text, START, switches, places, drop_useless=version is not None)


def sides(grammar: Grammar) -> str:
    right_sides = (production.rhs for production in grammar.productions_of(grammar.start))
    return " | ".join(" ".join(map(grammar.name, side)) for side in right_sides)


def declared(text: str) -> str:
    names = sorted(set(re.findall(r"\b[A-Z]\w*", text)))
    return f"%declare {' '.join(names)}\n{text}\n"


@pytest.mark.parametrize("text", CASES)
def test_switches(text):
    found = [sides(in_version(declared(text), version)) for version in ((3, 9), (3, 10))]
    assert found == list(CASES[text])


def test_bounds_are_inclusive():
    on = [
        [switched_on(name, version) for version in PYTHON_VERSIONS] for name in ("SINCE_3_10", "UNTIL_3_10")
    ]
    assert on == [[False] * 2 + [True] * 6, [True] * 3 + [False] * 5]
    assert switched_on("SINCE", (3, 10)) is switched_on("name", (3, 10)) is None


def test_faults_of_the_whole_text_are_named():
    with pytest.raises(GrammarError, match="never used; remove them: other"):
        in_version(declared("file: A\nother: SINCE_3_10 B"), None)
    with pytest.raises(GrammarError, match="may be empty"):
        in_version(declared("file: SINCE_3_10"), (3, 11))


def test_pythons_text_has_no_faults():
    assert len(in_version(PYTHON, None).productions) > len(python_grammar().productions)


def without(switch: re.Match[str]) -> str:
    """Python's grammar without one of its switches."""
    rules = RULES[: switch.start()] + RULES[switch.end() :]
    return SWITCH.sub(lambda name: name[0] if name[0] in rules else "", DECLARATIONS) + "\n\n" + rules


@pytest.mark.slow
def test_no_switch_is_in_vain():
    vain = []
    for switch in SWITCH.finditer(RULES):
        off = [version for version in PYTHON_VERSIONS if not switched_on(switch[0], version)]
        assert 0 < len(off) < len(PYTHON_VERSIONS)
        nearest = off[-1] if switch[1] == "SINCE" else off[0]
        changed = without(switch)
        if all(in_version(changed, nearest, check) == python_grammar(nearest, check) for check in CHECKS):
            vain.append(RULES[switch.start() :].split("\n")[0])
    assert vain == []
