"""What is open around a byte: which lexemes open and close it, in which mode what follows is read."""

import pytest
from fimlsp.lexing.nesting import KNOWN, UNKNOWN, Nesting, changes_nesting, unknown_string_parts

START, END = "FSTRING_START:'", "FSTRING_END"
OPEN, COLON, CLOSE = "FIELD_OPEN", "FIELD_COLON", "FIELD_CLOSE"
FIELD = [START, OPEN]


def after(lexemes: list[str], bottom: Nesting = KNOWN) -> Nesting | None:
    nesting: Nesting | None = bottom
    for lexeme in lexemes:
        nesting = nesting and nesting.after(lexeme)
    return nesting


def shapes(nesting: Nesting | None) -> list[str] | None:
    """What is open, outermost first; None if something was closed that is not open."""
    if nesting is None:
        return None
    return [*(shapes(nesting.parent) or []), nesting.shape] if nesting.parent else []


STACKS = [
    ([], []),
    (["(", "[", "{"], ["(", "[", "{"]),
    (["(", ")"], []),
    (["(", "[", "]"], ["("]),
    (["(", "]"], None),
    ([")"], None),
    (["[", "}"], None),
    ([START], ["text:'"]),
    ([START, END], []),
    (FIELD, ["text:'", "field:'"]),
    ([*FIELD, CLOSE], ["text:'"]),
    ([*FIELD, COLON], ["text:'", "field:'", "spec:'"]),
    ([*FIELD, COLON, CLOSE], ["text:'"]),
    ([*FIELD, COLON, OPEN], ["text:'", "field:'", "spec:'", "field:'"]),
    ([*FIELD, COLON, OPEN, CLOSE], ["text:'", "field:'", "spec:'"]),
    ([*FIELD, "{", "}"], ["text:'", "field:'"]),
    ([*FIELD, "(", 'FSTRING_START:"'], ["text:'", "field:'", "(", 'text:"']),
    ([*FIELD, ")"], None),
    (["FSTRING_START:r'''", OPEN], ["text:r'''", "field:r'''"]),
]


@pytest.mark.parametrize(("lexemes", "expected"), STACKS)
def test_stacks(lexemes, expected):
    assert shapes(after(lexemes)) == expected


UNKNOWN_STACKS = [
    ([")", "]", "}"], []),
    (["(", "]"], None),
    (["("], ["("]),
    ([")", "("], ["("]),
]


@pytest.mark.parametrize(("lexemes", "expected"), UNKNOWN_STACKS)
def test_what_was_opened_further_left_may_be_closed(lexemes, expected):
    assert shapes(after(lexemes, UNKNOWN)) == expected


def test_unknown_strings_end_in_unknown_code():
    text, spec, field, *brackets = unknown_string_parts('"')
    assert text.after(END) is UNKNOWN
    assert field.after(CLOSE) is text
    assert spec.after(CLOSE) is text
    assert [nesting.shape for nesting in brackets] == ["?"] * len(brackets)
    assert brackets[0].after(")") is brackets[0].after("]") is field


MODES = [
    ([], "code"),
    (["(", "["], "code"),
    ([START], "text:'"),
    (["FSTRING_START:r'''"], "text:r'''"),
    (FIELD, "field"),
    ([*FIELD, "("], "nested"),
    ([*FIELD, "(", "["], "nested"),
    ([*FIELD, COLON], "spec:'"),
    ([*FIELD, COLON, OPEN], "field"),
    ([*FIELD, COLON, OPEN, "("], "nested"),
]


@pytest.mark.parametrize(("lexemes", "mode"), MODES)
def test_modes(lexemes, mode):
    nesting = after(lexemes)
    assert nesting is not None
    assert nesting.mode == mode
    assert nesting.in_code is (mode == "code")


LIMITS = [
    ([], b"", b""),
    ([START], b"", b""),
    (FIELD, b"\\'\r\n", b""),
    ([*FIELD, "("], b"\\'\r\n", b""),
    ([*FIELD, COLON], b"", b""),
    (["FSTRING_START:'''", OPEN], b"\\", b"'"),
    (["FSTRING_START:'''", OPEN, 'FSTRING_START:"', OPEN], b'\\"\r\n', b"'"),
    (['FSTRING_START:r"', OPEN], b'\\"\r\n', b""),
    ([*FIELD, 'FSTRING_START:"', OPEN], b"\\'\"\r\n", b""),
    ([*FIELD, 'FSTRING_START:"'], b"\\'\r\n", b""),
]


@pytest.mark.parametrize(("lexemes", "forbidden", "triple"), LIMITS)
def test_bytes_that_enclosing_strings_forbid(lexemes, forbidden, triple):
    nesting = after(lexemes)
    assert nesting is not None
    assert (nesting.forbidden, nesting.triple_quotes) == (frozenset(forbidden), frozenset(triple))
    assert nesting.restricted is bool(forbidden or triple)


def test_equal_stacks_are_one_object():
    assert after(["(", "["]) is after(["(", "[", "(", ")"])
    assert after(["("]) is not after(["("], UNKNOWN)


def test_depth_has_cpythons_limit():
    deepest = after(["("] * 200)
    assert deepest is not None
    assert deepest.depth == 200
    assert deepest.after("[") is None
    assert deepest.after(")") is deepest.parent


@pytest.mark.parametrize("lexeme", ["(", "}", START, END, OPEN, COLON, CLOSE])
def test_lexemes_that_change_the_nesting(lexeme):
    assert changes_nesting(lexeme)


@pytest.mark.parametrize("lexeme", ["NAME", "STRING", ",", "==", "NL", ":"])
def test_lexemes_that_do_not(lexeme):
    assert not changes_nesting(lexeme)
