"""A run of `fimlsp replay judge`: the server answers at every cursor, and each answer is saved at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from fimlsp.datasets.plan import Plan
from fimlsp.datasets.run_folder import RESULTS, SavedRun, read_rows
from fimlsp.datasets.shown.cursors import DrawnCursor, EditedFile
from fimlsp.datasets.shown.editor import Editor
from fimlsp.datasets.shown.verdict import Shown, Verdict

BEFORE = 300
"""Characters left of the cursor that are kept for readers."""


@dataclass(frozen=True, slots=True)
class ShownPlan(Plan):
    """The plan of a run: the names of its *folders*, the seed of its cursors, and the server's *options*.

    *code* is the digest of the code that decides the results; see `code_digest`.
    """

    folders: tuple[str, ...]
    seed: int
    options: Mapping[str, object]
    model: str
    fimlsp: str
    code: str


ShownRun: TypeAlias = SavedRun[ShownPlan, Shown]


def read_run(folder: Path) -> ShownRun:
    """The run in *folder*.

    Raises:
        RunFolderError: there is none, or it is damaged.
    """
    return SavedRun.read(folder, ShownPlan, Shown.from_json)


def ask_all(
    editor: Editor,
    cursors: Sequence[tuple[EditedFile, DrawnCursor]],
    out: Path,
    report: Callable[[Shown], None],
) -> None:
    """Save the answers at those *cursors* that have none in *out* yet, and pass each to *report*.

    Raises:
        EditorError: the server has ended; the answers so far are saved.
    """
    done = {str(row["record"]["case"]) for row in read_rows(out / RESULTS)}
    with (out / RESULTS).open("a", encoding="utf-8") as results:
        for edited, cursor in cursors:
            if cursor.case not in done:
                shown = ask(editor, edited, cursor)
                results.write(json.dumps(shown.to_json()) + "\n")
                results.flush()
                report(shown)


def ask(editor: Editor, edited: EditedFile, cursor: DrawnCursor) -> Shown:
    """The server's answer at *cursor*, with the verdict on its text."""
    text = edited.file.content
    left, truth, right = text[: cursor.start], text[cursor.start : cursor.end], text[cursor.end :]
    reply = editor.suggestion(edited.path, left, right)
    suggestion = reply.texts[0] if reply.texts else None
    return Shown(
        record=cursor.to_json(),
        truth=truth,
        before=left[-BEFORE:],
        text=suggestion,
        status=reply.status,
        reason=reply.reason,
        names=reply.names,
        ms=round(reply.ms, 1),
        verdict=None
        if suggestion is None
        else Verdict.of(cursor, suggestion, text, reply.closing, is_header=reply.is_header),
        closing=reply.closing,
        is_header=reply.is_header,
    )
