"""Real edits between two releases: the places, and the documents on the way to them."""

from random import Random

import pytest

from fimlsp.datasets.shown.writing.edits import EDITS, Hunk, draw_edits, edited_project

from .packages import NEW, OLD, write

PATH = "shop/prices.py"


@pytest.fixture
def pair(tmp_path):
    return write(tmp_path / "1", OLD), write(tmp_path / "2", NEW)


def test_only_code_of_files_in_both_releases_is_written(pair):
    (file,) = edited_project(*pair)
    assert file.path == pair[0] / "prices.py"
    written = [file.new[row].strip() for row, _ in file.rows]
    assert written == [
        "import math",
        "def total(items, rate):",
        "return math.ceil(result * rate)",
        "def load(path):",
        '"""A string of',
        "with open(path) as file:",
        "return json.load(file)",
    ]


def test_above_a_place_is_new_and_below_is_old(pair):
    (project,) = draw_edits([pair], 60, 0)
    (writing,) = project.writings
    old, new = OLD[PATH], NEW[PATH]
    steps = list(writing.steps())
    assert steps[0].left + steps[0].right == old
    assert steps[-1].left + steps[-1].right == new
    asked = [step for step in steps if step.place]
    assert [step.place for step in asked] == list(writing.places)
    assert {place.kind for place in writing.places} == set(EDITS)
    for step in asked:
        assert step.waits
        assert new.startswith(step.left)
        assert old.endswith(step.right.partition("\n")[2])
        assert new[len(step.left) :].startswith(step.place.truth)
        assert 0 < step.place.stop <= len(step.place.truth)


def test_a_changed_line_keeps_its_common_end(pair):
    (project,) = draw_edits([pair], 60, 0)
    changes = {
        (step.left.rpartition("\n")[2], step.place.truth, step.right.partition("\n")[0], step.place.deleted)
        for step in project.writings[0].steps()
        if step.place and step.place.kind == "edit-change"
    }
    assert changes == {
        ("def total(items", ", rate", "):", ("def total(items):",)),
        ("def total(items,", " rate", "):", ("def total(items):",)),
        ("def total(items, ", "rate", "):", ("def total(items):",)),
    }


def test_the_line_is_typed_word_by_word(pair):
    (project,) = draw_edits([pair], 60, 0)
    line = "    return math.ceil("
    typed = [step.left.rpartition("\n")[2] for step in project.writings[0].steps() if step.waits]
    position = typed.index(line)
    assert typed[position - 5 : position + 1] == [
        "    return",
        "    return ",
        "    return math",
        "    return math.",
        "    return math.ceil",
        line,
    ]


def test_more_places_keep_the_first_ones(pair):
    few, many = (
        {place.case for project in draw_edits([pair], n, 3) for place in project.places} for n in (6, 30)
    )
    assert few < many
    assert few != {place.case for project in draw_edits([pair], 6, 4) for place in project.places}


@pytest.mark.parametrize(("row", "replaced", "below"), [(5, 2, 3), (6, 3, 4), (7, None, 4)])
def test_lines_are_replaced_one_by_one(row, replaced, below):
    hunk = Hunk(range(2, 4), range(5, 9))
    assert (hunk.replaced(row), hunk.below(row)) == (replaced, below)


def test_equal_releases_have_no_places(pair):
    assert draw_edits([(pair[0], pair[0])], 10, 0) == []


def test_a_line_that_keeps_little_is_not_changed(pair):
    (file,) = edited_project(*pair)
    rows = {file.new[row].strip(): (row, hunk) for row, hunk in file.rows}
    row, hunk = rows["return math.ceil(result * rate)"]
    assert EDITS["edit-change"](file, row, hunk, Random(0)) is None
