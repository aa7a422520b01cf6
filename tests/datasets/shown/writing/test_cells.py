"""Notebooks written cell by cell: the cells that are read, and the documents that the server gets."""

import json

import pytest

from fimlsp.datasets.shown.writing.cells import KINDS, draw_cells, read_notebooks
from fimlsp.datasets.sources import SourceError

from .test_run import asked

CELLS = [
    ["import os\n", "path = os.getcwd()"],
    ["%matplotlib inline\n", "x = 1"],
    ["def names(path):\n", "    return os.listdir(path)\n", "\n", "names(path)"],
]


def notebook(*cells, language="python"):
    code = [{"cell_type": "code", "source": lines} for lines in cells]
    text = {"cell_type": "markdown", "source": ["text = 1\n"]}
    return json.dumps({"cells": [text, *code, text], "metadata": {"kernelspec": {"language": language}}})


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "notebooks"
    (folder / "more").mkdir(parents=True)
    (folder / "more" / "a.ipynb").write_text(notebook(*CELLS))
    (folder / "r.ipynb").write_text(notebook(["x <- 1"], language="R"))
    (folder / "text.ipynb").write_text(notebook("y = 1"))
    return folder


def test_code_cells_of_python_notebooks(folder):
    cells = read_notebooks(folder)
    assert [(str(cell.notebook), cell.number, cell.order is None) for cell in cells] == [
        ("more/a.ipynb", 1, False),
        ("more/a.ipynb", 2, True),
        ("more/a.ipynb", 3, False),
        ("text.ipynb", 1, False),
    ]
    assert [cell.text for cell in cells[-2:]] == ["".join(CELLS[2]), "y = 1"]


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"cells": 1, "metadata": []}', "é"])
def test_a_file_that_is_no_notebook_is_named(folder, text):
    (folder / "b.ipynb").write_text(text, encoding="latin-1")
    with pytest.raises(SourceError, match=r"Cannot read the notebook .*b\.ipynb"):
        read_notebooks(folder)


def test_each_kind_in_the_cells_that_are_python(folder, tmp_path):
    project = draw_cells(folder, tmp_path / "empty", 16, 0)
    assert {place.kind for place in project.places} == set(KINDS)
    last = [list(writing.steps())[-1] for writing in project.writings]
    assert [step.left + step.right for step in last] == [*map("".join, CELLS), "y = 1"]
    assert [writing.cell.above for writing in project.writings] == [
        "",
        "".join(CELLS[0]) + "\n",
        "".join(CELLS[0]) + "\n",
        "",
    ]
    assert not project.writings[1].places
    assert project.places == draw_cells(folder, tmp_path / "empty", 16, 0).places


def test_the_server_gets_cells_of_notebooks(folder, tmp_path):
    (folder / "text.ipynb").unlink()
    project = draw_cells(folder, tmp_path / "empty", 8, 0)
    answers, closed = asked(project, tmp_path / "out")
    assert len(answers) == len(project.places)
    assert closed == []
    for answer in answers:
        above, _, line = answer.shown.before.rpartition("\n")
        row = above.count("\n") + ("\n" in answer.shown.before)
        assert answer.shown.text == f"{row}:{len(line)} 2"
    assert {answer.sort for answer in answers} == {"cell"}


def test_a_folder_without_notebooks_gives_no_places(tmp_path):
    assert draw_cells(tmp_path, tmp_path / "empty", 4, 0).places == []
