"""`fimlsp replay` and `fimlsp calibrate`: what models write in files whose true text is known.

Each command imports what it needs when it runs, so that `fimlsp --help` is quick.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from fimlsp.datasets.command_line import options
from fimlsp.datasets.command_line.humaneval_command import humaneval
from fimlsp.extras import install_command, missing_modules
from fimlsp.languages.command_options import GRAMMAR, INTERFACE, START

if TYPE_CHECKING:
    from fimlsp.datasets.cuts.selection import Selection, Shard
    from fimlsp.datasets.languages.own_grammar import OwnGrammar
    from fimlsp.datasets.languages.replay_language import ReplayLanguage
    from fimlsp.datasets.languages.scripts import Scripts
    from fimlsp.datasets.runs.run_folder import RunFolder
    from fimlsp.languages.python.versions import PythonVersion
    from fimlsp.models.networks.torch.placement import DType
    from fimlsp.models.prompts.families import Order


class RunByDefault(click.Group):
    """A group whose sub-command `run` need not be named."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `run` before arguments that do not begin with a sub-command."""
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
    help="Of the network's numbers.",
)
@click.option("--family", help="The family whose markers the model has, if it is not the one recognised.")
@click.option(
    "--order",
    type=click.Choice(("psm", "spm")),
    help="What comes first in the prompt: the text left (psm) or right of the cut.  [default: psm if known]",
)
@click.option(
    "--python-version",
    metavar="3.N",
    callback=options.to_version,
    help="Of the grammar, at most that of the judge, which is this Python.  [default: the judge's]",
)
@click.option(
    "--check",
    type=click.Choice(["parse", "compile"]),
    default="parse",
    show_default=True,
    help="What an answer in Python has to do.",
)
@click.option("--tokens", default=500, show_default=True, type=click.IntRange(1), help="The most per case.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1), help="Processes.")
@click.option("--ray", metavar="ADDRESS", help="Work on a Ray cluster; `local` starts one here.")
@click.option(
    "--seconds", default=600.0, show_default=True, help="A case that takes longer counts as crashed."
)
def run(
    sources: tuple[str, ...],
    out: Path,
    language: str,
    grammar: Path | None,
    start: str | None,
    patterns: tuple[str, ...],
    interface: Path | None,
    kinds: tuple[str, ...],
    per_file: int,
    seed: int,
    cases: Path | None,
    limit: int | None,
    files: range,
    shard: Shard,
    bytes_max: int,
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

    A SOURCE is a shard of The Stack (.parquet, .jsonl, .jsonl.gz, .jsonl.zst), a folder, a file, or `stdlib`,
    `site-packages` or a part of these, such as site-packages/rich. If a run was interrupted, the same command
    continues it.
    """
    from fimlsp.datasets.cases.bench import BenchSettings
    from fimlsp.datasets.command_line.run_command import run_cases
    from fimlsp.datasets.languages.known import LANGUAGES as KNOWN
    from fimlsp.datasets.runs.runner import Workers
    from fimlsp.models.checkpoints.hub import find_on_command_line

    own = own_language(grammar, start, patterns) or scripts_of(language, interface)
    chosen_language = KNOWN[language] if own is None else own.replay_language
    selection = select(sources, chosen_language, kinds, per_file, seed, files, shard, bytes_max, cases)
    chosen = model and find_on_command_line(model)
    settings = BenchSettings(
        chosen, device, tokens, language, precision, family, order, python_version, check, own
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
def cut(
    sources: tuple[str, ...],
    out: Path,
    language: str,
    grammar: Path | None,
    start: str | None,
    patterns: tuple[str, ...],
    interface: Path | None,
    kinds: tuple[str, ...],
    per_file: int,
    seed: int,
    limit: int | None,
    files: range,
    shard: Shard,
    bytes_max: int,
) -> None:
    """Save cases without their texts, as JSON lines for `--cases`."""
    from fimlsp.datasets.command_line.run_command import save_cases
    from fimlsp.datasets.languages.known import LANGUAGES as KNOWN

    with plain_errors():
        own = own_language(grammar, start, patterns) or scripts_of(language, interface)
        chosen_language = KNOWN[language] if own is None else own.replay_language
        selection = select(sources, chosen_language, kinds, per_file, seed, files, shard, bytes_max, None)
        save_cases(selection, out, limit)


@replay.command()
@click.argument("case")
@options.OUT
def show(case: str, out: Path) -> None:
    """Print CASE of the run in --out: the cut, the truth, and each method's answer."""
    from fimlsp.datasets.command_line.show_command import show_case

    with plain_errors():
        show_case(open_run(out), case)


@replay.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@options.OUT
def report(folders: tuple[Path, ...], out: Path) -> None:
    """Write the report of a run, or of all its shards together, into --out."""
    from fimlsp.datasets.reports.report import write_report

    with plain_errors():
        write_report([open_run(folder) for folder in folders], out)
    click.echo(out / "report.md")


@replay.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@options.OUT
@click.option("--cursors", default=600, show_default=True, type=click.IntRange(1), help="How many to ask at.")
@click.option("--seed", default=0, show_default=True, help="Of the cursors.")
@click.option(
    "--set",
    "options",
    multiple=True,
    metavar="OPTION=VALUE",
    callback=options.to_options,
    help="An option of the server, as an editor would send it; may be given again.",
)
def judge(folders: tuple[Path, ...], out: Path, cursors: int, seed: int, options: dict[str, object]) -> None:
    """Judge what the server shows while somebody edits the Python files of FOLDERS...

    The real server is asked at cursors drawn from finished files, with the code behind them cut out, and
    what it would show is held against that code. The same command again goes on where it was interrupted;
    a larger --cursors adds to it.
    """
    from fimlsp.datasets.command_line.judge_command import judge_server

    with plain_errors():
        judge_server(folders, out, cursors, seed, options)


@replay.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@options.OUT
def compare(runs: tuple[Path, ...], out: Path) -> None:
    """Write one report about several RUNS... of `judge`, side by side, into --out."""
    from fimlsp.datasets.shown.report import Judged, write_report

    with plain_errors():
        write_report([Judged.read(run) for run in runs], out)
    click.echo(out / "report.md")


@click.command(
    context_settings={"ignore_unknown_options": True},
    add_help_option=False,
    short_help="Fit how likely a model's suggestions are right.",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def calibrate(context: click.Context, arguments: tuple[str, ...]) -> None:
    """Fit how likely a model's suggestions are right; see `fimlsp calibrate --help`."""
    from fimlsp.datasets.command_line.calibrate_command import calibrate as run_calibration

    run_calibration.main(list(arguments), prog_name=context.command_path)


replay.add_command(humaneval)


@contextmanager
def plain_errors() -> Iterator[None]:
    """Turn errors of files and folders into a message without a traceback."""
    from fimlsp.datasets.runs.run_folder import RunFolderError

    try:
        yield
    except (RunFolderError, OSError) as error:
        raise click.ClickException(str(error)) from error


def open_run(path: Path) -> RunFolder:
    """The run in the folder *path*."""
    from fimlsp.datasets.runs.run_folder import RunFolder

    folder = RunFolder(path)
    if not folder.has_run:
        raise click.ClickException(f"{path} holds no run; give the --out of one.")
    return folder


def own_language(file: Path | None, start: str | None, patterns: tuple[str, ...]) -> OwnGrammar | None:
    """The language of the user's own that the options describe, if they do."""
    from fimlsp.datasets.languages.own_grammar import OwnGrammar
    from fimlsp.languages.custom import load_grammar
    from fimlsp.quotient.grammar.cfg import GrammarError

    if file is None:
        if start is not None or patterns:
            raise click.UsageError("--start and --called are of --grammar; give that as well.")
        return None
    try:
        return OwnGrammar(load_grammar(file, start or "start"), patterns or (f"*.{file.stem}",))
    except GrammarError as error:
        raise click.ClickException(str(error)) from None


def scripts_of(language: str, interface: Path | None) -> Scripts | None:
    """Scripts in sLua that are given *interface*, if one is named; *language* has to be sLua then."""
    from fimlsp.datasets.languages.scripts import Scripts
    from fimlsp.languages.slua.interface import InterfaceError
    from fimlsp.languages.slua.language import interface_of

    if interface is None:
        return None
    if language != "slua":
        raise click.UsageError("--interface is for --language slua.")
    try:
        text = interface.read_text("utf-8")
        interface_of(text, str(interface))
    except (InterfaceError, UnicodeDecodeError, OSError) as error:
        raise click.ClickException(str(error)) from None
    return Scripts(text)


def select(
    sources: tuple[str, ...],
    language: ReplayLanguage,
    kinds: tuple[str, ...],
    per_file: int,
    seed: int,
    files: range,
    shard: Shard,
    bytes_max: int,
    cases: Path | None,
) -> Selection:
    """The selection that the options describe."""
    from fimlsp.datasets.cuts.selection import Selection, read_cases
    from fimlsp.datasets.sources.filters import Filters
    from fimlsp.datasets.sources.source import Source, SourceError

    filters = Filters(language, bytes_max)
    try:
        for source in sources:
            Source(source, filters.language).check()
        saved = None if cases is None else read_cases(cases)
    except (SourceError, ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error
    return Selection(sources, kinds, per_file, seed, files, shard, filters, saved)
