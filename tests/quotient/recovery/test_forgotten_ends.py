"""Text that lines above leave open may go on in the cursor's line, or was forgotten: both are possible."""

import pytest

from fimlsp.languages.python import python
from fimlsp.quotient.engine import Engine
from fimlsp.quotient.masks.vocabulary import Vocabulary
from fimlsp.testing.checking import COMPLETE, fed, verdict

from ..middle_support import cursor_in, engine

HALF_WRITTEN = {
    # left<|>right: a middle that goes on, and one that starts a new statement
    "def f(p):\n    data = open(p\n    <|>\n    return x\n": (", 'r')", "x = 1"),
    "data = open(p\n<|>\nx\n": (")", "x = 1"),
    "data = open(p\n<|>": (")", "import os"),
    "data = open(p\n\n<|>\n": (")", "x = 1"),
    "data = open(get(p, [1\n<|>\n": ("]))", "return x"),
    "x = [1,\n<|>\ny\n": ("2]", "x = 1"),
    "x = {'a': 1,\n<|>\ny\n": ("'b': 2}", "x = 1"),
    "x = {'a':\n<|>\n": ("1}", "x = 1"),
    "x = foo(\n    bar(a,\n    <|>\n)\n": ("b)", "x=1,"),
    "x = foo(\n    bar(a, [b\n    <|>\n)\n": ("])", "x=1,"),
    "x = {\n    'a': 1,\n    'b': [2,\n    <|>\n    'd': 4,\n}\n": ("3],", "'c': 3,"),
    "x = [\n    (1, 2),\n    (3,\n    <|>\n    (7, 8),\n]\n": ("4),", "(5, 6),"),
    "x = [y for y in\n<|>\n": ("z]", "x = 1"),
    "x = sorted(y, key=lambda z:\n<|>\n": ("z)", "x = 1"),
    "x = (a\n    .b()\n    .c(\n<|>\n": ("d))", "x = 1"),
    "from a import (b,\n<|>\nx = 1\n": ("c)", "x = 1"),
    "@dec(a\n<|>\n": (")\ndef f(): 0", "def f(): 0"),
    "def f(a\n<|>\n": ("): 0", "x = 1"),
    "def f(a\n    <|>\n": ("): 0", "return a"),
    "if f(a\n    <|>\n": ("): 0", "x = 1"),
    "class A:\n    def f(self, a\n        <|>\n    def g(self): 0\n": ("): 0", "return a"),
    "def f():\n    if (a and\n    <|>\n    return b\n": ("b): 0", "x = 1"),
    "def f():\n    '''doc\n    <|>\n    return x\n": ("and more'''", "x = 1"),
    "def f():\n    '''doc\n\n    more\n    <|>\n    return x\n\ndef g():\n    '''doc'''\n": ("'''", "x = 1"),
    "def f():\n    db('''select\n    <|>\n    return x\n": ("a''')", "x = 1"),
    "def f():\n    s = f'''{a\n    <|>\n    return x\n": ("}'''", "x = 1"),
    "x = 1 + \\\n<|>\ny\n": ("2", "x = 1"),
    "def f():\n    if p:\n    <|>\n    return x\n": ("    y", "x = 1"),
    "def f():\n    if a:\n        for x in y:\n    <|>\n": ("        y", "x = 1"),
    "def f():\n    @dec\n    <|>\n": ("def g(): 0", "x = 1"),
    "def f():\n    try:\n        x\n    <|>\n": ("except A: 0", "x = 1"),
}
GOES_ON = {
    # left<|>right, where nothing was forgotten: a middle that is complete
    "data = open(\n    <|>\n)\n": "p",
    "x = {\n    'a':\n    <|>\n}\n": "1",
    "def f(\n    a,\n    <|>\n):\n    pass\n": "b",
    "if p:\n    <|>\n": "x",
    "def f(x):\n<|>": "    y",
    "def f():\n    for x in y:\n<|>\n\ndef g(): 0\n": "        y",
    "@dec\n<|>\n": "def f(): 0",
    "try:\n    x\n<|>\n": "except A: 0",
    "def f():\n    '''doc\n    <|>\n    '''\n": "more",
    "def f():\n    s = f'''{a}\n    <|>\n    {b}'''\n": "more",
    "x = 1 + \\\n    <|>\n": "2",
    "data = open(<|>\nx\n": "p)",
}


TYPED = {
    # left<|>right, where a statement has started: its rest
    "if p:\nx<|>\ny\n": " = 1",
    "@dec\nx<|>\n": " = 1",
    "try:\n    x\nx<|>\n": " = 1",
    "data = open(p\nx<|>\ny\n": " = 1",
}


def at(case: str):
    left, right = case.encode().split(b"<|>")
    document = engine().document(left + right)
    return document, document.middle(len(left), len(left), relax=True)


@pytest.mark.parametrize("case", HALF_WRITTEN)
def test_both_readings_are_possible(case):
    goes_on, statement = (middle.encode() for middle in HALF_WRITTEN[case])
    _, found = at(case)
    assert verdict(fed(found.start, goes_on)) == COMPLETE
    assert verdict(fed(found.start, statement)) == COMPLETE
    assert found.relaxed


@pytest.mark.parametrize("case", HALF_WRITTEN)
def test_the_assumption_is_above_the_line_and_makes_the_statement_valid(case):
    document, found = at(case)
    line_start = case.index("<|>") - len(case[: case.index("<|>")].rpartition("\n")[2])
    text = document.data
    for repair in reversed(found.relaxed):
        assert repair.end <= line_start
        text = text[: repair.start] + repair.replacement + text[repair.end :]
    cursor = len(case.encode().partition(b"<|>")[0]) + len(text) - len(document.data)
    strict = cursor_in(engine().document(text), cursor)
    assert verdict(fed(strict, HALF_WRITTEN[case][1].encode())) == COMPLETE


@pytest.mark.parametrize("case", HALF_WRITTEN)
def test_middles_of_the_text_as_it_stands_stay_possible(case):
    left = case.encode().partition(b"<|>")[0]
    document, found = at(case)
    strict = cursor_in(document, len(left))
    completion = strict.shortest_completion
    assert verdict(fed(found.start, completion)) == COMPLETE
    assert verdict(fed(found.start, found.start.shortest_completion)) == COMPLETE


@pytest.mark.parametrize("case", GOES_ON)
def test_nothing_is_assumed_where_text_goes_on(case):
    _, found = at(case)
    assert found.relaxed == ()
    assert verdict(fed(found.start, GOES_ON[case].encode())) == COMPLETE


@pytest.mark.parametrize("case", [case for case in GOES_ON if "'''" in case])
def test_a_fault_below_a_string_does_not_open_it_again(case):
    left, _, right = case.encode().partition(b"<|>")
    document = engine().document(left + right + b"    return f(x\n\ndef g(): 0\n")
    found = document.middle(len(left), len(left), may_escape=False, relax=True)
    assert found.relaxed
    assert all(repair.start >= len(left + right) for repair in found.relaxed)
    assert verdict(fed(found.start, GOES_ON[case].encode())) == COMPLETE


@pytest.mark.parametrize("case", TYPED)
def test_a_statement_that_has_started_can_be_written_to_its_end(case):
    _, found = at(case)
    assert verdict(fed(found.start, TYPED[case].encode())) == COMPLETE


@pytest.mark.parametrize("case", list(HALF_WRITTEN)[::4])
def test_masks_allow_either_reading(case):
    middles = [middle.encode() for middle in HALF_WRITTEN[case]]
    texts = [b"", *middles, b")", b"]", b"x", b" ", b"\n", b"?", b"return", b"'''"]
    vocabulary = Vocabulary([*texts, None], stops=[len(texts)])
    _, found = at(case)
    allowed = found.start.allowed_texts(vocabulary)
    assert [bool(allowed[n]) for n, text in enumerate(vocabulary.texts)] == [
        fed(found.start, text) is not None for text in vocabulary.texts
    ]
    assert found.start.mask(vocabulary).any()


@pytest.mark.parametrize("case", [case for case in HALF_WRITTEN if "\\\n" not in case])
def test_keys_lead_where_a_new_document_is(case):
    """Each key keeps or makes anew the two readings, as in a document that starts with the text."""
    left, right = case.encode().split(b"<|>")
    statement = HALF_WRITTEN[case][1].encode()
    document = engine().document(left + right)
    for size in range(len(statement)):
        cursor = len(left) + size
        found = document.middle(cursor, cursor, relax=True)
        assert verdict(fed(found.start, statement[size:])) == COMPLETE
        document.edit(cursor, cursor, statement[size : size + 1])


def test_the_reading_that_goes_on_is_checked_at_the_level_compile():
    """A second argument of one name is refused there; elsewhere its fault is ignored, and told."""
    left, right = b"def f(a, a): 0\ng(b=1,\n", b"\nx = 1\n"
    document = Engine(python((3, 11), "compile")).document(left + right)
    found = document.middle(len(left), len(left), relax=True)
    assert verdict(fed(found.start, b"c=1)")) == COMPLETE
    assert verdict(fed(found.start, b"c = 1")) == COMPLETE
    assert verdict(fed(found.start, b"b=1)")) != COMPLETE
    assert fed(found.start, b"b=1)") is None
    assert [document.data[fault.spans[0][0] :][:4] for fault in found.ignored] == [b"a, a"]
