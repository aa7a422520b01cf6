"""A run of `fimlsp replay judge --edits` or `--typing`; each answer is saved at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from fimlsp.datasets.plan import Plan
from fimlsp.datasets.run_folder import RESULTS, SavedRun, read_rows
from fimlsp.datasets.shown.editor import Editor, OpenText, Reply
from fimlsp.datasets.shown.verdict import with_body
from fimlsp.datasets.shown.writing.answers import Answer
from fimlsp.datasets.shown.writing.faults import TypeVerdicts
from fimlsp.datasets.shown.writing.places import Place, Project, Step, Writing


@dataclass(frozen=True, slots=True)
class WritingPlan(Plan):
    """The plan of a run: the pairs of releases in *edits* and the folders in *typing*, by their names.

    The other fields are as in `fimlsp.datasets.shown.run.ShownPlan`.
    """

    edits: tuple[str, ...]
    typing: tuple[str, ...]
    seed: int
    options: Mapping[str, object]
    model: str
    fimlsp: str
    code: str


Save: TypeAlias = Callable[[Writing, Step, Place, Reply], None]
"""Receives the answer at a place of a step."""

WritingRun: TypeAlias = SavedRun[WritingPlan, Answer]


def read_run(folder: Path) -> WritingRun:
    """The run in *folder*.

    Raises:
        RunFolderError: there is none, or it is damaged.
    """
    return SavedRun.read(folder, WritingPlan, Answer.from_json)


def ask_in_project(editor: Editor, project: Project, out: Path, report: Callable[[Answer], None]) -> None:
    """Write the files of *project*, save the answers that *out* lacks, and pass each to *report*.

    Raises:
        EditorError: the server has ended; the answers so far are saved.
    """
    done = {str(row["record"]["case"]) for row in read_rows(out / RESULTS)}
    with (
        (out / RESULTS).open("a", encoding="utf-8") as results,
        closing(TypeVerdicts(project.folder)) as types,
    ):

        def save(writing: Writing, step: Step, place: Place, reply: Reply) -> None:
            left, right = in_its_line_ends(writing, step)
            above = "" if writing.cell is None else writing.cell.above
            text = reply.texts[0] if reply.texts else None
            whole = None if text is None else with_body(text, is_header=reply.is_header)
            fault = None if whole is None else types.has_fault(writing.path, above + left, whole, right)
            answer = Answer.of(place, step, reply, writing.newline, fault)
            results.write(json.dumps(answer.to_json()) + "\n")
            results.flush()
            report(answer)

        write_project(editor, project, done, save)


def write_project(editor: Editor, project: Project, done: set[str], save: Save) -> None:
    """Write the files of *project*, and pass the answers at places that are not *done* to *save*.

    Raises:
        EditorError: the server has ended.
    """
    for writing in project.writings:
        if project.keeps_open or any(place.case not in done for place in writing.places):
            document = _write(editor, writing, done, save)
            if not project.keeps_open:
                document.close()


def _write(editor: Editor, writing: Writing, done: set[str], save: Save) -> OpenText:
    """Take the steps of *writing*, with requests at the places that are not *done*."""
    opened = in_its_line_ends(writing, next(writing.steps()))
    open_document = editor.open if writing.cell is None else editor.open_cell
    document = open_document(writing.path, *opened)
    for step in writing.steps():
        document.change(*in_its_line_ends(writing, step))
        if step.waits:
            document.wait_for_names()
        if step.place is not None and step.place.case not in done:
            done.add(step.place.case)
            save(writing, step, step.place, document.ask())
    return document


def in_its_line_ends(writing: Writing, step: Step) -> tuple[str, str]:
    """The text left and right of the cursor at *step*, with the line ends of the real document."""
    left, right = (text.replace("\n", writing.newline) for text in (step.left, step.right))
    return left, right
