"""Lines that may start in several modes: code, a template, children of an element, a tag of either kind."""

import pytest

from fimlsp.languages.typescript import tsx, typescript
from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.line import LineReader

LEXICAL = LexerTables(tsx.lexical_spec())
CODE, TEXT, CHILDREN, TAG, CLOSING = range(5)
CASES = (
    (b"a;\n", [(CODE, "NAME ;", CODE), (TEXT, "", TEXT), (CHILDREN, "", CHILDREN)]),
    (b"it's\n", [(TEXT, "", TEXT), (CHILDREN, "", CHILDREN)]),
    (b"} ${a\n", [(CODE, "} ${ NAME LINE_END", CODE), (TEXT, "${ NAME LINE_END", CODE)]),
    (
        b"} b`\n",
        [
            (CODE, "} NAME TEMPLATE_START", TEXT),
            (CODE, "} TEMPLATE_END LINE_END", CODE),
            (TEXT, "TEMPLATE_END LINE_END", CODE),
        ],
    ),
    (b"\\u` `\n", [(TEXT, "ODD_TEXT TEMPLATE_END TEMPLATE_START", TEXT)]),
    (
        b"b='c'\n",
        [
            (CODE, "NAME = STRING LINE_END", CODE),
            (TEXT, "", TEXT),
            (CHILDREN, "", CHILDREN),
            (TAG, "TAG_NAME TAG_EQUAL ATTRIBUTE", TAG),
        ],
    ),
    (b"<b\n", [(CODE, "TAG_START", TAG), (CHILDREN, "CHILD_START", TAG)]),
    (b"/>\n", [(TAG, "TAG_CLOSED LINE_END", CODE), (TAG, "TAG_CLOSED", CHILDREN), (TAG, "TAG_CLOSED", TAG)]),
    (
        b">{b}\n",
        [(TAG, "TAG_END CHILD_BRACE NAME }", CHILDREN), (CLOSING, "CLOSE_END { NAME } LINE_END", CODE)],
    ),
    (b"=> <c>`\n", [(CODE, "=> TAG_START TAG_END", CHILDREN)]),
)


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_readings(text, expected):
    line = LineReader(LEXICAL).read(text, 0)
    found = [
        (one.start, " ".join(LEXICAL.kinds[kind] for kind in one.kinds), one.end) for one in line.readings
    ]
    assert [one for one in found if one in expected] == expected, found
    assert line.size == len(text)


def test_a_line_is_blank_only_if_it_means_nothing_from_each_line_start():
    reader = LineReader(LEXICAL)
    assert reader.read(b"  // a\n", 0).blank
    assert not reader.read(b"  it's\n", 0).blank


def test_a_line_goes_on_until_all_readings_are_at_a_line_start():
    text = b"a /*b\nc*/ d\ne\n"
    assert LineReader(LEXICAL).read(text, 0).size == len(b"a /*b\nc*/ d\n")
    assert LineReader(LEXICAL).read(b"a /*b\nc d\n", 0).size == len(b"a /*b\n"), "no reading as code is left"
    assert LineReader(LEXICAL).read(b"a `b\nc` d\n", 0).size == len(b"a `b\n"), "a template has lines"


CORRECTED = (
    # a line that nothing can contain, and one that starts alike
    (b"a /*\n*/ \xc2!\n", b"a /*\n*/ \xc2\xa0b\n"),
    (b"a /*\n*/ \xe2\x80\n", b"a /*\n*/ \xe2\x80\x89b\n"),
)


@pytest.mark.parametrize(("wrong", "right"), CORRECTED)
def test_a_line_of_several_stretches_that_is_corrected_is_no_longer_broken(wrong, right):
    reader = LineReader(LexerTables(typescript.lexical_spec()))
    assert reader.read(wrong, 0).broken
    assert reader.read(right, 0).size == len(right)
