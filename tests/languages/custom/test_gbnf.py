"""Grammars in GBNF, against Python's `json` and `re` on texts and mutants at random cuts."""

import itertools
import json
import random
import re

import pytest

from fimlsp import Engine, gbnf
from fimlsp.quotient.grammar.cfg import GrammarError

JSON = r"""
root   ::= ws value ws # a text
object ::= "{" ws ( string ws ":" ws value (ws "," ws string ws ":" ws value)* )? ws "}"
value  ::= object | array | string | number |
           ("true" | "false" | "null")
array  ::= "[" ws ( value (ws "," ws value)* )? ws "]"
string ::= "\"" ( [^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}) )* "\""
number ::= "-"? ([0-9] | [1-9] [0-9]+) ("." [0-9]+)? ([eE] [-+]? [0-9]+)?
ws ::= [ \t\n\r]*
"""
TEXTS = (
    '{"a": [1, -2.5e+3, true]}',
    "[]",
    '{"é\\n\\u00e9": null, "b": {}}',
    "0",
    '[{"a":"}"},[[]]]',
)
PIECES = ('","', '"', ",", "1", "}", "]", "a", "\\", " ", "[", "{", "0", ":", ".", "e")


def state_of(engine, left, middle, right):
    start = engine.document((left + right).encode()).middle(
        len(left.encode()), len(left.encode()), relax=False
    )
    return start.start and start.start.feed(middle.encode())


def is_json(text):
    try:
        json.loads(text, parse_constant=float)
    except ValueError:
        return False
    return "Infinity" not in text and "NaN" not in text


def test_the_usual_grammar_of_json():
    engine, rng, valid = Engine(gbnf(JSON)), random.Random(11), 0
    for _ in range(400):
        text = rng.choice(TEXTS)
        if rng.random() < 0.7:
            at = rng.randrange(len(text) + 1)
            text = text[:at] + rng.choice(PIECES) + text[at + rng.choice((0, 1)) :]
        start, end = sorted(rng.choices(range(len(text) + 1), k=2))
        state = state_of(engine, text[:start], text[start:end], text[end:])
        assert (state is not None and state.complete) == is_json(text), text
        valid += is_json(text)
        if state is not None:
            assert is_json(text[:end] + state.shortest_completion.decode() + text[end:]), text
    assert valid > 100


@pytest.mark.parametrize(
    ("grammar", "pattern"),
    [
        ('root ::= [a-c]{2,3} "x"?', "[a-c]{2,3}x?"),
        ('root ::= (x | y)+\nx ::= "ab"\ny ::= [^ab]', "(ab|[^ab])+"),
        ('root ::= .{1,} "é"', "(?s:.)+é"),
        ('root ::= "a"* "b"{2} |\n "c"', "a*bb|c"),
        ("root ::= [\\x61-b\\-]+", "[ab-]+"),
        ('root ::= "a"?', "a?"),
    ],
)
def test_rules_without_recursion_are_regular_expressions(grammar, pattern):
    engine, rng = Engine(gbnf(grammar)), random.Random(grammar)
    for letters in itertools.chain.from_iterable(itertools.product("abcxé-", repeat=n) for n in range(4)):
        text = "".join(letters)
        cut = rng.randint(0, len(text))
        state = state_of(engine, text[:cut], "", text[cut:])
        assert (state is not None and state.complete) == bool(re.fullmatch(pattern, text)), text


CHAIN = "".join(f'r{n} ::= "a" | r{n + 1}\n' for n in range(2_100)) + 'r2100 ::= "b"\nroot ::= r0\n'


@pytest.mark.parametrize(
    ("grammar", "said"),
    [
        ('x ::= "a"', "The grammar has no rule root"),
        ("root ::= x", "The rule x is used, but not defined"),
        ('root ::= ("a"', "The bracket in line 1 of the grammar is not closed"),
        ('root ::= "a" )', "Cannot read line 1 of the grammar at ')'"),
        ('\nroot ::= "', "Cannot read line 2 of the grammar"),
        ('root ::= "a"{3,2}', "Cannot repeat as {3,2} says (line 1 of the grammar)"),
        ('root ::= "a"{9999}', "repeats more than 2000 times"),
        ("root ::= root", "The rule root derives no text"),
        ('root ::= "a"\nroot ::= "b"', "The rule root is in lines 1 and 2"),
        ("root ::= " + "(" * 200, "nests too deeply"),
        (CHAIN, "The grammar is too large: more than 2,000,000 pairs of rules that start alike"),
    ],
)
def test_what_is_refused(grammar, said):
    with pytest.raises(GrammarError, match=re.escape(said)):
        gbnf(grammar)
