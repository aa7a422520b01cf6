"""Which f-strings the text after a cursor closes."""

import pytest

from fimlsp.languages.python import python
from fimlsp.languages.python.fstrings.mode_stack import F_STRING_STYLES, field_rules, unknown_bottom
from fimlsp.languages.python.fstrings.open_strings import OpenStrings
from fimlsp.quotient.language.contract import TextAfterCursor
from fimlsp.quotient.language.tables import tables_of

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


def tails(version, place: str, text: bytes, styles):
    """What the text closes in *place*, and its lexemes; strings of the *styles* may be open."""
    tables, rules = tables_of(python(version)), field_rules(version)
    after = TextAfterCursor(tables.lexical, text, 0, None, lambda _: True, tables.may_follow)
    found = OpenStrings(after, rules, styles).tails(unknown_bottom(rules, place), None, 0)
    return {tail.opened: " ".join(tables.lexical.kinds[kind] for kind in tail.kinds) for tail in found}


@pytest.mark.parametrize(("version", "place", "text", "expected"), CLOSED)
def test_what_is_closed(version, place, text, expected):
    styles = [style for style in F_STRING_STYLES if not style.startswith("r")]
    found = tails(version, place, text.encode(), styles)
    assert {" ".join(opened): kinds for opened, kinds in found.items()} == expected


def test_many_brackets_in_a_field_take_no_deep_recursion():
    text = b"a(1), " * 3000 + b"]" * 150 + b"}'\n"
    assert [opened[-2:] for opened in tails((3, 12), "?", text, ["'"])] == [("field", "text:'")]
