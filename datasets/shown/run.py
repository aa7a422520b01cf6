"""A run of the judge: every cursor is asked once, and what came is on disk before the next one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

from fimlsp.datasets.runs.run_folder import RunFolderError, read_rows
from fimlsp.datasets.shown.cursors import Cursor, EditedFile
from fimlsp.datasets.shown.editor import Editor
from fimlsp.datasets.shown.verdict import Shown, judge

RESULTS = "results.jsonl"
BEFORE = 300
"""Characters left of the cursor that are kept for readers."""


def ask_all(
    editor: Editor,
    cursors: Sequence[tuple[EditedFile, Cursor]],
    out: Path,
    report: Callable[[Shown], None],
) -> None:
    """Ask at each of the *cursors* that has no result in *out* yet; *report* hears of each that is done.

    Raises:
        EditorError: the server has died; what is done stays done.
    """
    done = {str(row["record"]["case"]) for row in read_rows(out / RESULTS)}
    with (out / RESULTS).open("a", encoding="utf-8") as results:
        for edited, cursor in cursors:
            if cursor.case not in done:
                shown = ask(editor, edited, cursor)
                results.write(json.dumps(shown.to_json()) + "\n")
                results.flush()
                report(shown)


def ask(editor: Editor, edited: EditedFile, cursor: Cursor) -> Shown:
    """What is shown at *cursor*, judged."""
    text = edited.file.content
    left, truth, right = text[: cursor.start], text[cursor.start : cursor.end], text[cursor.end :]
    reply = editor.suggestion(edited.path, left, right)
    written = reply.texts[0] if reply.texts else None
    verdict = None if written is None else judge(cursor, written, text, reply.closing)
    before = left[-BEFORE:]
    status, reason, names, ms = reply.status, reply.reason, reply.names, round(reply.ms, 1)
    return Shown(cursor.to_json(), truth, before, written, status, reason, names, ms, verdict, reply.closing)


def read_run(folder: Path) -> list[Shown]:
    """The results of the run in *folder*.

    Raises:
        RunFolderError: there are none, or they are of another version.
    """
    try:
        return [Shown.from_json(row) for row in read_rows(folder / RESULTS)]
    except (KeyError, TypeError) as error:
        raise RunFolderError(f"{folder / RESULTS} is of another version of fimlsp ({error}).") from error
