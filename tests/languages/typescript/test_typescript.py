"""TypeScript and JavaScript against their parsers; see also `python -m tests.languages.typescript`."""

import random
from pathlib import Path

import pytest

from fimlsp.testing.checking import cases, fed, total, verdict
from fimlsp.testing.edited import bytes_for_a_key, grows, type_a_line

from .known import explained, known_differences
from .programs import program_of
from .suites import (
    ALPHABETS,
    ELEMENTS,
    JAVASCRIPT,
    JSX,
    SUITES,
    TSX,
    TYPED,
    TYPED_ELEMENTS,
    TYPESCRIPT,
)

HERE = Path(__file__).parent
FILES = {
    TYPESCRIPT: ("typescript",),
    JAVASCRIPT: ("javascript",),
    TSX: ("elements", "tsx"),
    JSX: ("elements", "jsx"),
}
CASES = {
    of: [case for name in names for case in cases(HERE / "cases" / f"{name}.txt")]
    for of, names in FILES.items()
}
ALL = pytest.mark.parametrize("of", CASES, ids=lambda of: of.language.name)


@ALL
def test_middles(of):
    wrong = []
    for left, middle, right, expected in CASES[of]:
        start = of.start_between(left, right)
        state = start and start.feed(middle)
        if verdict(state) != expected:
            wrong.append((left, middle, right, verdict(state), expected))
    assert wrong == []
    assert len(CASES[of]) > 140


@ALL
def test_random_programs_are_read_as_the_grammar_made_them(of):
    program = program_of(of.language)
    for seed in (3, 14):
        rng = random.Random(seed)
        data = program(rng, rng.choice((5, 20, 100)))
        assert of.start_between(b"", data).complete, data
        place = rng.randrange(len(data) + 1)
        assert of.start_between(data[:place], data[place:]).complete, (data, place)


# Parts of a line, up to `;` and `,`, are read by themselves: code within a template, or its text.
TEMPLATES = (
    b"({f: (a) => {`${g('', b)}`}}); h = {i() {j}}",
    b"x = `${({a: () => `${b}`, c})}`; d",
    b"f({a: `${{b, c: 1}}`, d: `e`}); g()",
    b"`a; ${b}; c`; d; `${`${e, f}`}`; h",
)


@ALL
@pytest.mark.parametrize("text", TEMPLATES)
def test_each_cursor_in_a_line_with_templates_connects(of, text):
    dead = [at for at in range(len(text) + 1) if fed(of.start_between(text[:at], text[at:]), b"") is None]
    assert dead == []


# After a `>` blanks decide about the next lexeme.
ANGLES = (
    b"type A<T> = b; type B<T = c<d> >  =  {}",
    b"let a: b<c<d>> = e; class F<G> { h: i<j> /**/ = k }",
    b"function f<T> (a: b<T> = c) : d<T> {} ; a<b> (c); d = e<f> ;",
    b"let a = <T, > (b: c<T> = d) : e<T> => f > g >= h",
)


@pytest.mark.parametrize("of", [TYPESCRIPT, TSX], ids=lambda of: of.language.name)
@pytest.mark.parametrize("text", ANGLES)
def test_the_true_rest_of_a_line_connects_at_each_cursor_around_angles(of, text):
    assert of.accepts(text)
    cursors = range(len(text) + 1)
    assert [at for at in cursors if not fed(of.start_between(text[:at], text[at:]), b"").complete] == []


@ALL
def test_each_kind_of_lexeme_is_a_terminal_or_means_nothing(of):
    tables = of.engine.tables
    lexical = tables.lexical
    unused = {
        kind
        for number, kind in enumerate(lexical.dfa.kinds)
        if tables.terminal_of[number] < 0 and number not in lexical.skipped
    }
    of_other_language = {"LEGACY_NUMBER", "LEGACY_STRING"} if of.language.types else {"@"}
    assert unused == of_other_language | {"BAD"}


def test_a_line_that_is_edited():
    data = b"function f(a) {\n  return `${a}` + g(a)\n}\nlet x = 1\n" * 20
    pieces = (b"x", b" ", b"/", b"*", b"\n", b" y ", b"*", b"/", b"`", b"${", b"}", b"`")
    typed = type_a_line(TYPESCRIPT, data, pieces)
    assert b"".join(pieces) in typed


ELEMENT = b"let x = (\n  <ul a='b'>\n    {c.map((d) => (\n      <li>d, {d}</li>\n    ))}\n  </ul>\n)\n"


@pytest.mark.slow
def test_an_element_that_is_edited():
    data = b"let x = (\n  <ul>\n" + b"    <li a='b'>\n      {c}, d\n    </li>\n" * 8 + b"  </ul>\n)\n"
    pieces = (b"<p>", b" it's", b"\n", b"{", b"e", b"}", b"</", b"p", b">", b"`", b"<!", b'<b a="', b'"/>')
    typed = type_a_line(TSX, data, pieces)
    assert b"".join(pieces) in typed


@pytest.mark.slow
def test_a_key_costs_the_same_in_a_file_of_any_size():
    assert grows(TSX, ELEMENT) == []
    assert grows(JSX, ELEMENT) == []


@pytest.mark.slow
@ALL
def test_a_key_costs_the_same_in_a_template_of_any_length(of):
    found = []
    for count in (20, 80, 320):
        data = b"let x = `\n" + b"  a, it's ${b};\n" * count + b"`\n"
        found.append(bytes_for_a_key(of, data, data.index(b"a", len(data) // 2)))
    assert max(found) <= 2 * min(found)


LISTS = {
    # the text around a list, and elements of it with their separators
    ("", ""): ("f(a)\n", "f(a);\n", "let x\n", "break\n", "f()\nlet x\n", "function f() {\n  g()\n}\n"),
    ("function f() {\n", "}\n"): ("g()\n", "g();\n", "if (a) b()\n", "x = {\n  y,\n}\n"),
    ("class A {\n", "}\n"): ("a\n", "a = 1\n", "a = 1;\n", "m() {\n  g()\n}\n", "a = () => {}\n"),
    ("switch (a) {\n", "}\n"): ("case b:\n", "case b:\n  c()\n  break\n"),
    ("x = {\n", "}\n"): ("a,\n", "a: b,\n", "m() {\n},\n"),
    ("f(\n", ")\n"): ("a,\n", "...b,\n"),
    ("x = [\n", "]\n"): ("a,\n", "[b],\n"),
    ("x = `\n", "`\n"): ("a\n", "${b}\n"),
}
TYPED_LISTS = {
    ("interface A {\n", "}\n"): ("a: b\n", "a: b;\n", "m(): void\n"),
    ("enum A {\n", "}\n"): ("a,\n", "a = 1,\n"),
    ("type A =\n", "B\n"): ("a |\n", "a<b>[] |\n"),
    ("namespace A {\n", "}\n"): ("f()\n", "type B = C\n", "export const a = 1\n"),
}
ELEMENT_LISTS = {
    ("x = <a>\n", "</a>\n"): ("b\n", "{c}\n", "<b>\n</b>\n"),
    ("x = <a\n", "/>\n"): ("b\n", "b='c'\n", "{...d}\n"),
}


@ALL
def test_places_between_the_elements_of_a_list_are_alike(of):
    lists = LISTS | (TYPED_LISTS if of.language.types else {}) | (ELEMENT_LISTS if of.language.jsx else {})
    different = []
    for (before, after), elements in lists.items():
        for element in elements:
            parts = before.encode(), element.encode()
            document = of.engine.document(parts[0] + 40 * parts[1] + after.encode())
            places = [len(parts[0]) + number * len(parts[1]) for number in range(5, 35)]
            rights = {document.right_at(place) for place in places}
            lefts = {document.left_at(place)[1] for place in places}
            if len(lefts) > 2 or len(rights) > 2:
                different.append((before, element, len(lefts), len(rights)))
    assert different == []


STAYING = (
    ("let x = `a <|> b`;\n", "c", "complete"),
    ("let x = `a <|> b`;\n", "` + `", "dead"),
    ("let x = `a ${<|>} b`;\n", "c", "complete"),
    ("let x = `a ${<|>} b`;\n", "c}` + `${d", "dead"),
    ("let x = <|>;\nlet y = `a`;\n", "`b`", "complete"),
    ("let x = <|>;\nlet y = `a`;\n", "`", "viable"),
    ("let x = <|>;\nlet y = `a`;\n", "`;\n", "viable"),
    ("/* a <|> b */\n", "c", "complete"),
    ("/* a <|> b */\n", "*/", "dead"),
)


@pytest.mark.parametrize(("text", "middle", "expected"), STAYING)
def test_a_middle_stays_in_the_template_or_comment(text, middle, expected):
    left, right = text.encode().split(b"<|>")
    start = TYPESCRIPT.start_between(left, right, may_escape=False)
    assert verdict(start.feed(middle.encode())) == expected


BEFORE_A_TYPE = ("s", "/b/ ", "a as", "b satisfies ", "type a = keyof", "function *static")
"""Words before a type. The shortest sentence has a function directly after `as`, where `<a` is no lexeme."""
GENERIC_RIGHTS = (
    "\n*/asserts s>()\n=> s",
    "\n*/ asserts a, b>(c: d)\n=> e;\n",
    " asserts a,>()\n=> b",
    "\n*/ a is b> ()\n=> c",
)


@pytest.mark.parametrize("left", BEFORE_A_TYPE)
@pytest.mark.parametrize("right", GENERIC_RIGHTS)
def test_generic_functions_in_types_after_any_word_are_completed(left, right):
    start = TSX.start_between(left.encode(), right.encode())
    assert start.feed(start.shortest_completion).complete


@pytest.mark.parametrize(
    "cursor",
    [
        "export default yield <|>\n, async = b",  # a line end is no white space here, but it is after a `;`
        "export default yield;<|>\n, async = b",
        "export default 0 <|>\n, async = b",
        "x = <A <B<<<|>/>\n",
        "x = <|>-a></b>\n",  # no attribute starts with a hyphen, so the name has to end with one
    ],
)
def test_middles_that_only_some_ways_into_the_right_context_complete(cursor):
    start = TSX.start_between(*cursor.encode().split(b"<|>"))
    assert start is None or start.feed(start.shortest_completion).complete


@pytest.mark.parametrize(
    ("cursor", "middle"),
    [
        ("x = <<|>heme.P a>{b}</Theme.P>\n", "T"),
        ("x = <<|>heme>{b}</Theme>\n", "T"),
        ("x = <T<|>>{b}</T.P>\n", ".P"),
        ("x = <Theme.P>{b}</<|>heme.P>\n", "T"),
        ("x = <a><<|>>{b}</Theme.P></a>\n", "Theme.P"),
    ],
)
def test_the_part_of_a_name_that_a_tag_lacks_is_found(cursor, middle):
    for of in (TSX, JSX):
        start = of.start_between(*cursor.encode().split(b"<|>"))
        assert start.feed(middle.encode()).complete
        assert start.feed(start.shortest_completion).complete


@pytest.mark.node
@ALL
def test_middles_judged(of):
    tally = of.tally()
    for left, middle, right, _ in CASES[of]:
        start = of.start_between(left, right)
        tally.judge(left, middle, right, start and start.feed(middle))
    assert explained(of, tally.faults)[1] == []


@pytest.mark.node
@pytest.mark.parametrize("alphabet", [*ALPHABETS, *TYPED], ids=lambda alphabet: alphabet[0].decode())
def test_short_texts(alphabet):
    for of in (TYPESCRIPT, JAVASCRIPT):
        if of is TYPESCRIPT or alphabet not in TYPED:
            assert explained(of, of.walk(b"", b"", alphabet, 2).faults)[1] == []


@pytest.mark.node
@pytest.mark.parametrize("alphabet", [*ELEMENTS, *TYPED_ELEMENTS], ids=lambda alphabet: alphabet[0].decode())
def test_short_texts_with_elements(alphabet):
    for of in (TSX, JSX):
        if of is TSX or alphabet not in TYPED_ELEMENTS:
            assert explained(of, of.walk(b"", b"", alphabet, 2).faults)[1] == []


@pytest.mark.node
@ALL
def test_random_cases_judged(of):
    tally = total(SUITES[of](3), 3_000)
    assert explained(of, tally.faults)[1] == []


@pytest.mark.node
@pytest.mark.parametrize("known", known_differences(), ids=lambda known: known.name)
def test_known_differences_are_still_there(known):
    of_languages = [of for of in CASES if of.language.name in known.languages]
    assert any(known.still_differs(of) for of in of_languages)


def test_known_differences_are_those_of_the_documentation():
    page = (HERE.parents[2] / "docs" / "typescript.md").read_text("utf-8")
    rows = page.split("## Known differences\n", 1)[1].split("\n## ", 1)[0].split("\n| ")[2:]
    assert [row.split(" | ", 1)[0] for row in rows] == [known.name for known in known_differences()]
