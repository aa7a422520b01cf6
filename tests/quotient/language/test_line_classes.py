"""Line classes: lines of a class may replace each other in any text, as another recogniser confirms."""

import random
from functools import cache

import pytest

from fimlsp.languages.python import python
from fimlsp.quotient.language.tables import tables_of

from ..middle_support import engine
from ..recogniser import Recogniser

CLASSES = [
    ["pass", "x = 1", "return", "import a.b as c", "x: int = (1, 2)", "a; b; c;", "f(f'{x}')", "match(x)"],
    ["if a:", "if (a := b) and not [c for c in d if e]:"],
    ["if a: pass", "if a: b; c = d"],
    ["elif a:", "elif not a in b:"],
    ["else:"],
    ["else: pass", "else: a, b = c"],
    ["while a:", "while (yield):"],
    ["while a: pass", "while a: b"],
    ["for a in b:", "for a, (b, c.d) in *e, f:"],
    ["async for a in b:", "async for a, b in c:"],
    ["with a:", "with a as b, c as (d, e):", "with (a, b):"],
    ["try:"],
    ["except:"],
    ["except a:", "except (a, b):", "except a as b:", "except (a, b) as c:"],
    ["except* a:", "except* a.b:"],
    ["finally:"],
    ["@a", "@a.b(c)[d]"],
    ["def f():", "def f(a):", "def f(a, /, b=1, *, c: d, **e):", "def f(a) -> b:", "def f(*a) -> (b, c):"],
    ["async def f():"],
    ["class a:"],
    ["class a(b):", "class a(b, *c, d=e):"],
    ["class a(b): pass", "class a(b): x = 1; y = 2"],
    ["match a:", "match a, *b:"],
    ["case a:", "case [a, *_] | {'b': c}:"],
    ["case a if b:", "case _ if (c, d):"],
    ["case a: pass", "case a, b: c"],
]
SUITES = ["", "INDENT pass NEWLINE DEDENT", "INDENT case _ : pass NEWLINE DEDENT"]


@cache
def recogniser() -> Recogniser:
    return Recogniser(tables_of(python()).grammar)


def symbols(line: str) -> tuple[int, ...]:
    """The terminals of a logical line, without its line end."""
    read = engine().document(line.encode()).line_at(0)
    assert not read.broken
    return tables_of(python()).terminals(read.kinds)


def names(line: str) -> list[str]:
    return [tables_of(python()).grammar.name(symbol) for symbol in symbols(line)]


def representative(line: str) -> tuple[int, ...]:
    return tables_of(python()).line_classes.representative(symbols(line))


def test_the_lines_of_a_class_are_alike_and_others_are_not():
    found = [{representative(line) for line in lines} for lines in CLASSES]
    assert all(len(representatives) == 1 for representatives in found), found
    assert len(set().union(*found)) == len(CLASSES)


@pytest.mark.parametrize("line", ["else", "x = = 1", "if a", "def f(a b):", "x y"])
def test_what_is_no_line_stands_for_itself(line):
    assert representative(line) == symbols(line)


def accepted(lines: list[str], suites: list[str]) -> bool:
    """True if *lines*, each with its suite, are a file."""
    parts = ([*names(line), "NEWLINE", *suite.split()] for line, suite in zip(lines, suites, strict=True))
    return recogniser().accepts([name for part in parts for name in part])


@pytest.mark.parametrize("seed", range(3))
def test_lines_that_are_alike_replace_each_other(seed):
    rng = random.Random(seed)
    verdicts = []
    while verdicts.count(True) < 12 or len(verdicts) < 60:
        chosen = rng.choices(CLASSES, k=rng.choice((1, 2, 2, 3)))
        suites = [
            SUITES[1] if lines[0].endswith(":") and rng.random() < 0.8 else rng.choice(SUITES)
            for lines in chosen
        ]
        verdicts.append(accepted([lines[0] for lines in chosen], suites))
        others = [rng.choice(lines) for lines in chosen]
        assert accepted(others, suites) == verdicts[-1], others
