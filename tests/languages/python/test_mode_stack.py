"""The mode stack of Python: the parts that lexemes open and close, and the mode of the next one."""

import pytest

from fimlsp.languages.python.mode_stack import (
    PythonModes,
    changes_modes,
    field_rules,
    file_start,
    unknown_bottom,
)

RULES = field_rules((3, 11))
KNOWN, UNKNOWN = file_start(RULES), unknown_bottom(RULES)
KNOWN_3_12, KNOWN_3_13 = (file_start(field_rules(version)) for version in ((3, 12), (3, 13)))
START, END = "FSTRING_START:'", "FSTRING_END"
OPEN, COLON, CLOSE = "FIELD_OPEN", "FIELD_COLON", "FIELD_CLOSE"
FIELD = [START, OPEN]


def after(lexemes: list[str], bottom: PythonModes = KNOWN) -> PythonModes | None:
    modes: PythonModes | None = bottom
    for lexeme in lexemes:
        modes = modes and modes.after(lexeme)
    return modes


def shapes(modes: PythonModes | None) -> list[str] | None:
    """The open parts, outermost first; None if a part was closed that is not open."""
    if modes is None:
        return None
    return [*(shapes(modes.parent) or []), modes.shape] if modes.parent else []


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


def test_what_lies_around_an_unknown_string_is_not_known():
    text, field, spec = (unknown_bottom(RULES, f"{part}:'") for part in ("text", "field", "spec"))
    assert text.after(END) is field.after(CLOSE) is spec.after(CLOSE) is None
    assert shapes(text.after(OPEN)) == ["field:'"]


STACKS_SINCE_3_12 = [
    ([*FIELD, COLON, "SPEC_NL"], ["text:'", "field:'", "tail:'"]),
    ([*FIELD, COLON, "SPEC_NL", OPEN], ["text:'", "field:'", "tail:'", "plain:'"]),
    ([*FIELD, COLON, "SPEC_NL", OPEN, COLON], ["text:'", "field:'", "tail:'", "plain:'", "tail:'"]),
    ([*FIELD, COLON, "SPEC_NL", OPEN, CLOSE], ["text:'", "field:'", "tail:'"]),
    ([*FIELD, COLON, "SPEC_NL", CLOSE], ["text:'"]),
    ([*FIELD, COLON, *[OPEN, COLON] * 2], ["text:'", *["field:'", "spec:'"] * 3]),
    ([*FIELD, COLON, *[OPEN, COLON] * 3], None),
]


@pytest.mark.parametrize(("lexemes", "expected"), STACKS_SINCE_3_12)
def test_stacks_since_3_12(lexemes, expected):
    assert shapes(after(lexemes, KNOWN_3_12)) == shapes(after(lexemes, KNOWN_3_13)) == expected


def test_a_specification_reopens_as_text_since_3_13():
    lexemes = [*FIELD, COLON, OPEN, CLOSE]
    assert shapes(after(lexemes, KNOWN_3_12)) == ["text:'", "field:'", "spec:'"]
    assert shapes(after(lexemes, KNOWN_3_13)) == ["text:'", "field:'", "respec:'"]


OPENED = [
    (["("], ()),
    (["(", START], ("text:'",)),
    (["(", START, OPEN, "["], ("[", "field", "text:'")),
    ([START, OPEN, COLON], ("spec", "field", "text:'")),
    ([START, OPEN, "(", 'FSTRING_START:r"'], ('text:r"', "(", "field", "text:'")),
]


@pytest.mark.parametrize(("lexemes", "expected"), OPENED)
def test_what_the_right_context_must_close(lexemes, expected):
    modes = after(lexemes)
    assert modes is not None
    assert modes.opened == expected


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
    modes = after(lexemes)
    assert modes is not None
    assert modes.mode == mode
    assert modes.in_code is (mode == "code")


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
    modes = after(lexemes)
    assert modes is not None
    assert (modes.forbidden, modes.forbidden_thrice) == (frozenset(forbidden), frozenset(triple))
    assert modes.restricted is bool(forbidden or triple)


def test_equal_stacks_are_one_object():
    assert after(["(", "["]) is after(["(", "[", "(", ")"])
    assert after(["("]) is not after(["("], UNKNOWN)


def test_depth_has_cpythons_limit():
    deepest = after(["("] * 200)
    assert deepest is not None
    assert deepest.depth == 200
    assert deepest.after("[") is None
    assert deepest.after(")") is deepest.parent


DEEPEST = [
    (RULES, ["("] * 200, "("),
    (RULES, [*["("] * 200, START, OPEN, *["("] * 199], "("),
    (KNOWN_3_12.rules, [*["("] * 198, START, OPEN, "("], "("),
    (KNOWN_3_12.rules, [*["("] * 200, START], OPEN),
    (KNOWN_3_12.rules, [START, *[OPEN, START] * 148, OPEN], START),
]


@pytest.mark.parametrize(("rules", "lexemes", "next_one"), DEEPEST)
def test_what_counts_as_depth(rules, lexemes, next_one):
    deepest = after(lexemes, file_start(rules))
    assert deepest is not None
    assert deepest.after(next_one) is None


@pytest.mark.parametrize("lexeme", ["(", "}", START, END, OPEN, COLON, CLOSE])
def test_lexemes_that_change_the_mode(lexeme):
    assert changes_modes(lexeme)


@pytest.mark.parametrize("lexeme", ["NAME", "STRING", ",", "==", "NL", ":"])
def test_lexemes_that_do_not(lexeme):
    assert not changes_modes(lexeme)
