"""References back to groups: as Python matches them, and heredocs held against Lark on all short texts."""

import itertools
import random
import re

import pytest

from fimlsp.languages.custom import load_grammar, regular
from fimlsp.languages.custom.grammar_files import GrammarFiles
from fimlsp.languages.custom.language import LarkLanguage
from fimlsp.languages.custom.patterns import PatternError
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.grammar.cfg import GrammarError
from fimlsp.testing.checking import Judged

from .suites import judge_of
from .test_patterns import automaton, expected, matched

FINITE = [
    r"(['\"]).*?(?<!\\)\1",
    r"c?(a|ab|b)x\1",
    r"(a|ab)(c|b)\1x?\2",
    r"(?P<n>a{1,3}?)x+(?P=n)",
    r"(?P<n>(?:a|b)?)x(?P=n)y",
    r"(?:(a|b)x\1)+",
    r"(?i:(a|é)x\1)",
    r"(a|b)(?=x\1)x.",
    r"[ab]*(a|b)\1",
]


@pytest.mark.parametrize("pattern", FINITE)
def test_groups_with_few_texts(pattern):
    letters = sorted({*re.sub(r"\\.|\(\?P?<?n?>?|[^\w\"'\\]", "", pattern), *"xa"})[:6]
    dfa = automaton([pattern])
    for length in range(1, 6):
        for text in map("".join, itertools.product(letters, repeat=length)):
            numbered = re.match(pattern, text)
            found = matched(dfa, text)
            assert (found and found[0]) == (numbered and len(numbered.group().encode())), text


def test_random_groups():
    rng = random.Random(11)
    parts = ("a", "b", "(?:a|b)", "a?", "b*", "a+?", ".", "(?P=g)", "(?:(?P=g)|a)", "(?P=g)?", "(?:b(?P=g))*")
    for _ in range(150):
        group = rng.choice(("a|b", "a|ab", "ab|a", "a?", "a??b", "[ab]", "[ab]{1,2}", "(?:a|b){0,2}", "b|"))
        before, after = ("".join(rng.choices(parts[:7], k=rng.randint(0, 2))) for _ in range(2))
        later = "".join(rng.choices(parts, k=rng.randint(1, 3)))
        pattern = f"{before}(?P<g>{group}){after}{later}x"
        dfa = automaton([pattern])
        for text in map("".join, itertools.product("abx", repeat=5)):
            assert matched(dfa, text) == expected([pattern], text), (pattern, text)


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(a+)\1", "refers back to a group that has texts without end"),
        (r"(\w{9})\1", "refers back to a group that has texts without end"),
        (r"(?:(a)|b)\1", "refers back to a group of another branch or repetition"),
        (r"(a|b)+\1", "refers back to a group of another branch or repetition"),
    ],
)
def test_other_groups(pattern, why):
    with pytest.raises(PatternError, match=why):
        automaton([pattern])


def test_expressions_of_whole_texts():
    state = Engine(regular(r"(['\"])[ab]*\1")).document(b"").middle(0, 0).start
    for text, complete in {"'a'": True, '""': True, "'a": False}.items():
        assert state.feed(text.encode()).complete == complete
    assert state.feed(b"'a\"") is None


HEREDOC = "start: (H | A)+\nH: /<(?P<end>{group})\\n(?:.*\\n)*?(?P=end)\\n/\nA: /[AB]+\\n/\n"
LISTED = '// end = ["B", "A", "AB"]\n'
SIDES = (
    (b"<A\nB\n", b"A\nB\n"),
    (b"A\n<", b"\nA\nAB\n"),
    (b"<AB\nA\n", b"B\n"),
    (b"", b"B\nA\n"),
)
PIECES = (b"<A\n", b"<AB\n", b"A\n", b"B\n", b"AB\n", b"<")


@pytest.mark.parametrize("lexer", ["basic", "contextual"])
@pytest.mark.parametrize("grammar", [HEREDOC.format(group="A|AB|B"), LISTED + HEREDOC.format(group="[A-Z]+")])
def test_texts_that_end_as_they_began(grammar, lexer):
    language = LarkLanguage(GrammarFiles((("test.lark", grammar),)), "start", lexer)
    of = Judged(language, judge_of(grammar, lexer), grammar=grammar)
    assert of.walk(b"", b"", PIECES, 4).faults == []
    for left, right in (
        (b"<A\nB\n", b"A\nB\n"),
        (b"A\n<", b"\nA\nAB\n"),
        (b"<AB\nA\n", b"B\n"),
        (b"", b"B\nA\n"),
    ):
        assert of.walk(left, right, PIECES, 3).faults == []


def test_octal_characters_are_no_references():
    engine = Engine(load_grammar(text="start: A\nA: /[\\101-\\102]\\103/\n"))
    assert engine.document(b"").middle(0, 0).start.feed(b"AC").complete


REFUSED = [
    (HEREDOC.format(group="[A-Z]+"), 'list the usual ones in a comment, such as // end = ["EOF", "EOT"].'),
    (LISTED + HEREDOC.format(group="[A-Z]+?"), "has a group end that does not match the listed 'AB'"),
    (
        "// end = 3\n" + HEREDOC.format(group="[A-Z]+"),
        'line 1: end has to be a list of texts, such as ["EOF"].',
    ),
    ("start: A\nA: /(['\"]).*\\1/\n", "name the group: (?P<NAME>…) and (?P=NAME)."),
    (
        LISTED + "start: H\nH: /<(?P<end>[A-Z]+)[A-C]*\\n(?P=end)\\n/\n",
        "refers back to a group whose texts may go on with the text after it; let a delimiter follow",
    ),
]


@pytest.mark.parametrize(("grammar", "said"), REFUSED)
def test_refusals(grammar, said):
    with pytest.raises(GrammarError) as caught:
        load_grammar(text=grammar)
    assert said in str(caught.value)
