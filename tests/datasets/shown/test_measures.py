"""The meaning of each measure, by small cases."""

import pytest

from fimlsp.datasets.shown.measures import is_exact, leaves_block, repeats, saved, undefined_names
from fimlsp.models.learnt import agreeing, begins_right, is_wholly_right


@pytest.mark.parametrize(
    ("text", "truth", "agreed"),
    [
        ("", "x", 0),
        ("size", "size", 4),
        ("size + 1", "size - 1", 4),
        ("size", "sizes", 0),
        ("size_of", "size", 0),
        ("a(b", "a(bc)", 2),
        ("a)]", "a)", 1),
        (" = 1", " = 1", 4),
        (" = 12", " = 1", 2),
        ("x\n    y", "x\n    y\n", 7),
        ("x\n  y", "x\n    y", 1),
        ("é + ö", "é + öl", 3),
    ],
)
def test_words_agree_as_long_as_they_stand_there_whole(text, truth, agreed):
    assert agreeing(text, truth) == agreed


@pytest.mark.parametrize(
    ("text", "truth", "right"),
    [
        ("", "x", False),
        ("  ", "x", False),
        ("self.a", "self.a + 1", True),
        ("self.a \n", "self.a", True),
        ("self.a", "self.ab", False),
        ("self.a\nmore", "self.a", False),
        ("a\n    b", "a\n    b\n    c", True),
    ],
)
def test_a_text_is_right_as_far_as_it_goes(text, truth, right):
    assert is_wholly_right(text, truth) is right


@pytest.mark.parametrize(
    ("text", "truth", "within_line", "exact"),
    [
        ("a, b", "a, b", True, True),
        ("a, b ", "a, b", True, True),
        ("a", "a, b", True, False),
        ("a, b\nc", "a, b", True, False),
        ("a\nb", "a\nc", False, True),
        ("a", "a\nc", False, True),
        ("a + 1", "a\nc", False, False),
        ("", "", False, False),
    ],
)
def test_exact_is_the_whole_cut_or_its_first_line(text, truth, within_line, exact):
    assert is_exact(text, truth, within_line) is exact


@pytest.mark.parametrize(
    ("text", "truth", "right"),
    [
        ("self.x", "self.y", True),
        ("sel", "sel", True),
        ("sel + 1", "sel", True),
        ("a.c", "a.b = 3", False),
        ("a.b", "a.b = 3", False),
        ("a.bcd", "a.bcd = 3", True),
        ("    x = 1", "    x = 2", False),
    ],
)
def test_a_text_begins_right_by_four_characters_or_all_there_are(text, truth, right):
    assert begins_right(text, truth) is right


@pytest.mark.parametrize(
    ("text", "truth", "characters"),
    [
        ("self.x = 1", "self.y = 1", 5),
        ("x = 1\n        y = 2", "x = 1\n        y = 3", 8),
        ("nothing", "else", 0),
    ],
)
def test_indentation_saves_nothing(text, truth, characters):
    assert saved(text, truth) == characters


@pytest.mark.parametrize(
    ("text", "column", "leaves"),
    [
        ("x", 4, False),
        ("x\ny", 4, True),
        ("x\n    y", 4, False),
        ("x\n\n    y", 4, False),
        ("x\n  y", 4, True),
        ("x\n", 4, False),
    ],
)
def test_a_line_left_of_the_block_leaves_it(text, column, leaves):
    assert leaves_block(text, column) is leaves


CLASS = "class A:\n    def one(self):\n        return 1\n\n    "


@pytest.mark.parametrize(
    ("left", "text", "right", "truth", "is_repetition"),
    [
        ("a = 1\n", "a = 1", "\n", "b", True),
        ("a = 1\nb\nc\nd\n", "a = 1", "\n", "e", True),
        ("a = 1\nb\nc\nd\ne\n", "a = 1", "\n", "f", False),
        ("", "a = 1", "\nb\na = 1\n", "c", True),
        ("", "a = 1", "\nb\nc\nd\ne\na = 1\n", "f", False),
        ("a = 1\n", "a = 1", "\n", "a = 1", False),
        ("a = 1\na ", "= 1", "\n", "= 2", True),
        ("f(\n)\ng(\n", ")", "\n", "x)", False),
        ("try:\n    pass\nexcept A:\n    ", "pass", "\n", "f()", False),
        ("x\n", "y = 1\ny = 1", "\n", "z", True),
        (CLASS, "def one(self):\n        return 2", "\n", "def two(self): ...", True),
        (CLASS, "def two(self):\n        return 2", "\n", "def three(self): ...", False),
        (CLASS.rstrip(" "), "def one():\n    return 2", "\n", "x", False),
        ("", "class B: pass", "\nb\nc\nd\ne\nf\nclass B: ...\n", "x", True),
        (CLASS, "x = 1", "\n\n\nclass B:\n    def x(self): ...\n", "y", False),
    ],
)
def test_what_stands_there_already_is_a_repetition(left, text, right, truth, is_repetition):
    assert repeats(left, text, right, truth) is is_repetition


@pytest.mark.parametrize(
    ("left", "text", "right", "names"),
    [
        ("a = 1\n", "print(a)", "\n", set()),
        ("a = 1\n", "print(b)", "\n", {"b"}),
        ("print(c)\n", "print(b)", "\nprint(d)\n", {"b"}),
        ("", "[x for x in range(3)]", "\n", set()),
        ("from a import *\n", "print(b)", "\n", set()),
        ("def f():\n    ", "print(x)\n    x = 1", "\n", {"x"}),
        ("é = 'ü'; ", "b, é", "\n", {"b"}),
        ("", "print(", "\n", set()),
    ],
)
def test_undefined_names_are_those_of_the_text(left, text, right, names):
    assert undefined_names(left, text, right) == names
