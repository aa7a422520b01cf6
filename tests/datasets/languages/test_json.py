"""JSON as replayed: RFC 8259 without Python's extensions, and the tokens, suites, bodies and members."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fimlsp.datasets.languages.json_and_toml import (
    JSON,
    JSON_PLACES,
    json_error,
    json_statements,
    json_tokens,
)

VALID = [
    "0", "-0.0e-0", "1E+2", '""', r'"\ud800"', r'"\u00e9\/"', '"é\u2028"', "true", " null\r\n\t", "[]", "{}",
    '{"a": 1, "a": [2, {}]}', "9" * 5000, "1e999", "-" + "1" * 9, '"\x7f"',
]  # fmt: skip
INVALID = {
    "": "Expecting value (line 1)",
    "NaN": "NaN is not a JSON value",
    "[-Infinity]": "-Infinity is not a JSON value",
    "\ufeff1": "Unexpected UTF-8 BOM (decode using utf-8-sig) (line 1)",
    "[\n1\n2]": "Expecting ',' delimiter (line 3)",
    '"\t"': "Invalid control character at (line 1)",
    "[" * 100_000: "nested too deeply for the reference parser",
    "1 2": "Extra data (line 1)",
    "01": "Extra data (line 1)",
}
REFUSED = [
    "+1", ".5", "1.", "0x1", "- 1", "1e", "[1,]", "{,}", '{"a":1,}', "{a: 1}", "{1: 2}", "'a'", '"\\x41"',
    '"\\u12"', '"a\nb"', "tru", "True", "None", "//\n1", "\x0b1", "\xa01", "\u0661", "[1 2]",
    '{"a" 1}', "]", '"', "[",
]  # fmt: skip


@pytest.mark.parametrize("text", VALID, ids=lambda text: repr(text[:20]))
def test_valid(text):
    assert json_error(text) is None
    assert JSON.compile_error(text) is None


@pytest.mark.parametrize("text", INVALID, ids=lambda text: repr(text[:20]))
def test_invalid(text):
    assert json_error(text) == INVALID[text]


@pytest.mark.parametrize("text", REFUSED, ids=repr)
def test_refused(text):
    assert json_error(text)


@pytest.mark.parametrize(
    ("middle", "ok"),
    [(b"1", True), ('"é"'.encode(), True), (b'"\xc3"', False), (b"NaN", False)],
)
def test_holes(middle, ok):
    assert JSON.accepts("[0, ", middle, "]\n") is ok


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.slow
@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_whatever_is_written_without_nan_is_valid(value, indent, ascii_only):
    assert json_error(json.dumps(value, indent=indent, ensure_ascii=ascii_only)) is None


NESTED = '{"a": [1, {"b": null}, -2.5e3], "c,]": {}, "d": "\\"}\\\\"}'


def texts(text, spans):
    return [text[start:end] for start, end in spans]


def test_tokens():
    assert texts(NESTED, json_tokens(NESTED)) == [
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
    assert [
        ["".join(texts(text, stretch)) for stretch in suite] for suite in JSON_PLACES.suites_of(text)
    ] == suites


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
    assert texts(text, JSON_PLACES.bodies_of(text)) == bodies
    assert texts(text, json_statements(text)) == statements


def count(value):
    """The number of objects and arrays that are not empty, and the number of members and elements."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    parts = [count(part) for part in inner]
    return bool(inner) + sum(part[0] for part in parts), len(inner) + sum(part[1] for part in parts)


@pytest.mark.slow
@given(VALUES)
def test_nothing_is_left_out(value):
    text = json.dumps(value, indent=1, ensure_ascii=False)
    assert "".join(texts(text, json_tokens(text))) == json.dumps(
        value, ensure_ascii=False, separators=(",", ":")
    )
    in_suites = [token for suite in JSON_PLACES.suites_of(text) for stretch in suite for token in stretch]
    assert sorted(in_suites) == json_tokens(text)
    assert (len(JSON_PLACES.bodies_of(text)), len(json_statements(text))) == count(value)
