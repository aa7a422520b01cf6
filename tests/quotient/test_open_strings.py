"""Which f-strings the text after a cursor closes."""

import pytest
from fimlsp.languages.python.open_strings import OpenStrings
from fimlsp.languages.python.terminals import F_STRING_STYLES
from fimlsp.lexing.modes import unknown_bottom
from fimlsp.quotient.engine import python_language

# The version, where the cursor is, the text after it, and what that closes. Where a string may end in code,
# nobody has looked at that code yet.
CLOSED = [
    ((3, 11), "text:'", "a' + b", {"text:'": "FSTRING_TEXT FSTRING_END"}),
    ((3, 11), "field:", "}' + b", {"field text:'": "FIELD_CLOSE FSTRING_END"}),
    ((3, 11), "field:", ")}' + b", {}),
    ((3, 11), "?", ")}'", {"( field text:'": ") FIELD_CLOSE FSTRING_END"}),
    ((3, 11), "?", ")]}'", {"( [ field text:'": ") ] FIELD_CLOSE FSTRING_END"}),
    ((3, 11), "text:'", "'}'", {"text:'": "FSTRING_END"}),
    (
        (3, 12),
        "text:'",
        "'}'",
        {"text:'": "FSTRING_END", "text:' field text:'": "FSTRING_END FIELD_CLOSE FSTRING_END"},
    ),
    ((3, 11), "field:", "a\n}'", {}),
    ((3, 12), "field:", "a\n}'", {"field text:'": "NAME FIELD_CLOSE FSTRING_END"}),
    ((3, 11), "spec:'", "x}'", {"spec field text:'": "FSTRING_TEXT FIELD_CLOSE FSTRING_END"}),
]


@pytest.mark.parametrize(("version", "place", "text", "expected"), CLOSED)
def test_what_is_closed(version, place, text, expected):
    tables = python_language(version)
    styles = [style for style in F_STRING_STYLES if not style.startswith("r")]
    strings = OpenStrings(tables, text.encode(), 0, styles)
    rests = strings.rests(unknown_bottom(tables.lexical.rules, place), None, 0)
    found = {" ".join(r.opened): " ".join(tables.lexical.kinds[kind] for kind in r.kinds) for r in rests}
    assert found == expected


def test_many_brackets_in_a_field_take_no_deep_recursion():
    text = b"a(1), " * 3000 + b"]" * 150 + b"}'\n"
    tables = python_language((3, 12))
    strings = OpenStrings(tables, text, 0, ["'"])
    rests = strings.rests(unknown_bottom(tables.lexical.rules, "?"), None, 0)
    assert [rest.opened[-2:] for rest in rests] == [("field", "text:'")]
