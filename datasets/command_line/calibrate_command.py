"""`fimlsp calibrate`: fits how likely a model's suggestions are right, on files whose true text is known."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from fimlsp import __version__
from fimlsp.datasets.runs.run_folder import RunFolder, RunFolderError
from fimlsp.datasets.shown.calibration_report import write_report
from fimlsp.datasets.shown.cursors import draw_cursors, read_files, workspace_of
from fimlsp.datasets.shown.fitting import fit
from fimlsp.datasets.shown.recording import Projects, Recorded, Recorder, record_all
from fimlsp.datasets.sources.source import SourceError
from fimlsp.languages.python.analysis.client import Analysis
from fimlsp.models.checkpoints.hub import find_folder, find_on_command_line
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import BUNDLED, load_model


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--out", "-o", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder.")
@click.option("--model", metavar="PATH_OR_NAME", help="A model's folder or hub name, not the bundled one.")
@click.option("--device", help="cpu, cuda or cuda:N.")
@click.option(
    "--cursors", default=1500, show_default=True, type=click.IntRange(10), help="How many to fit to."
)
@click.option(
    "--check",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="Other files, to see how well the estimate holds there; may be given again.",
)
@click.option("--check-cursors", default=600, show_default=True, type=click.IntRange(10))
@click.option("--seed", default=0, show_default=True, help="Of the cursors.")
@click.option("--install", is_flag=True, help="Put the estimate into the model's folder, where it is used.")
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
    """Fit how likely a model's suggestions are right, on the Python files of FOLDERS...

    The model writes at cursors drawn from these files, which it must not have been trained on. What it was
    sure of, and what of it was right, gives `acceptance.json`, by which suggestions are cut back or not
    shown. The same command again goes on where it was interrupted.
    """
    plan = {
        "folders": [folder.name for folder in folders],
        "check": [folder.name for folder in check],
        "seed": seed,
        "model": model or "bundled",
        "fimlsp": __version__,
    }
    try:
        RunFolder(out).claim(plan, {})
        chosen = model and find_on_command_line(model)
        analysis = Analysis()
        loaded = load_model(chosen or None, device=device)
        recorder = Recorder(loaded, analysis, workspace_of(folders))
        fitted = _record(recorder, folders, cursors, seed, out / "fit.jsonl")
        recorder = Recorder(loaded, analysis, workspace_of(check))
        checked = _record(recorder, check, check_cursors, seed, out / "check.jsonl") if check else []
        analysis.close()
        acceptance = fit(fitted)
        path = acceptance.save(out)
        write_report(acceptance, fitted, checked, plan, out)
        click.echo(path)
        if install:
            folder = BUNDLED if not chosen else find_folder(chosen)
            click.echo(shutil.copy(path, folder))
    except (ModelError, RunFolderError, SourceError, ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error


def _record(recorder: Recorder, folders: Sequence[Path], n: int, seed: int, path: Path) -> list[Recorded]:
    files = read_files(folders)
    drawn = list(draw_cursors(files, n, seed))
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(path.stem, total=len(drawn))
        return record_all(recorder, Projects(files), drawn, path, lambda: bar.advance(task))
