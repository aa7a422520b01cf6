"""The f-strings that the text after a cursor closes, and the source of their fields with `=`."""

import pytest

from fimlsp.languages.python import python
from fimlsp.languages.python.mode_stack import F_STRING_STYLES, field_rules, unknown_bottom
from fimlsp.languages.python.open_strings import OpenStrings
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.language.contract import TextAfterCursor
from fimlsp.quotient.language.tables import tables_of

from ...quotient.middle_support import cursor_in
from ...sampling import sampled

# The version, the part around the cursor, the text after it, and the parts that this closes. Where a string
# may end in code, that code is not read yet.
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
    """The parts in *place* that the text closes, with its lexemes; strings of the *styles* may be open."""
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


# In 3.12 and 3.13 the source of a field with `=` is decoded like the text of its f-string. The verdicts
# are those of CPython 3.12 to 3.14.
REFUSED = [
    r"""f"{Path(r'C:\Users')=}" """,
    r"""f"{r'\x'=}" """,
    r"""f"{b'\N{x}'=}" """,
    r"""f"{r'\N'=}" """,
    r"""f"{b'\u12'=}" """,
    r"""f"{b'\U00110000'=}" """,
    r"""f"{rb'\x4g'=}" """,
    r"""f"{r'\x'=!r}" """,
    r"""f"{r'\x'=:>5}" """,
    r"""f"{r'\x'= }" """,
    r"""f"{x[r'\x']=}" """,
    r"""f"{(lambda: r'\x')=}" """,
    r"""f"{'a' r'\x'=}" """,
    r"""f"{fr'\x'=}" """,
    r"""f"{fr'\N{x}'=}" """,
    r"""f"{fr'\u{x}'=}" """,
    r"""f"{f'{r"\x"=}'=}" """,
    r"""fr"{f'{r"\x"=}'=}" """,
    r"""f"{fr'{r"\x"=}'=}" """,
    r"""f"{x}\N{EN DASH}{r'\x'=}" """,
]
FINE = [
    r"""f"{r'\d'=}" """,
    r"""f"{r'\N{EN DASH}'=}" """,
    r"""f"{br'\N{EN DASH}'=}" """,
    r"""f"{r'\\x'=}" """,
    r"""f"{r'\u1234'=}" """,
    r"""f"{r'\U0010ffff'=}" """,
    r"""f"{r'\400'=}" """,
    r"""f"{'\x41'=}" """,
    r"""f"{r'\u12'}" """,
    r"""f"{x:{r'\x'}}" """,
    r"""f"{x:{r'\x'=}}" """,
    r"""f"{x:a{fr'\x'=}}" """,
    r"""f"{x=:{r'\x'}}" """,
    r"""fr"{r'\x'=}" """,
    r"""fr"{fr'{r"\x"=}'=}" """,
    r"""f"{fr'{r"\x"=}'}" """,
    r"""f"{rf'\{x}'=}" """,
    r"""f"{rf'{x:\d}'=}" """,
    r"""f"{r'\x'==x}" """,
    r"""f"{(x:=r'\x')}" """,
    "f'''{x # \\x\n=}'''",
    "f'''{\n# \\x\nx=}'''",
]


SOURCES = *((source, False) for source in REFUSED), *((source, True) for source in FINE)


@pytest.mark.parametrize("minor", sampled((12, 13, 14), 3))
@pytest.mark.parametrize(("source", "is_fine"), sampled(SOURCES, 2))
def test_debug_text(source, is_fine, minor):
    """Wherever the cursor is, whatever of the source is on its left, in the middle and on its right."""
    data = source.strip().encode() + b"\n"
    engine = Engine(python((3, minor)))
    for cut in range(len(data)):
        for start, end in ((0, cut), (cut, len(data) - 1)):
            state = cursor_in(engine.document(data[:start] + data[end:]), start)
            state = state and state.feed(data[start:end])
            is_complete = state is not None and state.complete
            assert is_complete is (is_fine or minor == 14), (data[:start], data[start:end], data[end:])


def test_a_field_that_cannot_be_told_is_completed_without_its_source():
    state = cursor_in(Engine(python((3, 12))).document(b"f\"{r'\\x'"), 8)
    assert state.feed(b"=}") is None
    assert state.feed(b"== x}").shortest_completion == b'"'
    assert state.shortest_completion == b'}"'
