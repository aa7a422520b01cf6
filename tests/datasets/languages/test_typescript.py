"""TypeScript as replayed: tokens, suites, bodies, statements, and the errors of both parsers."""

import pytest

from fimlsp.datasets.languages import typescript
from fimlsp.datasets.languages.replay_language import MissingParserError

TEXT = """const a = `x${b.map(c => `${c}!`)}y`; // d
if (!/[/]\\/x/g.test(e)) {
  f(1 / 2)
}
"""


def texts(spans):
    return [TEXT[start:end] for start, end in spans]


def test_tokens_are_those_of_templates_and_regular_expressions_too():
    tokens = texts(typescript.tokens_of(TEXT))
    assert tokens[3:9] == ["`", "x", "${", "b", ".", "map"]
    assert "/[/]\\/x/g" in tokens
    assert tokens[-5:-2] == ["1", "/", "2"]
    assert "// d" not in tokens


def test_each_token_is_in_one_suite():
    suites = typescript.PLACES.suites_of(TEXT)
    spans = sorted(span for suite in suites for stretch in suite for span in stretch)
    assert spans == typescript.tokens_of(TEXT)


def test_a_bracket_that_is_the_text_of_a_template_is_no_token():
    for text in ("f(`${a})`)", "f(`(${a}`)", "`]`", "`}${b}{`"):
        suites = typescript.PLACES.suites_of(text)
        spans = sorted(span for suite in suites for stretch in suite for span in stretch)
        assert spans == typescript.tokens_of(text)
        assert len(typescript.PLACES.bodies_of(text)) == text.count("${")


def test_bodies_stand_between_braces():
    assert [body.strip() for body in texts(typescript.PLACES.bodies_of(TEXT))] == [
        "b.map(c => `${c}!`)",
        "c",
        "f(1 / 2)",
    ]


def test_statements_are_lines():
    assert texts(typescript.PLACES.statements_of(TEXT))[1:] == ["if (!/[/]\\/x/g.test(e)) {", "f(1 / 2)", "}"]


@pytest.mark.node
def test_errors_of_the_parsers():
    try:
        typescript.syntax_error("typescript", "")
    except MissingParserError as error:
        pytest.skip(str(error))
    assert typescript.syntax_error("typescript", TEXT) is None
    assert typescript.syntax_error("typescript", "let a;\nlet = ;") == "Expression expected. (line 2)"
    assert typescript.syntax_error("javascript", "let a: b") == "Unexpected token (line 1)"
