"""Deleted texts that would come back, and changes that would be made again, after the edits of a text."""

from __future__ import annotations

from itertools import pairwise

import pytest

from fimlsp.lsp_server.documents import difference
from fimlsp.lsp_server.last_edits import (
    LONGEST_CHANGE,
    MOST_SUBSTITUTIONS,
    MOST_TEXTS,
    LastEdits,
    RepeatedChanges,
    brings_back,
)
from fimlsp.quotient.contexts.replacement import Replacement

URI, OTHER = "file:///a.py", "file:///b.py"


def edited(*texts, edits=None, uri=URI):
    """The edits that lead from each of *texts* to the next; the last one's sides of the cursor."""
    edits = edits or LastEdits()
    texts = [text.encode() for text in texts]
    plain = [text.replace(b"<|>", b"") for text in texts]
    for before, after in pairwise(plain):
        edits.edited(uri, before, difference(before, after))
    left, _, right = texts[-1].partition(b"<|>")
    return edits, left, right


def backspaces(left, deleted, right):
    """The texts while *deleted* is deleted with Backspace."""
    return [f"{left}{deleted[:n]}<|>{right}" for n in range(len(deleted), -1, -1)]


# the texts, and those that would bring deleted text back at the cursor of the last one
DELETED = {
    "a word": (backspaces("x = ", "name", "\n"), ["name"]),
    "with Delete": (["x = <|>name", "x = <|>ame", "x = <|>me", "x = <|>"], ["name"]),
    "at once": (["x = name.first<|>\n", "x = name<|>\n"], [".first"]),
    "a line": (["a = 1\nb = 2\nc\n", "a = 1\n<|>c\n"], ["b = 2\n"]),
    "a line, and Enter above": (["a = 1\nb = 2\nc\n", "a = 1\nc\n", "a = 1\n<|>\nc\n"], ["b = 2\n"]),
    "its start is typed again": (["f(name)", "f()", "f(na<|>)"], ["me"]),
    "something else is typed": (["f(name)", "f()", "f(x<|>)"], []),
    "replaced": (["f(name)", "f(n<|>)"], ["ame"]),
    "typed and deleted": (["f()", "f(ab)", "f(<|>)"], ["ab"]),
    "typed over and deleted": (["f(name)", "f()", "f(xy)", "f(<|>)"], ["name", "xy"]),
    "after text above": (["a\nf(name)\n", "a\nf()\n", "abc\nf(<|>)\n"], ["name"]),
    "elsewhere": (["f(name)\ng()\n", "f()\ng(<|>)\n"], []),
    "written back": (["f(name)", "f()", "f(name)", "f(name<|>)"], []),
    "the second of two lines": (["a = 1\nb = 2\n", "\n", "a = 3\nb<|>\n"], [" = 2"]),
    "blanks": (["f(a,  b)", "f(a,<|>b)"], []),
}


@pytest.mark.parametrize("name", DELETED)
def test_deleted_texts(name):
    texts, expected = DELETED[name]
    edits, left, right = edited(*texts)
    deleted = edits.at(URI, left + right, len(left)).deleted
    assert sorted(map(bytes.decode, deleted)) == sorted(expected)
    assert edits.at(OTHER, left + right, len(left)).deleted == ()


BACK = [
    ("name", "name", True),
    ("name.first", "name", True),
    ("name", "name.first", True),
    (" name", "name", True),
    ("names", "name", False),
    ("na", "name", False),
    ("x", "name", False),
    ("name", "", False),
]


@pytest.mark.parametrize(("text", "deleted", "expected"), BACK)
def test_texts_that_bring_deleted_text_back(text, deleted, expected):
    assert brings_back(text.encode(), [deleted.encode()]) is expected


CALLS = "f(old)\ng(old)\nh(old)\n"
FIRST, AGAIN = "f(new)\ng(old)\nh(old)\n", "f(new)\ng(<|>)\nh(old)\n"
METHODS = "    def a(self, one): pass\n    def b(self, one): pass\n"
MORE = METHODS.replace("a(self", "a(self, two")
TYPED = METHODS.replace("a(self, ", "a(self, two, ")

# the texts, and the likeliest text to insert at the cursor of the last one
REPEATED = {
    "a rename": ([CALLS, FIRST, AGAIN], "new"),
    "begun": ([CALLS, FIRST, AGAIN, AGAIN.replace("<", "n<")], "ew"),
    "key by key": ([CALLS, "f()\ng(old)\nh(old)\n", "f(ne)\ng(old)\nh(old)\n", FIRST, AGAIN], "new"),
    "in several lines at once": ([CALLS, "f(new)\ng(new)\nh(old)\n", "f(new)\ng(new)\nh(<|>)\n"], "new"),
    "of another name": ([CALLS + "k(x)", FIRST + "k(x)", FIRST + "k(<|>)"], None),
    "signs only": (["a + b\nc + d\n", "a - b\nc + d\n", "a - b\nc <|> d\n"], None),
    "typed otherwise": ([CALLS, FIRST, AGAIN, AGAIN.replace("<", "x<")], None),
    "a parameter": ([METHODS, MORE, MORE.replace("b(self", "b(self<|>")], ", two"),
    "before the next one": ([METHODS, TYPED, TYPED.replace("b(self, ", "b(self, <|>")], "two, "),
    "in another line": ([METHODS, MORE, MORE + "x(self<|>"], None),
}


@pytest.mark.parametrize("name", REPEATED)
def test_changes_that_are_made_again(name):
    texts, expected = REPEATED[name]
    edits, left, right = edited(*texts)
    found = RepeatedChanges.at(edits.at(URI, left + right, len(left)), left, right)
    typed = b"" if found is None else left[len(left) - found.back :]
    rests = {} if found is None else found.after(typed)
    assert (max(rests, key=rests.get).decode() if rests else None) == expected


def test_a_change_in_one_file_is_made_again_in_another():
    edits, *_ = edited("f(old)", "f(new)")
    edits, left, right = edited("g(old)", "g(<|>)", edits=edits, uri=OTHER)
    found = RepeatedChanges.at(edits.at(OTHER, left + right, len(left)), left, right)
    assert found is not None
    assert found.after(b"") == {b"new": pytest.approx(1 / 1.15)}


def test_a_name_that_was_replaced_in_two_ways_is_less_sure():
    edits, *_ = edited("f(old)\ng(old)\n", "f(new)\ng(other)\n")
    edits, left, right = edited("g(old)", "g(<|>)", edits=edits, uri=OTHER)
    found = RepeatedChanges.at(edits.at(OTHER, left + right, len(left)), left, right)
    assert found is not None
    assert sorted(found.texts.values()) == [pytest.approx(1 / 2.15)] * 2


def test_a_closed_document_keeps_its_changes_but_not_its_deletions():
    edits, left, right = edited("f(old)\n", "f()\n", "f(<|>)\n")
    edits.forget(URI)
    assert edits.at(URI, left + right, len(left)).deleted == ()
    edits, *_ = edited("f(old)", "f(new)")
    edits.forget(URI)
    assert len(edits.at(OTHER, b"", 0).substitutions) == 1


def test_changed_pieces_of_text_are_kept_but_not_the_one_at_the_cursor():
    edits, *_ = edited("a = 1\n", "a = 22\n")
    edits, left, right = edited("b = 3\n", "b = 44<|>\n", edits=edits, uri=OTHER)
    assert edits.at(OTHER, left + right, len(left)).texts == (b"a = 22\n",)
    assert edits.at(URI, b"", 90).texts == (b"a = 22\n", b"b = 44\n")


def test_little_is_kept():
    edits, data = LastEdits(), b"ab\n" * 500
    for line in range(0, 1200, 6):
        edits.edited(URI, data, Replacement(line, line + 1, b"cde"))
        data = Replacement(line, line + 1, b"cde").applied_to(data)
    recent = edits.at(URI, data, len(data))
    assert len(recent.substitutions) == MOST_SUBSTITUTIONS + 1
    assert len(recent.texts) == MOST_TEXTS + 1


def test_a_long_change_is_not_kept():
    edits = LastEdits()
    edits.edited(URI, b"", Replacement(0, 0, b"x" * (LONGEST_CHANGE + 1)))
    assert edits.at(OTHER, b"", 0).texts == ()
