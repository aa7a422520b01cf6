"""`fimlsp replay judge`, `compare` and `calibrate`: the suggestions of the real server, with progress bars.

`judge` asks at holes of finished files, or where files are written. `calibrate` fits the probability that a
model's suggestions are right to places of writing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fimlsp import __version__
from fimlsp.datasets.pages import number
from fimlsp.datasets.plan import PACKAGES, About, code_digest
from fimlsp.datasets.run_folder import RESULTS, RunFolder, RunFolderError, read_results
from fimlsp.datasets.shown import report as report_of_holes
from fimlsp.datasets.shown.calibration import fit, write_calibration_report
from fimlsp.datasets.shown.cursors import DrawnCursor, EditedFile, draw_cursors, read_files, workspace_of
from fimlsp.datasets.shown.editor import Editor, EditorError
from fimlsp.datasets.shown.recording import OPTIONS, CalibrationPlan, Recorded, read_recording, record_project
from fimlsp.datasets.shown.run import ShownPlan, ask_all
from fimlsp.datasets.shown.run import read_run as read_run_of_holes
from fimlsp.datasets.shown.verdict import Shown
from fimlsp.datasets.shown.verdict import Summary as SummaryOfHoles
from fimlsp.datasets.shown.writing import report as report_of_writing
from fimlsp.datasets.shown.writing.answers import Answer, Summary
from fimlsp.datasets.shown.writing.cells import draw_cells
from fimlsp.datasets.shown.writing.corrections import draw_corrections
from fimlsp.datasets.shown.writing.edits import draw_edits
from fimlsp.datasets.shown.writing.from_empty import draw_typing
from fimlsp.datasets.shown.writing.places import Project
from fimlsp.datasets.shown.writing.run import WritingPlan, ask_in_project, read_run
from fimlsp.datasets.sources import SourceError
from fimlsp.models.checkpoints.hub import find_on_command_line
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import load_model

INTERRUPTED = 130

NO_CODE = "Cannot draw cursors: the folders have no code that is written."

RECORDING = "recording.jsonl"
"""The file of a calibration with the texts at each place."""


@contextmanager
def _plain_end(console: Console) -> Iterator[None]:
    """Turn errors into a sentence, and an interruption into a hint on *console*."""
    try:
        yield
    except (EditorError, ModelError, RunFolderError, SourceError, ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        console.print("interrupted; the same command continues.")
        raise SystemExit(INTERRUPTED) from None


def judge_server(
    folders: Sequence[Path], out: Path, n: int, seed: int, options: Mapping[str, object]
) -> None:
    """Save the server's answers at *n* cursors in the files of *folders* in *out*, and report.

    Raises:
        click.ClickException: the folders have no Python files, or the server cannot be used.
        RunFolderError: *out* holds another run.
    """
    console = Console(stderr=True)
    with _plain_end(console):
        cursors = list(draw_cursors(read_files(folders), n, seed))
        if not cursors:
            raise click.ClickException("Cannot draw cursors: the folders have no Python files.")
        with Editor(workspace_of(folders), options, console.print) as editor:
            plan = ShownPlan(
                folders=tuple(folder.name for folder in folders),
                seed=seed,
                options=dict(options),
                model=editor.model,
                fimlsp=__version__,
                code=code_digest((*PACKAGES, "lsp_server")),
            )
            RunFolder(out).claim(plan, About.this_process())
            _ask_at_cursors(editor, cursors, out, console)
    report_of_holes.write_report([read_run_of_holes(out)], out)
    console.print(f"wrote {out / 'report.md'}, {out / 'report.html'} and {out / 'examples.md'}")


def _ask_at_cursors(
    editor: Editor, cursors: Sequence[tuple[EditedFile, DrawnCursor]], out: Path, console: Console
) -> None:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    answers = list(read_results(out / RESULTS, Shown.from_json))
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("cursors", total=len(cursors), completed=len(answers))

        def report(shown: Shown) -> None:
            answers.append(shown)
            figures = SummaryOfHoles.of(answers)
            right = number(100 * (figures.right or 0.0))
            bar.update(task, advance=1, description=f"{figures.shown} shown, {right} % wholly right")

        ask_all(editor, cursors, out, report)


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
    with _plain_end(console), ExitStack() as stack:
        roots = [Path(stack.enter_context(TemporaryDirectory())) for _ in typing]
        projects = _projects(edits, typing, roots, n, seed)
        if not projects:
            raise click.ClickException(NO_CODE)
        _ask_with_progress(projects, edits, typing, out, seed, options, console)
    report_of_writing.write_report([read_run(out)], out)
    console.print(f"wrote {out / 'report.md'}, {out / 'report.html'} and {out / 'examples.md'}")


def _projects(
    edits: Sequence[tuple[Path, Path]], typing: Sequence[Path], roots: Sequence[Path], n: int, seed: int
) -> list[Project]:
    """The projects with places to judge; *roots* are empty folders, one for each of *typing*."""
    projects = new_code(edits, typing, roots, n, seed)
    projects += draw_corrections([*(old for old, _ in edits), *typing], n, seed)
    return [project for project in projects if project.places]


def new_code(
    edits: Sequence[tuple[Path, Path]], typing: Sequence[Path], roots: Sequence[Path], n: int, seed: int
) -> list[Project]:
    """The projects in which new code is written; *roots* are empty folders, one for each of *typing*."""
    projects = draw_edits(edits, n, seed)
    for draw in (draw_typing, draw_cells):
        for place, (folder, root) in enumerate(zip(typing, roots, strict=True)):
            projects.append(draw(folder, root.resolve(), (n + place) // len(typing), seed))
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


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--out", "-o", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder.")
@click.option(
    "--edits",
    nargs=2,
    multiple=True,
    metavar="OLD NEW",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Two releases of a package: the edits from one to the other. May be repeated.",
)
@click.option(
    "--typing",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="Files to write from empty, key by key. May be repeated.",
)
@click.option(
    "--model", metavar="NAME", help="A folder, hub name, GGUF file or address, not the bundled one."
)
@click.option("--device", help="cpu, cuda or cuda:N.")
@click.option(
    "--cursors", default=1000, show_default=True, type=click.IntRange(10), help="Places of each sort."
)
@click.option("--seed", default=0, show_default=True, help="Seed of the places.")
@click.option(
    "--install",
    is_flag=True,
    help="Put the estimate to use: into the model's folder, or the cache if it is a file or on a server.",
)
def calibrate(
    out: Path,
    edits: tuple[tuple[Path, Path], ...],
    typing: tuple[Path, ...],
    model: str | None,
    device: str | None,
    cursors: int,
    seed: int,
    install: bool,
) -> None:
    """Fit the probability that a model's suggestions are right, where code is written.

    The server makes suggestions in real edits and in files written from empty. This code must not be in the
    model's training data. The result is `acceptance.json`, by which suggestions are shortened or held back.
    If a run was interrupted, the same command continues it.
    """
    if not edits and not typing:
        raise click.UsageError("Give --edits OLD NEW or --typing FOLDER.")
    plan = CalibrationPlan(
        edits=tuple(f"{_name(old)} → {_name(new)}" for old, new in edits),
        typing=tuple(map(_name, typing)),
        seed=seed,
        places=cursors,
        model=model or "bundled",
        fimlsp=__version__,
    )
    with _plain_end(Console(stderr=True)):
        RunFolder(out).claim(plan)
        chosen = model and find_on_command_line(model)
        options = {
            **OPTIONS,
            **({"model": str(chosen)} if chosen else {}),
            **({"device": device} if device else {}),
        }
        with ExitStack() as stack:
            roots = [Path(stack.enter_context(TemporaryDirectory())) for _ in typing]
            projects = new_code(edits, typing, roots, cursors, seed)
            if not projects:
                raise click.ClickException(NO_CODE)
            recorded = record_places(projects, out / RECORDING, options)
        estimate = fit(recorded)
        path = estimate.save(out)
        write_calibration_report(estimate, recorded, plan, out)
        click.echo(path)
        if install:
            click.echo(estimate.save(load_model(chosen or None, device=device).estimates))


def record_places(projects: Sequence[Project], path: Path, options: Mapping[str, object]) -> list[Recorded]:
    """The texts that the server with *options* has at the places of *projects*, also saved at *path*."""
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=console) as bar:
        done = {recorded.case for recorded in read_recording(path)}
        n_places = sum(len(project.places) for project in projects)
        task = bar.add_task("places", total=n_places, completed=len(done))
        for project in projects:
            if any(place.case not in done for place in project.places):
                with Editor([project.folder], options, console.print) as editor:
                    record_project(editor, project, path, lambda: bar.advance(task))
    return list(read_recording(path))
