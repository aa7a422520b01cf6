"""`fimlsp replay` and `fimlsp calibrate`: the texts of models in files with a known true text.

Each command imports its modules when it runs, so that `fimlsp --help` is quick.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from fimlsp.datasets.command_line import options
from fimlsp.datasets.command_line.humaneval_command import humaneval, tables
from fimlsp.datasets.command_line.scripts_command import scripts
from fimlsp.errors import UserError
from fimlsp.extras import install_command, missing_modules
from fimlsp.languages.command_options import GRAMMAR, INTERFACE, START

if TYPE_CHECKING:
    from fimlsp.datasets.run_folder import RunFolder
    from fimlsp.languages.python.versions import PythonVersion
    from fimlsp.models.networks.torch.placement import DType
    from fimlsp.models.prompts.families import Order


class RunByDefault(click.Group):
    """A group whose sub-command `run` need not be named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `run` before arguments that do not start with a sub-command."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group(cls=RunByDefault, context_settings={"help_option_names": ["-h", "--help"]})
def replay() -> None:
    """Cut holes into files, fill them with and without the constraint, and report.

    `fimlsp replay SOURCE... --out FOLDER` runs cases; `fimlsp replay run --help` lists its options.
    """
    if missing := missing_modules("replay"):
        raise click.ClickException(f"{missing[0]} is not installed; run: {install_command('replay')}")


@replay.command()
@options.SOURCES
@options.OUT
@options.LANGUAGE
@GRAMMAR
@START
@options.CALLED
@INTERFACE
@options.CUTS
@options.PER_FILE
@options.SEED
@click.option(
    "--cases",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Cases made by `cut`, or results of another run, instead of new ones.",
)
@options.LIMIT
@options.FILES
@options.SHARD
@options.BYTES
@click.option("--model", metavar="PATH_OR_NAME", help="A model's folder or hub name, not the bundled one.")
@click.option("--device", help="cpu, cuda or cuda:N.")
@click.option(
    "--precision",
    default="float32",
    show_default=True,
    type=click.Choice(("float32", "bfloat16", "float16")),
    help="Precision of the network's numbers.",
)
@click.option("--family", help="The family whose markers the model has, if it is not recognised.")
@click.option(
    "--order",
    type=click.Choice(("psm", "spm")),
    help="Order of the prompt: the text left (psm) or right of the cut first.  [default: psm if known]",
)
@click.option(
    "--python-version",
    metavar="3.N",
    callback=options.to_version,
    help="Version of the grammar, at most that of this Python.  [default: that of this Python]",
)
@click.option(
    "--check",
    type=click.Choice(["parse", "compile"]),
    default="parse",
    show_default=True,
    help="Check of an answer in Python.",
)
@click.option("--tokens", default=500, show_default=True, type=click.IntRange(1), help="Maximum per case.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1), help="Processes.")
@click.option("--ray", metavar="ADDRESS", help="Use a Ray cluster; `local` starts one here.")
@click.option(
    "--seconds", default=600.0, show_default=True, help="A case that takes longer counts as crashed."
)
@options.takes_cases
def run(
    case_options: options.CaseOptions,
    out: Path,
    cases: Path | None,
    limit: int | None,
    model: str | None,
    device: str | None,
    precision: DType,
    family: str | None,
    order: Order | None,
    python_version: PythonVersion | None,
    check: Literal["parse", "compile"],
    tokens: int,
    workers: int,
    ray: str | None,
    seconds: float,
) -> None:
    """Run the cases of SOURCE... and write report.md and report.html.

    A SOURCE is a folder, a file, or a shard of The Stack (.parquet, .jsonl, .jsonl.gz, .jsonl.zst). It may
    also be `stdlib`, `site-packages` or a part of these, such as site-packages/rich. If a run was
    interrupted, the same command continues it.
    """
    from fimlsp.datasets.bench import BenchSettings
    from fimlsp.datasets.command_line.case_commands import run_cases
    from fimlsp.datasets.workers import Workers
    from fimlsp.models.checkpoints.hub import find_on_command_line

    selection, own = case_options.selection(cases), case_options.own_language()
    settings = BenchSettings(
        model=model and find_on_command_line(model),
        device=device,
        tokens=tokens,
        language=case_options.language,
        precision=precision,
        family=family,
        order=order,
        python_version=python_version,
        check=check,
        own=own,
    )
    with plain_errors():
        run_cases(selection, settings, Workers(workers, ray, seconds), out, limit)


@replay.command()
@options.SOURCES
@click.option(
    "--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="File for the cases."
)
@options.LANGUAGE
@GRAMMAR
@START
@options.CALLED
@INTERFACE
@options.CUTS
@options.PER_FILE
@options.SEED
@options.LIMIT
@options.FILES
@options.SHARD
@options.BYTES
@options.takes_cases
def cut(case_options: options.CaseOptions, out: Path, limit: int | None) -> None:
    """Save cases without their texts, as JSON lines for `--cases`."""
    from fimlsp.datasets.command_line.case_commands import save_cases

    with plain_errors():
        save_cases(case_options.selection(), out, limit)


@replay.command()
@click.argument("case")
@options.OUT
def show(case: str, out: Path) -> None:
    """Print CASE of the run in --out: the cut, the truth, and each method's answer."""
    from fimlsp.datasets.command_line.case_commands import show_case

    with plain_errors():
        show_case(open_run(out), case)


@replay.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@options.OUT
def report(folders: tuple[Path, ...], out: Path) -> None:
    """Write the report of a run, or of all its shards together, into --out."""
    from fimlsp.datasets.case_report import write_report

    with plain_errors():
        write_report([open_run(folder) for folder in folders], out)
    click.echo(out / "report.md")


@replay.command()
@click.argument("folders", nargs=-1, type=options.EXISTING)
@click.option(
    "--edits",
    multiple=True,
    nargs=2,
    metavar="OLD NEW",
    type=options.EXISTING_FOLDER,
    help="Two releases of a package: judge while the lines that differ are written; may be repeated.",
)
@click.option(
    "--typing",
    multiple=True,
    metavar="FOLDER",
    type=options.EXISTING_FOLDER,
    help="A small project: judge while its files and notebooks are written from empty; may be repeated.",
)
@options.OUT
@click.option(
    "--cursors",
    default=600,
    show_default=True,
    type=click.IntRange(1),
    help="Number of cursors; with --edits or --typing, of each sort.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of the cursors.")
@click.option(
    "--set",
    "options",
    multiple=True,
    metavar="OPTION=VALUE",
    callback=options.to_options,
    help="An option of the server, as sent by an editor; may be repeated.",
)
def judge(
    folders: tuple[Path, ...],
    edits: tuple[tuple[Path, Path], ...],
    typing: tuple[Path, ...],
    out: Path,
    cursors: int,
    seed: int,
    options: dict[str, object],
) -> None:
    """Judge the suggestions of the server in the Python files of FOLDERS..., or while files are written.

    Code is cut out of finished files, and the real server gets requests at these cursors as from an editor.
    Its suggestions are compared with the code. With --edits and --typing nothing is cut out: files
    are written as people do, and corrected. If a run was interrupted, the same command continues it; a
    larger --cursors adds cursors.
    """
    from fimlsp.datasets.command_line.shown_commands import judge_server, judge_writing

    if bool(folders) == bool(edits or typing):
        raise click.UsageError("Give either FOLDERS, or --edits or --typing.")
    with plain_errors():
        if folders:
            judge_server(folders, out, cursors, seed, options)
        else:
            judge_writing(edits, typing, out, cursors, seed, options)


@replay.command()
@click.argument("runs", nargs=-1, required=True, type=options.EXISTING)
@options.OUT
def compare(runs: tuple[Path, ...], out: Path) -> None:
    """Write one report about several RUNS... of `judge`, side by side, into --out."""
    from fimlsp.datasets.command_line.shown_commands import compare_runs

    with plain_errors():
        compare_runs(runs, out)
    click.echo(out / "report.md")


@click.command(
    context_settings={"ignore_unknown_options": True},
    add_help_option=False,
    short_help="Fit the probability that suggestions are right.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def calibrate(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Fit the probability that a model's suggestions are right; see `fimlsp calibrate --help`."""
    from fimlsp.datasets.command_line.shown_commands import calibrate as run_calibration

    run_calibration.main(list(arguments), prog_name=context.command_path)


replay.add_command(humaneval)
replay.add_command(tables)
replay.add_command(scripts)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn errors for the user, and those of files and folders, into a message without a traceback."""
    try:
        yield
    except (UserError, OSError) as error:
        raise click.ClickException(str(error)) from error


def open_run(path: Path) -> RunFolder:
    """The run in the folder *path*."""
    from fimlsp.datasets.run_folder import RunFolder

    folder = RunFolder(path)
    if not folder.has_run:
        raise click.ClickException(f"{path} holds no run. Give the --out of a run.")
    return folder
