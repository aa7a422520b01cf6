"""The line that a suggestion makes with the text on both sides, in each language.

Cases are `left<|text|>right`; `¦` marks the place up to which the suggestion may be shown.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fimlsp.languages import LANGUAGES
from fimlsp.quotient.language.joined_line import is_word_of
from tests.fuzz.growth import MOST, growth

ALL = ("python", "go", "lua", "json")
CODE = ("python", "go", "lua")

WITHIN_A_WORD = [
    (CODE, "width = 1\nreturn wid<|¦th, height|>th * height\n"),
    (CODE, "width = 1\nreturn wid<|¦th|>th * height\n"),
    (CODE, "name = 1\nself.name = na<|¦me|>me\n"),
    (CODE, "prices = 1\nfor price in pr<|¦ces|>ces\n"),
    (CODE, "prices = 1\nfor price in pr<|i|>ces\n"),
    (CODE, "prices = 1\nfor price in pr<|i¦ces|>ces\n"),
    (CODE, "fences = 1\nfor price in pr<|¦i|>ces\n"),
    (CODE, "price = 1\nprint(pr<|¦ice + pr|>ice)\n"),
    (CODE, "größe = 3\nprint(gr<|ö|>ße)\n"),
    (CODE, "größe = 3\nprint(gr<|ö¦ß|>ße)\n"),
    (CODE, "x = pr<|¦ice\nprint(pr|>ice)\n"),
    (CODE, "x = ti<|¦1|>mes\n"),
    (ALL, '{"length": 1, "len<|¦gth|>gth": 2}\n'),
    (ALL, '{"length": 1, "len<|¦gth": 1, "le|>gth": 2}\n'),
    (ALL, '{"length": 1, "le<|n|>gth": 2}\n'),
    (ALL, "[1<|¦0|>5]\n"),
]

BEFORE_A_WORD = [
    (CODE, "first_name = 1\nprint(<|first_|>name)\n"),
    (CODE, "first_name = 1\nprint(<|a, ¦second_|>name)\n"),
    (CODE, "print(<|a, |>name)\n"),
    (CODE, "print(<|self.|>name)\n"),
    (CODE, "print(<|¦name|>name)\n"),
    (CODE, "<|x = 1\n|>name = 2\n"),
    (CODE, "<|x = 1\n¦na|>name = 2\n"),
    (("python", "lua"), "x = <|not |>name\n"),
    (("python", "lua"), "x = <|no|>t a\n"),
]

BEFORE_ACCESS = [
    (CODE, "items.app<|end|>(1)\n"),
    (CODE, "items.app<|end¦()|>(1)\n"),
    (CODE, "items.app<|end¦(x)\nitems.append|>(1)\n"),
    (CODE, 'ope<|n¦(path, "rb")|>(path)\n'),
    (CODE, "ite<|ms|>.append(1)\n"),
    (CODE, "ite<|ms¦ = []|>.append(1)\n"),
    (CODE, "ite<|ms¦.append|>.append(1)\n"),
    (CODE, "ite<|ms¦.first|>[1]\n"),
    (CODE, "x = ite<|ms¦[0]|>[1]\n"),
    (CODE, "x = <|self.items|>[1]\n"),
    (CODE, "x = <|¦(a)|>[1]\n"),
    (CODE, "return<| f|>(1)\n"),
    (CODE, "self.<|load|>(1)\n"),
    (CODE, "self.<|load¦().save|>(1)\n"),
    (CODE, "items<|.append|>(1)\n"),
    (CODE, "items<|¦.append|>.append(1)\n"),
    (CODE, "<|x = 1\n|>(a.b).c()\n"),
    (CODE, "<|x = 1\nf|>(a.b)\n"),
    (CODE, '"see the <|best of |>(a)"\n'),
    (("lua",), "a = b <|.. c |>.. d\n"),
    (("lua",), "ite<|ms|>:append(1)\n"),
    (("lua",), "ite<|ms¦ = {}|>:append(1)\n"),
    (("lua",), "-- see the <|best of |>(a)\n"),
    (("go",), "// see the <|best of |>(a)\n"),
    (("python",), "x = 1  # see the <|best of |>(a)\n"),
    (("python",), '"""\nsee the <|best of |>(a)\n"""\n'),
    (("python",), "x = a[<|b, |>...]\n"),
    (("python",), "x = <|a + |>.5\n"),
]

SAID_AGAIN = [
    (("python",), "for <|order ¦in orders|> in orders:\n    pass\n"),
    (("python",), "for <|order|> in orders:\n    pass\n"),
    (CODE, "x = <|a + ¦b * c|> b * c\n"),
    (CODE, "f(<|a, ¦b|> b)\n"),
    (CODE, "f(<|a¦, b|>, b)\n"),
    (CODE, "f(a<|¦, b, c|>, b)\n"),
    (CODE, "f(a<|, c|>, b)\n"),
    (CODE, "x = a<|¦ * height + 1|> * height\n"),
    (CODE, "x = a<| + b.d|> + b.c\n"),
    (CODE, "f(g(<|a(b)|>))\n"),
    (CODE, "f(<|a|>)\n"),
    (CODE, "x = <|3 ¦-|>-1\n"),
    (CODE, "x = <|a|> - 1\n"),
    (CODE, "x = <|a ¦+|> + b\n"),
    (CODE, "x <|¦=|>= 1\n"),
    (CODE, "x = <|a.b|>\na.b\n"),
    (("python",), "x = f(<|¦*|>*args)\n"),
    (("python",), "x = f('<|a', ¦'|>')\n"),
    (("python",), "x = [a[<|b¦:|>:2]]\n"),
    (("lua",), "f(function() <|if a then b() end|> end)\n"),
    (("json",), "[1<|¦, 2|>, 2]\n"),
    (("json",), "[1<|, 3|>, 2]\n"),
    (("json",), '{"a": <|1, ¦"b": 2|> "b": 2}\n'),
]


COMMENTED_OUT = [
    (("python",), "x = f(<|a)  ¦# b|>, c)\n"),
    (("python",), "x = <|a  # b|>\n"),
    (("python",), "x = <|a  # b|>  # c\n"),
    (("python",), "x = <|'#' + |>b\n"),
    (("python",), "x = f(<|'#'  ¦# d|>, c)\n"),
    (("python",), "<|# x\ny = |>b\n"),
    (("lua",), "x = <|a ¦-- b|> + c\n"),
    (("go",), "x := <|a ¦// b|> + c\n"),
]


SCRIPTS = ("typescript", "javascript", "tsx", "jsx")

FIELDS = [
    (SCRIPTS, "f(`${<|base¦}/${id}|>}`);\n"),
    (SCRIPTS, "x = `\n  margin: ${<|space¦}px;|>}\n`;\n"),
    (SCRIPTS, "x = `${a} ${<|{ b: 1 }.b¦} c|>}`;\n"),
    (SCRIPTS, "x = `a ${<|b|>}`;\n"),
    (SCRIPTS, "x = `${<|{ a: 1 }.a|>}`;\n"),
    (SCRIPTS, "x = `${<|a}${b|>`;\n"),
    (SCRIPTS, "x = `${a}<|}|>}`;\n"),
    (SCRIPTS, "x = `${(() => {<|return a|>})()}`;\n"),
    (SCRIPTS, "x = {<|a|>}\n"),
    (SCRIPTS, "if (a) {<|b} else {c|>}\n"),
]


def in_each_language(cases):
    return [(name, marked) for names, marked in cases for name in names]


@pytest.mark.parametrize(
    ("name", "marked"),
    in_each_language([*WITHIN_A_WORD, *BEFORE_A_WORD, *BEFORE_ACCESS, *SAID_AGAIN, *FIELDS, *COMMENTED_OUT]),
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_the_joined_line_says_nothing_twice_and_leaves_nothing_over(name, marked, line_end):
    left, rest = marked.replace("\n", line_end).split("<|")
    text, right = rest.split("|>")
    at = text.find("¦")
    sides = left.encode(), text.replace("¦", "").encode(), right.encode()
    cut_at = LANGUAGES[name].language().editor.first_joining_fault(*sides)
    assert cut_at == (None if at < 0 else len(text[:at].encode()))


PIECES = st.lists(st.sampled_from([b"a", b"b", b"ab", b".", b" ", "ö".encode()]), max_size=8).map(b"".join)
WORDS = st.lists(st.sampled_from([b"a", b"b", "ö".encode()]), min_size=1, max_size=3).map(b"".join)


@given(WORDS, PIECES, PIECES)
def test_a_word_is_one_of_those_around_the_word_at_the_cursor(word, left, right):
    words = re.compile(rb"[\w\x80-\xff]+")
    begun, rest = re.search(rb"[\w\x80-\xff]*\Z", left), re.match(rb"[\w\x80-\xff]*", right)
    others = {*words.findall(left[: begun.start()]), *words.findall(right[rest.end() :])}
    assert is_word_of(word, left, right) == (word in others)


RUNS = {"one word": b"a", "words that go on": b"aab ", "words that start otherwise": b"baa "}


@pytest.mark.parametrize("run", RUNS)
def test_the_search_for_a_word_takes_time_in_proportion_to_the_text(run):
    def work(text):
        is_word_of(b"aa", text, b" " + text)

    assert growth(work, lambda n: RUNS[run] * (n // len(RUNS[run])), 100_000) < MOST
