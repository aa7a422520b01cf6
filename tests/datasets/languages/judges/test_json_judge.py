"""Strict JSON: RFC 8259 and nothing else that Python's json module takes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fimlsp.datasets.languages.judges.json_judge import syntax_error
from fimlsp.datasets.languages.known import JSON

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
    "[" * 100_000: "nested too deeply for the judge",
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
    assert syntax_error(text) is None
    assert JSON.compile_error(text) is None


@pytest.mark.parametrize("text", INVALID, ids=lambda text: repr(text[:20]))
def test_invalid(text):
    assert syntax_error(text) == INVALID[text]


@pytest.mark.parametrize("text", REFUSED, ids=repr)
def test_refused(text):
    assert syntax_error(text)


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


@given(VALUES, st.sampled_from([None, 1]), st.booleans())
def test_whatever_is_written_without_nan_is_valid(value, indent, ascii_only):
    assert syntax_error(json.dumps(value, indent=indent, ensure_ascii=ascii_only)) is None
