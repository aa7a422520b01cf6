"""Grammars with indentation against Lark with its indenter: all short middles, and refusals."""

from __future__ import annotations

import random

import pytest

from fimlsp.languages.custom import load_grammar
from fimlsp.quotient.grammar.cfg import GrammarError
from fimlsp.testing.checking import total

from .indented import DECLARED, GRAMMARS, USUAL, endless, judged


@pytest.mark.parametrize("name", GRAMMARS)
def test_short_middles(name):
    of = judged(GRAMMARS[name])
    faults = []
    for left, right in [(b"", b""), (b"a:\n  a\n", b"\na\n"), (b"a:\n a\n", b"\n a\na"), (b"a(", b"\n)\n")]:
        faults += of.walk(left, right, (b"a", b":", b"\n", b" ", b"("), 3).faults
    assert faults == []


CARRIAGE_RETURNS = (
    b"<|>",
    b"a<|>\r\na\n",
    b"a:<|> \r\n  a",
    b"a:\r<|>\n a",
    b"a:\n a\n <|>\r\n a",
    b"a(<|>\r\n)\n",
    b"a(<|>\r)\n",
    b"a<|>\r a\n",
    b"a #<|>\r\n a",
    b"a #b\r<|>\n a",
    b"a\r<|> \r\na",
    b"a:\n a\n<|> \r\r\n a",
)


@pytest.mark.parametrize("name", GRAMMARS)
def test_carriage_returns_belong_to_line_ends_alone(name):
    of = judged(GRAMMARS[name])
    around = [marked.split(b"<|>") for marked in CARRIAGE_RETURNS]
    walks = [of.walk(left, right, (b"a", b":", b"\n", b" ", b"\r"), 2) for left, right in around]
    assert [fault for walk in walks for fault in walk.faults] == []


def test_random_ones():
    tally = total(endless(random.Random(3), most_symbols=2), 1_500)
    assert tally.faults == []


REFUSED = [
    (f"start: item*\nitem: A _NL | A _INDENT item+ _DEDENT\n{USUAL}", "can have a block"),
    (
        "start: item*\nitem: A _INDENT item+ _DEDENT\nA: /a/\n",
        "needs _INDENT, but has no terminal _NEWLINE for line ends",
    ),
    (f"start: item*\nitem: A _NL [_INDENT item _DEDENT]\n{USUAL}", "each block has to be a repetition"),
    (
        f"start: item\nitem: A _NL [_INDENT item+ _DEDENT]\n{USUAL}",
        "start (bad.lark, line 1) has to be a repetition",
    ),
    (
        f"start: item*\nitem: A _NL [_INDENT rest]\nrest: item+ _DEDENT\n{USUAL}",
        "rule item (bad.lark, line 2) a block",
    ),
    (
        "start: item*\nitem: A _NL [_INDENT item+ _DEDENT]\n" + USUAL.replace("(\\r?\\n[\\t ]*)+", "\\n"),
        "terminal _NL (bad.lark, line 4) has to match line ends",
    ),
    (
        "start: item*\nitem: A _NL [_INDENT item+ _DEDENT]\n%ignore /#[^\\n]*/\n" + USUAL,
        "so that a line with nothing else is blank",
    ),
    (
        "start: item*\nitem: A _NL [_INDENT item+ _DEDENT]\n" + USUAL.replace("%ignore WS", "// WS"),
        "has to ignore spaces and tabs",
    ),
    *(
        (
            "start: item*\nitem: A _NL [_INDENT item+ _DEDENT]\n"
            + USUAL.replace("WS: /[ ", f"WS: /[\\{other} "),
            f"more than spaces and tabs, also '\\{told}'",
        )
        for other, told in (("r", "r"), ("v", "x0b"))
    ),
    (
        f"// tab_len = 0\nstart: item*\nitem: A _NL [_INDENT item+ _DEDENT]\n{USUAL}",
        "tab_len has to be a number of columns",
    ),
    (
        f"// NL_type = x(\nstart: item*\nitem: A _NL [_INDENT item+ _DEDENT]\n{USUAL}",
        "line 1: NL_type has to be a text",
    ),
    (
        "start: item*\nitem: A _NL [_INDENT item+ _DEDENT]\nA: /a/\n\n"
        "_NL: (/\\r?\\n[\\t ]*/ | /#[^\\n]*/)+\n%ignore / +/\n",
        "The terminal _NL (bad.lark, line 5) matches '#* x' before a line end",
    ),
]


@pytest.mark.parametrize(("text", "said"), REFUSED)
def test_one_sentence(tmp_path, text, said):
    (tmp_path / "bad.lark").write_text(text + DECLARED)
    with pytest.raises(GrammarError) as caught:
        load_grammar(tmp_path / "bad.lark")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_attributes_may_have_other_names(tmp_path):
    (tmp_path / "g.lark").write_text(
        '// NL_type = "END"\n// INDENT_type = "IN"\n// DEDENT_type = "OUT"\n%declare IN OUT\n'
        "start: item*\nitem: A END [IN item+ OUT]\n" + USUAL.replace("_NL", "END")
    )
    assert load_grammar(tmp_path / "g.lark").indenter.newline == "END"
