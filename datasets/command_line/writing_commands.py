"""`fimlsp replay judge --edits` and `--typing`, where files are written, and `compare` of all runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fimlsp import __version__
from fimlsp.datasets.command_line.shown_commands import INTERRUPTED
from fimlsp.datasets.cuts.source import SourceError
from fimlsp.datasets.reports.pages import number
from fimlsp.datasets.runs.plan import PACKAGES, About, code_digest
from fimlsp.datasets.runs.run_folder import RESULTS, RunFolder, RunFolderError, read_results
from fimlsp.datasets.shown import report as report_of_holes
from fimlsp.datasets.shown.editor import Editor, EditorError
from fimlsp.datasets.shown.run import read_run as read_run_of_holes
from fimlsp.datasets.shown.writing import report as report_of_writing
from fimlsp.datasets.shown.writing.answers import Answer, Summary
from fimlsp.datasets.shown.writing.cells import draw_cells
from fimlsp.datasets.shown.writing.corrections import draw_corrections
from fimlsp.datasets.shown.writing.edits import draw_edits
from fimlsp.datasets.shown.writing.from_empty import draw_typing
from fimlsp.datasets.shown.writing.places import Project
from fimlsp.datasets.shown.writing.run import WritingPlan, ask_in_project, read_run


def judge_writing(
    edits: Sequence[tuple[Path, Path]],
    typing: Sequence[Path],
    out: Path,
    n: int,
    seed: int,
    options: Mapping[str, object],
) -> None:
    """Save the server's answers at *n* places of each sort in *out*, and report.

    The sorts are real edits between two releases, pauses in files and in notebooks written from empty, and
    corrections in the files of both.

    Raises:
        click.ClickException: nothing is written in these folders, or the server cannot be used.
        RunFolderError: *out* holds another run.
    """
    console = Console(stderr=True)
    try:
        with ExitStack() as stack:
            roots = [Path(stack.enter_context(TemporaryDirectory())) for _ in typing]
            projects = _projects(edits, typing, roots, n, seed)
            if not projects:
                raise click.ClickException("Cannot draw cursors: the folders have no code that is written.")
            _ask_with_progress(projects, edits, typing, out, seed, options, console)
    except (EditorError, SourceError) as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        console.print("interrupted; the same command continues.")
        raise SystemExit(INTERRUPTED) from None
    report_of_writing.write_report([read_run(out)], out)
    console.print(f"wrote {out / 'report.md'}, {out / 'report.html'} and {out / 'examples.md'}")


def _projects(
    edits: Sequence[tuple[Path, Path]], typing: Sequence[Path], roots: Sequence[Path], n: int, seed: int
) -> list[Project]:
    """The projects with places to judge; *roots* are empty folders, one for each of *typing*."""
    projects = draw_edits(edits, n, seed)
    for draw in (draw_typing, draw_cells):
        for place, (folder, root) in enumerate(zip(typing, roots, strict=True)):
            projects.append(draw(folder, root.resolve(), (n + place) // len(typing), seed))
    projects += draw_corrections([*(old for old, _ in edits), *typing], n, seed)
    return [project for project in projects if project.places]


def _ask_with_progress(
    projects: Sequence[Project],
    edits: Sequence[tuple[Path, Path]],
    typing: Sequence[Path],
    out: Path,
    seed: int,
    options: Mapping[str, object],
    console: Console,
) -> None:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    answers, code = list[Answer](), code_digest((*PACKAGES, "lsp_server"))
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("cursors", total=sum(len(project.places) for project in projects))

        def report(answer: Answer) -> None:
            answers.append(answer)
            figures = Summary.of(answers)
            right = number(100 * (figures.right or 0.0))
            description = f"{figures.shown} shown, {right} % wholly right"
            bar.update(task, completed=len(answers), description=description)

        for project in projects:
            with Editor([project.folder], options, console.print) as editor:
                plan = WritingPlan(
                    edits=tuple(f"{_name(old)} → {_name(new)}" for old, new in edits),
                    typing=tuple(map(_name, typing)),
                    seed=seed,
                    options=dict(options),
                    model=editor.model,
                    fimlsp=__version__,
                    code=code,
                )
                RunFolder(out).claim(plan, About.this_process())
                answers[:] = read_results(out / RESULTS, Answer.from_json)
                ask_in_project(editor, project, out, report)


def _name(folder: Path) -> str:
    """The last two parts of the path, as releases often have a folder of the same name."""
    return "/".join(folder.resolve().parts[-2:])


def compare_runs(folders: Sequence[Path], out: Path) -> None:
    """Write one report about the runs in *folders* into *out*.

    Raises:
        RunFolderError: a folder has no run, or one of another kind.
    """
    if all(_is_of_writing(folder) for folder in folders):
        report_of_writing.write_report([read_run(folder) for folder in folders], out)
    else:
        report_of_holes.write_report([read_run_of_holes(folder) for folder in folders], out)


def _is_of_writing(folder: Path) -> bool:
    try:
        RunFolder(folder).plan(WritingPlan)
    except RunFolderError:
        return False
    return True
