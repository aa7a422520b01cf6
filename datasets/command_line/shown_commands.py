"""`fimlsp replay judge` and `fimlsp calibrate`: suggestions at drawn cursors, with progress bars and reports.

`judge` drives the real server; `calibrate` fits the probability that a model's suggestions are right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fimlsp import __version__
from fimlsp.datasets.cuts.source import SourceError
from fimlsp.datasets.reports.pages import number
from fimlsp.datasets.runs.plan import PACKAGES, About, code_digest
from fimlsp.datasets.runs.run_folder import RESULTS, RunFolder, RunFolderError, read_results
from fimlsp.datasets.shown.calibration import fit, write_calibration_report
from fimlsp.datasets.shown.cursors import DrawnCursor, EditedFile, draw_cursors, read_files, workspace_of
from fimlsp.datasets.shown.editor import Editor, EditorError
from fimlsp.datasets.shown.recording import CalibrationPlan, Projects, Recorded, Recorder, record_all
from fimlsp.datasets.shown.report import write_report
from fimlsp.datasets.shown.run import ShownPlan, ask_all, read_run
from fimlsp.datasets.shown.verdict import Shown, Summary
from fimlsp.languages.python.analysis.client import Analysis
from fimlsp.models.checkpoints.hub import find_on_command_line
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import load_model

INTERRUPTED = 130


def judge_server(
    folders: Sequence[Path], out: Path, n: int, seed: int, options: Mapping[str, object]
) -> None:
    """Save the server's answers at *n* cursors in the files of *folders* in *out*, and report.

    Raises:
        click.ClickException: the folders have no Python files, or the server cannot be used.
        RunFolderError: *out* holds another run.
    """
    console = Console(stderr=True)
    try:
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
            _ask_with_progress(editor, cursors, out, console)
    except (EditorError, SourceError) as error:
        raise click.ClickException(str(error)) from error
    except KeyboardInterrupt:
        console.print("interrupted; the same command continues.")
        raise SystemExit(INTERRUPTED) from None
    write_report([read_run(out)], out)
    console.print(f"wrote {out / 'report.md'}, {out / 'report.html'} and {out / 'examples.md'}")


def _ask_with_progress(
    editor: Editor, cursors: Sequence[tuple[EditedFile, DrawnCursor]], out: Path, console: Console
) -> None:
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    answers = list(read_results(out / RESULTS, Shown.from_json))
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("cursors", total=len(cursors), completed=len(answers))

        def report(shown: Shown) -> None:
            answers.append(shown)
            figures = Summary.of(answers)
            right = number(100 * (figures.right or 0.0))
            bar.update(task, advance=1, description=f"{figures.shown} shown, {right} % wholly right")

        ask_all(editor, cursors, out, report)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--out", "-o", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder.")
@click.option(
    "--model", metavar="NAME", help="A folder, hub name, GGUF file or address, not the bundled one."
)
@click.option("--device", help="cpu, cuda or cuda:N.")
@click.option(
    "--cursors",
    default=1500,
    show_default=True,
    type=click.IntRange(10),
    help="Number of cursors for the fit.",
)
@click.option(
    "--check",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="Other files, to check the estimate on; may be repeated.",
)
@click.option("--check-cursors", default=600, show_default=True, type=click.IntRange(10))
@click.option("--seed", default=0, show_default=True, help="Seed of the cursors.")
@click.option(
    "--install",
    is_flag=True,
    help="Put the estimate to use: into the model's folder, or the cache if it is a file or on a server.",
)
def calibrate(
    folders: tuple[Path, ...],
    out: Path,
    model: str | None,
    device: str | None,
    cursors: int,
    check: tuple[Path, ...],
    check_cursors: int,
    seed: int,
    install: bool,
) -> None:
    """Fit the probability that a model's suggestions are right, on the Python files of FOLDERS...

    The model writes at cursors drawn from these files, which must not be in its training data. The
    probabilities of its tokens and the right part of its texts give `acceptance.json`, by which suggestions
    are shortened or not shown. If a run was interrupted, the same command continues it.
    """
    plan = CalibrationPlan(
        folders=tuple(folder.name for folder in folders),
        check=tuple(folder.name for folder in check),
        seed=seed,
        model=model or "bundled",
        fimlsp=__version__,
    )
    try:
        RunFolder(out).claim(plan)
        chosen = model and find_on_command_line(model)
        analysis = Analysis()
        loaded = load_model(chosen or None, device=device)
        recorder = Recorder(loaded, analysis, workspace_of(folders))
        fitted = _record(recorder, folders, cursors, seed, out / "fit.jsonl")
        recorder = Recorder(loaded, analysis, workspace_of(check))
        checked = _record(recorder, check, check_cursors, seed, out / "check.jsonl") if check else []
        analysis.close()
        estimate = fit(fitted)
        path = estimate.save(out)
        write_calibration_report(estimate, fitted, checked, plan, out)
        click.echo(path)
        if install:
            click.echo(estimate.save(loaded.estimates))
    except (ModelError, RunFolderError, SourceError, ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error


def _record(recorder: Recorder, folders: Sequence[Path], n: int, seed: int, path: Path) -> list[Recorded]:
    files = read_files(folders)
    drawn = list(draw_cursors(files, n, seed))
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(path.stem, total=len(drawn))
        return record_all(recorder, Projects(files), drawn, path, lambda: bar.advance(task))
