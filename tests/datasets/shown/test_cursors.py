"""The cuts of each kind of cursor, and their reproducible draws."""

from pathlib import Path
from random import Random

import pytest

from fimlsp.datasets.shown.cursors import KINDS, EditedFile, draw_cursor, draw_cursors, read_files
from fimlsp.datasets.sources import SourceFile

SOURCE = '''\
import os  # the system


@cached
def area(width, height=1):
    """Of a box: é."""
    if width:
        total = width * height
        print(
            total)
    return total


def name(): return "é" + str(os)
'''

CUTS = {
    "whole-line": {"import os", '"""Of a box: é."""', "total = width * height", "return total"},
    "bracket": {"width, height=1", "os"},
    "body": {
        "if width:\n        total = width * height\n        print(\n            total)\n    return total"
    },
}


def drawn(kind, text=SOURCE, n=300):
    file = SourceFile.of("a.py", text)
    cursors = [draw_cursor(file, kind, Random(seed)) for seed in range(n)]
    return {(cursor, file.text[cursor.start : cursor.end]) for cursor in cursors if cursor is not None}


@pytest.mark.parametrize("kind", ["whole-line", "bracket", "body"])
def test_whole_pieces_are_cut_out(kind):
    assert {truth for _, truth in drawn(kind)} == CUTS[kind]


def test_the_rest_of_a_block_leaves_its_first_statement():
    truths = {truth for _, truth in drawn("block")}
    body = next(iter(CUTS["body"]))
    assert truths == {"print(\n            total)", body, "return total"}


def test_a_word_is_begun_and_its_statement_ends_the_cut():
    truths = {truth for _, truth in drawn("word")}
    assert "mport os" in truths
    assert "tal = width * height" in truths
    assert "otal" in truths
    assert all("\n" not in truth and "#" not in truth for truth in truths)


def test_the_rest_of_a_line_begins_between_words():
    text = SourceFile.of("a.py", SOURCE).text
    for cursor, truth in drawn("line"):
        assert text[cursor.end] == "\n"
        assert "\n" not in truth
        assert not (text[cursor.start - 1].isalnum() and text[cursor.start].isalnum())
        assert text[: cursor.start].rpartition("\n")[2].strip()


@pytest.mark.parametrize(
    ("kind", "truth", "column"),
    [
        ("whole-line", "total = width * height", 8),
        ("body", next(iter(CUTS["body"])), 4),
        ("line", "total)", None),
        ("block", "print(\n            total)", 8),
    ],
)
def test_the_column_is_that_of_the_statement(kind, truth, column):
    columns = {cursor.column for cursor, cut in drawn(kind) if cut == truth}
    assert columns <= {column if column is not None else 8}


def test_the_column_within_brackets_is_that_of_their_statement():
    text = SourceFile.of("a.py", SOURCE).text
    (cursor,) = [cursor for cursor, _ in drawn("line") if text[: cursor.start + 1].endswith("total)")]
    assert cursor.column == 8


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["", "\n\n", "x\n", "# é\n", "class A: ...\n"])
def test_small_files_give_few_cursors_or_none(kind, text):
    for cursor, truth in drawn(kind, text, 20):
        assert truth.strip()
        assert cursor.kind == kind


def test_the_same_seed_draws_the_same_and_more_adds_to_it(tmp_path):
    files = files_in(tmp_path)
    few, many = ([cursor for _, cursor in draw_cursors(files, n, 3)] for n in (24, 60))
    assert many[: len(few)] == few
    assert len({cursor.case for cursor in many}) == len(many)
    assert {cursor.kind for cursor in many} == set(KINDS)
    assert [cursor for _, cursor in draw_cursors(files, 24, 4)] != few


def test_files_are_read_once_and_where_they_lie(tmp_path):
    (tmp_path / "bad.py").write_text("print 1\n")
    (tmp_path / "again.py").write_text(SOURCE)
    files = files_in(tmp_path)
    assert [edited.path for edited in files] == [tmp_path / "again.py"]
    assert all(isinstance(edited, EditedFile) for edited in files)
    assert all(edited.path.read_text() == edited.file.content for edited in files)


def files_in(folder: Path):
    (folder / "box.py").write_text(SOURCE)
    return read_files([folder])
