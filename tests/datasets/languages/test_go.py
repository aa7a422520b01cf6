"""Go as replay knows it."""

import pytest

from fimlsp.datasets.languages.judges import go_judge
from fimlsp.datasets.languages.tokens import go_tokens

TEXT = """package p

func add(a int) string { // two
	if a <<= 1; a > 0x1F { return `a
}` } else { return "}\\"" + '\\'' }
}
var x = []int{1, 2.5e-3, y[1:]}
"""


def texts(spans):
    return [TEXT[start:end].strip() for start, end in spans]


def test_tokens_are_whole_and_comments_are_none():
    found = texts(go_tokens.tokens_of(TEXT))
    assert {"<<=", "0x1F", "`a\n}`", '"}\\""', "'\\''", "2.5e-3"} <= {*found}
    assert "// two" not in found


def test_each_token_is_in_one_suite():
    suites = go_tokens.suites_of(TEXT)
    spans = sorted(span for suite in suites for stretch in suite for span in stretch)
    assert spans == go_tokens.tokens_of(TEXT)


def test_bodies_stand_between_braces():
    assert texts(go_tokens.bodies_of(TEXT))[1:] == [
        "return `a\n}`",
        "return \"}\\\"\" + '\\''",
        "1, 2.5e-3, y[1:]",
    ]


def test_statements_are_lines():
    assert texts(go_tokens.statements_of(TEXT))[:2] == ["package p", "func add(a int) string {"]


@pytest.mark.go
def test_what_the_parser_says():
    assert go_judge.syntax_error(TEXT) is None
    assert go_judge.syntax_error("package p\nvar = 1") == "expected 'IDENT', found '=' (line 2)"
