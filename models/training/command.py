"""The command `fimlsp train`: trains a small model on the user's own code, or the bundled one again."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from fimlsp.models.errors import ModelError, require

if TYPE_CHECKING:
    from fimlsp.models.training.loop import Precision
    from fimlsp.models.training.run import Options

COPYLEFT = (
    "hypothesis",
    "_hypothesis_ftz_detector",
    "_hypothesis_globals",
    "_hypothesis_pytestplugin",
    "pathspec",
    "tqdm",
    "certifi",
)
HELD_OUT = ("anyio", "click", "httpx2", "jinja2", "json", "rich")


@click.command()
@click.argument("roots", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--output", "-o", type=click.Path(path_type=Path), required=True, help="Folder for the model.")
@click.option(
    "--minutes", type=click.FloatRange(min=0.01), default=60, show_default=True, help="Time for training."
)
@click.option("--threads", type=int, default=1, show_default=True, help="CPU threads.")
@click.option(
    "--width", type=click.IntRange(min=64), default=192, show_default=True, help="Width, a multiple of 64."
)
@click.option("--layers", type=int, default=6, show_default=True, help="Number of layers.")
@click.option(
    "--vocabulary", type=click.IntRange(min=260), default=4096, show_default=True, help="Number of tokens."
)
@click.option(
    "--hold-out", multiple=True, default=HELD_OUT, show_default=True, help="Package held out for evaluation."
)
@click.option(
    "--skip", multiple=True, default=COPYLEFT, show_default=True, help="Package left out (licence)."
)
@click.option(
    "--start-from",
    metavar="MODEL",
    help="Continue from a model made here, or from `bundled`; its tokenizer and its layers stay.",
)
@click.option("--widen", is_flag=True, help="Double the width of that model; it computes the same at first.")
@click.option("--device", help="cpu, cuda or cuda:N; by default a GPU if there is one.")
@click.option(
    "--precision",
    type=click.Choice(["bfloat16", "float32"]),
    default="bfloat16",
    show_default=True,
    help="Precision of products while training.",
)
@click.option(
    "--compile",
    "compiled",
    is_flag=True,
    help="Compile the training step, which makes it faster; needs a C++ compiler.",
)
@click.option("--resume", is_flag=True, help="Continue the interrupted run in the output folder.")
def train(
    roots: tuple[Path, ...],
    output: Path,
    minutes: float,
    threads: int,
    width: int,
    layers: int,
    vocabulary: int,
    hold_out: tuple[str, ...],
    skip: tuple[str, ...],
    start_from: str | None,
    widen: bool,
    device: str | None,
    precision: Precision,
    compiled: bool,
    resume: bool,
) -> None:
    """Train a small fill-in-the-middle model on the Python files below ROOTS.

    Without ROOTS: the standard library and the installed packages. Pass the resulting folder to --model.
    """
    if widen and not start_from:
        raise click.UsageError("--widen requires --start-from.")
    try:
        require("checkpoints", "Training needs PyTorch and transformers")
    except ModelError as error:
        raise click.ClickException(str(error)) from error
    from fimlsp.models.training.checkpoint import Sizes
    from fimlsp.models.training.run import Options

    folder = _trained(
        Options(
            roots=roots or default_roots(),
            output=output,
            minutes=minutes,
            held_out=hold_out,
            skipped=skip,
            sizes=Sizes(vocabulary, width, layers),
            start=start_from,
            widen=widen,
            threads=threads,
            device=device,
            precision=precision,
            compiled=compiled,
            resume=resume,
        )
    )
    click.echo(f"wrote {folder}, its card is {folder / 'README.md'}", err=True)


def _trained(options: Options) -> Path:
    """Run with *options* and show the progress; the resulting folder."""
    from fimlsp.models.training.run import Reports, run

    console = Console(stderr=True)
    with _bar(console) as bar:
        task = bar.add_task("", total=1.0)
        reports = Reports(
            stage=lambda text: bar.console.print(text),
            step=lambda at: bar.update(
                task,
                completed=min(1.0, at.share),
                description=f"{at.tokens / 1e6:.1f} M tokens, loss {at.loss:.2f}",
            ),
        )
        try:
            return run(options, reports)
        except ModelError as error:
            raise click.ClickException(str(error)) from error


def default_roots() -> tuple[Path, ...]:
    """The standard library and the installed packages of the running interpreter."""
    paths = sysconfig.get_paths()
    return Path(paths["stdlib"]), Path(paths["purelib"])


def _bar(console: Console) -> Progress:
    return Progress(TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(), console=console)
