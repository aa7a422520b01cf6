"""Tokens, suites, bodies and members of JSON files."""

import json

import pytest
from hypothesis import given

from fimlsp.datasets.languages.tokens.json_tokens import bodies_of, statements_of, suites_of, tokens_of

from ..judges.test_json_judge import VALUES

NESTED = '{"a": [1, {"b": null}, -2.5e3], "c,]": {}, "d": "\\"}\\\\"}'


def texts(text, spans):
    return [text[start:end] for start, end in spans]


def test_tokens():
    assert texts(NESTED, tokens_of(NESTED)) == [
        "{", '"a"', ":", "[", "1", ",", "{", '"b"', ":", "null", "}", ",", "-2.5e3", "]", ",",
        '"c,]"', ":", "{", "}", ",", '"d"', ":", '"\\"}\\\\"', "}",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "suites"),
    [
        ("1\n", [["1"]]),
        ("[]", [["[]"], []]),
        ("[1, [2], 3]", [["[2]"], ["[1,", ",3]"], []]),
        (NESTED, [
            ['{"b":null}'], ["[1,", ",-2.5e3]"], ["{}"], ['{"a":', ',"c,]":', ',"d":"\\"}\\\\"}'], [],
        ]),
    ],
)  # fmt: skip
def test_a_suite_is_an_object_or_array_and_its_stretches_lie_between_nested_ones(text, suites):
    found = [["".join(texts(text, stretch)) for stretch in suite] for suite in suites_of(text)]
    assert found == suites


@pytest.mark.parametrize(
    ("text", "bodies", "statements"),
    [
        ("1\n", [], []),
        ("[ ]", [], []),
        ("[ 1 , 2 ]", [" 1 , 2 "], ["1", "2"]),
        ('{\n "a": [[], 2]\n}', ['\n "a": [[], 2]\n', "[], 2"], ['"a": [[], 2]', "[]", "2"]),
        ('[{"a":{}, "b" : 1}]', ['{"a":{}, "b" : 1}', '"a":{}, "b" : 1'],
         ['{"a":{}, "b" : 1}', '"a":{}', '"b" : 1']),
    ],
)  # fmt: skip
def test_bodies_and_members(text, bodies, statements):
    assert texts(text, bodies_of(text)) == bodies
    assert texts(text, statements_of(text)) == statements


def count(value):
    """How many objects and arrays hold something, and how many members and elements there are."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    parts = [count(each) for each in inner]
    return bool(inner) + sum(part[0] for part in parts), len(inner) + sum(part[1] for part in parts)


@given(VALUES)
def test_nothing_is_left_out(value):
    text = json.dumps(value, indent=1, ensure_ascii=False)
    assert "".join(texts(text, tokens_of(text))) == json.dumps(
        value, ensure_ascii=False, separators=(",", ":")
    )
    in_suites = [token for suite in suites_of(text) for stretch in suite for token in stretch]
    assert sorted(in_suites) == tokens_of(text)
    assert (len(bodies_of(text)), len(statements_of(text))) == count(value)
