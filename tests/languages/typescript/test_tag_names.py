"""The names of tags: faults of whole texts, also of texts that change bit by bit."""

import random

import pytest

from fimlsp.languages.typescript import tsx
from fimlsp.languages.typescript.tag_names import TagNames
from fimlsp.lexing.lexer_tables import LexerTables

LEXICAL = LexerTables(tsx.lexical_spec())
PIECES = (
    *(b"<a>", b"</a>", b"<b>", b"</b>", b"\n", b"{x}", b"(", b")", b"x=", b" ", b"<a/>", b"`", b"{", b"}"),
    *(b"<div>", b"</div>", b";\n", b"<c.d>", b"</c.d>"),
)
CASES = (
    (b"x = <a></a>", []),
    (b"x = <a></b>", [(b"a", b"")]),
    (b"x = <abc></abd>", [(b"abc", b"ab")]),
    (b"x = <a><b></a></b>", [(b"b", b""), (b"a", b"")]),
    (b"x = <a>\n{y && <b.c></b.d>}\n</a>", [(b"b.c", b"b.")]),
    (b"x = <a><b/></a>", []),
    (b"x = '<a></b>'", []),
)


@pytest.mark.parametrize(("text", "wrong"), CASES)
def test_a_closing_name_is_wrong_from_the_first_byte_that_differs(text, wrong):
    faults = TagNames(LEXICAL).faults(text)
    spans = dict.fromkeys(fault.spans for fault in faults)
    assert [tuple(text[start:end] for start, end in pair) for pair in spans] == wrong


@pytest.mark.parametrize("seed", range(3))
def test_a_text_that_changes_has_the_faults_of_a_new_one(seed):
    rng, check, found = random.Random(seed), TagNames(LEXICAL), 0
    for _ in range(30):
        data = b"x = <a>\n<b>\n</b></a>\n" * rng.randrange(1, 4)
        for _ in range(40):
            start = rng.randrange(len(data) + 1)
            end = min(len(data), start + rng.choice((0, 0, 1, 3)))
            data = data[:start] + rng.choice(PIECES) + data[end:]
            expected = TagNames(LEXICAL).faults(data)
            found += bool(expected)
            assert check.faults(data) == expected, data
    assert found > 5


@pytest.mark.parametrize(
    ("before", "completion", "after", "mended"),
    [
        (b"x = <div>", b"</A>", b"", b"</div>"),
        (b"x = <div><p>", b"</A></A>", b"", b"</p></div>"),
        (b"x = <div></d", b">", b"", b"iv>"),
        (b"x = ", b"<A>", b"</p>", b"<p>"),
        (b"x = <d", b">", b"</div>", b"iv>"),
        (b"x = <", b"A", b" b>c</div>", b"div"),
        (b"x = <div></", b"A", b">", b"div"),
        (b"x = <div>", b"</A>; y = <A>", b"</p>", b"</div>; y = <p>"),
        (b"x = ", b"<", b"b c='d'></a>", b"<a "),
        (b"x = <", b"", b"b>c</div>", b"div "),
        (b"x = ", b"<", b"b.c></a>", b"<"),
        (b"x = ", b"<", b"b<c>></a>", b"<"),
        (b"x = ", b"f(0)", b"", b"f(0)"),
    ],
)
def test_the_tags_of_a_completion_get_the_names_of_their_partners(before, completion, after, mended):
    assert TagNames(LEXICAL).mended(before, completion, after) == mended
