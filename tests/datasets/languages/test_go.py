"""Go as replayed: tokens, suites, bodies, statements, and the errors of its parser."""

import pytest

from fimlsp.datasets.languages import go

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
    tokens = texts(go.tokens_of(TEXT))
    assert {"<<=", "0x1F", "`a\n}`", '"}\\""', "'\\''", "2.5e-3"} <= {*tokens}
    assert "// two" not in tokens


def test_each_token_is_in_one_suite():
    suites = go.GO_PLACES.suites_of(TEXT)
    spans = sorted(span for suite in suites for stretch in suite for span in stretch)
    assert spans == go.tokens_of(TEXT)


def test_bodies_stand_between_braces():
    assert texts(go.GO_PLACES.bodies_of(TEXT))[1:] == [
        "return `a\n}`",
        "return \"}\\\"\" + '\\''",
        "1, 2.5e-3, y[1:]",
    ]


def test_statements_are_lines():
    assert texts(go.GO_PLACES.statements_of(TEXT))[:2] == ["package p", "func add(a int) string {"]


@pytest.mark.go
def test_errors_of_the_parser():
    assert go.syntax_error(TEXT) is None
    assert go.syntax_error("package p\nvar = 1") == "expected 'IDENT', found '=' (line 2)"
