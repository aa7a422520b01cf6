"""`fimlsp replay judge`: the real server at drawn cursors, with progress on the terminal, and its report."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fimlsp import __version__
from fimlsp.datasets.reports.pages import number
from fimlsp.datasets.runs.plan import ROOMS, about, code_digest
from fimlsp.datasets.runs.run_folder import RunFolder
from fimlsp.datasets.shown.cursors import Cursor, EditedFile, draw_cursors, read_files, workspace_of
from fimlsp.datasets.shown.editor import Editor, EditorError
from fimlsp.datasets.shown.report import Judged, write_report
from fimlsp.datasets.shown.run import ask_all, read_run
from fimlsp.datasets.shown.summary import Summary
from fimlsp.datasets.shown.verdict import Shown
from fimlsp.datasets.sources.source import SourceError

INTERRUPTED = 130


def judge_server(
    folders: Sequence[Path], out: Path, n: int, seed: int, options: Mapping[str, object]
) -> None:
    """Ask at *n* cursors in the files of *folders*, keep what came in *out*, and report.

    Raises:
        click.ClickException: there is nothing to ask about, or the server cannot be used.
        RunFolderError: *out* holds another run.
    """
    console = Console(stderr=True)
    try:
        cursors = list(draw_cursors(read_files(folders), n, seed))
        if not cursors:
            raise click.ClickException("There are no Python files to draw cursors from.")
        with Editor(workspace_of(folders), options, console.print) as editor:
            command = shlex.join(["fimlsp", *sys.argv[1:]])
            plan = {
                "folders": [folder.name for folder in folders],
                "seed": seed,
                "options": dict(options),
                "model": editor.model,
                "fimlsp": __version__,
                "code": code_digest((*ROOMS, "lsp_server")),
            }
            RunFolder(out).claim(plan, {**about([], 1), "command": command})
            _ask_with_progress(editor, cursors, out, console)
    except (EditorError, SourceError) as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        console.print("interrupted; the same command goes on.")
        raise SystemExit(INTERRUPTED) from None
    write_report([Judged.read(out)], out)
    console.print(f"wrote {out / 'report.md'}, {out / 'report.html'} and {out / 'examples.md'}")


def _ask_with_progress(
    editor: Editor, cursors: Sequence[tuple[EditedFile, Cursor]], out: Path, console: Console
) -> None:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    answers = read_run(out)
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("cursors", total=len(cursors), completed=len(answers))

        def report(shown: Shown) -> None:
            answers.append(shown)
            found = Summary.of(answers)
            right = number(100 * (found.right or 0.0))
            bar.update(task, advance=1, description=f"{found.shown} shown, {right} % wholly right")

        ask_all(editor, cursors, out, report)
