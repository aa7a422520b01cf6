"""Corrections in finished files: the documents before and at the cursor."""

from random import Random

import pytest

from fimlsp.datasets.shown.writing.corrections import CORRECTIONS, draw_corrections, spots_of

from .packages import NEW, write

SOURCE = "def first():\n    return lengthy(1)\n"

# the kind, and all documents that a draw may give at `lengthy`: their last cursor, and the text before it
LAST = {
    "mend-inside": {f"return {'lengthy'[:n]}|{'lengthy'[n:]}(1)" for n in range(1, 7)},
    "mend-name": {f"return {'lengthy'[:n]}|(1)" for n in range(2, 7)},
    "mend-typo": {f"return {'lengthy'[: n + 1]}|{'lengthy'[n + 1 :]}(1)" for n in range(1, 6)},
    "mend-deleted": {"return |(1)"},
    "mend-below": {"return lengthy(1)\n    |"},
}


@pytest.mark.parametrize("kind", CORRECTIONS)
def test_the_cursor_is_where_the_correction_ends(kind):
    found = set()
    for seed in range(100):
        correction = CORRECTIONS[kind](SOURCE, spots_of(SOURCE), Random(seed))
        left, right = correction.documents[-1]
        if len(left) > len("def first():\n"):
            found.add(f"{left}|{right}".removeprefix("def first():\n    ").removesuffix("\n"))
    assert found == LAST[kind]


def test_words_are_deleted_letter_by_letter():
    correction = CORRECTIONS["mend-deleted"]("first = 1\n", spots_of("first = 1\n"), Random(0))
    assert [left for left, _ in correction.documents] == ["first", "firs", "fir", "fi", "f", ""]
    assert correction.deleted == ("first",)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("def f():\n    return 1\n", ["    return 1"]),
        ("def f():\n    return (\n        1)\n", ["        1)"]),
        (
            "while x:\n    if y:\n        break\n    else:\n        continue\n",
            ["        break", "        continue"],
        ),
        ("import sys\nsys.exit(1)\n", ["sys.exit(1)"]),
        ("def f():\n    return 1\n    x = 2\n", []),
        ("try:\n    raise E\nexcept E:\n    raise\n", ["    raise E", "    raise"]),
        ("x = exit\n", []),
    ],
)
def test_nothing_runs_below_jumps_that_end_a_block(text, lines):
    assert sorted(text[:end].rpartition("\n")[2] for end in spots_of(text).jumps) == sorted(lines)


@pytest.mark.parametrize("text", ["", "x = 1\n", "'unfinished'\n"])
def test_a_file_without_spots_has_no_corrections(text):
    assert all(draw(text, spots_of(text), Random(0)) is None for draw in CORRECTIONS.values())


def test_corrections_are_drawn_in_all_folders(tmp_path):
    folders = [write(tmp_path / name, NEW) for name in ("1", "2")]
    projects = draw_corrections(folders, 20, 0)
    assert [project.folder for project in projects] == folders
    assert {place.kind for project in projects for place in project.places} == set(CORRECTIONS)
    newlines = {
        writing.newline
        for seed in range(9)
        for project in draw_corrections(folders, 9, seed)
        for writing in project.writings
    }
    assert newlines == {"\n", "\r\n"}
