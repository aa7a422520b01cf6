"""The commands `fimlsp train`: packs of source, models trained on them or on a user's code, and cards.

As a module (`python -m fimlsp.models.training.command`) they need PyTorch, transformers, click and
rich alone.
"""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from fimlsp.models.errors import ModelError, require

if TYPE_CHECKING:
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
LISTS = Path(__file__).parent
PACK_LISTS = (LISTS.parent / "bundled" / "sources.txt", LISTS / "earlier.txt")
RATES, FURTHER_RATES = (0.02, 0.003), (0.015, 0.002)
"""Learning rates of Muon and AdamW, from random weights and from those of an earlier model."""

FOLDER = click.Path(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
OUTPUT = click.option("--output", "-o", type=FOLDER, required=True, help="Folder for the result.")


@click.group()
def train() -> None:
    """Train a small fill-in-the-middle model on Python source."""


@train.command()
@click.argument("lists", nargs=-1, type=FILE)
@OUTPUT
@click.option(
    "--held-out", type=FILE, default=LISTS / "held_out.txt", help="List of packages never to learn from."
)
@click.option(
    "--folder", "folders", multiple=True, type=FOLDER, help="Folder of packages to learn from as well."
)
@click.option("--downloads", type=FOLDER, default=Path("wheels"), show_default=True, help="Folder of wheels.")
@click.option("--vocabulary", type=click.IntRange(260, 65536), default=8192, show_default=True)
@click.option("--mib", type=float, default=37, show_default=True, help="Size of all files of the pack.")
@click.option("--check", is_flag=True, help="Check the pack in the output folder; make none.")
def pack(
    lists: tuple[Path, ...],
    output: Path,
    held_out: Path,
    folders: tuple[Path, ...],
    downloads: Path,
    vocabulary: int,
    mib: float,
    check: bool,
) -> None:
    """Pack the releases in LISTS as tokens: a few files that travel to another machine.

    Without LISTS: those of the bundled model, with earlier releases of some, and the standard library.
    pip downloads missing wheels.
    """
    from fimlsp.models.training.building import Order, build
    from fimlsp.models.training.pack import faults_of, read_pack

    try:
        if not check:
            chosen = folders if lists else (*folders, default_roots()[0])
            order = Order(
                lists or PACK_LISTS,
                held_out,
                chosen,
                downloads,
                vocabulary,
                int(mib * 2**20),
                COPYLEFT,
            )
            build(order, output, lambda text: click.echo(text, err=True))
        made = read_pack(output)
    except ModelError as error:
        raise click.ClickException(str(error)) from error
    faults = list(faults_of(made)) if check else []
    for fault in faults:
        click.echo(fault)
    size = sum(file["bytes"] for file in made.manifest["files"].values())
    click.echo(
        f"{output}: {len(made.tokens) / 1e6:.1f} M tokens, {len(made.documents):,} documents, "
        f"{len(made.edits):,} changed files, {size / 2**20:.1f} MiB",
        err=True,
    )
    if faults:
        raise SystemExit(1)


@train.command()
@click.argument("roots", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@OUTPUT
@click.option(
    "--pack", type=FOLDER, help="Train on this pack of `fimlsp train pack`, and measure nothing afterwards."
)
@click.option(
    "--minutes", type=click.FloatRange(min=0.01), default=60, show_default=True, help="Time of all of it."
)
@click.option("--threads", type=int, default=1, show_default=True, help="CPU threads.")
@click.option("--workers", type=int, default=0, show_default=True, help="Processes that draw examples.")
@click.option(
    "--width", type=click.IntRange(min=64), default=192, show_default=True, help="A multiple of 64."
)
@click.option("--layers", type=int, default=6, show_default=True, help="Number of layers.")
@click.option(
    "--vocabulary",
    type=click.IntRange(min=260),
    default=4096,
    show_default=True,
    help="Tokens, without a pack.",
)
@click.option(
    "--context", type=click.IntRange(64, 1024), default=512, show_default=True, help="Tokens of a row."
)
@click.option("--step-tokens", type=int, default=8192, show_default=True, help="Tokens of a step.")
@click.option("--matrix-rate", type=float, help="Peak learning rate of matrices (Muon): 0.02, further 0.015.")
@click.option(
    "--other-rate", type=float, help="Peak learning rate of other weights (AdamW): 0.003, further 0.002."
)
@click.option("--warm-up", type=int, default=100, show_default=True, help="Steps up to the peak.")
@click.option(
    "--hold-out", multiple=True, default=HELD_OUT, show_default=True, help="Package held out, without a pack."
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
    "--precision", type=click.Choice(["bfloat16", "float32"]), default="bfloat16", show_default=True
)
@click.option(
    "--bits", type=click.Choice(["8", "16"]), default="16", show_default=True, help="Bits of a stored weight."
)
@click.option("--compile", "compiled", is_flag=True, help="Compile the step; needs a C++ compiler.")
@click.option("--resume", is_flag=True, help="Continue the interrupted run in the output folder.")
def run(**options: Any) -> None:
    """Train a model on the Python files below ROOTS, or on a pack. Pass the resulting folder to --model.

    Without ROOTS or a pack: the standard library and the installed packages.
    """
    if options["widen"] and not options["start_from"]:
        raise click.UsageError("--widen requires --start-from.")
    if options["roots"] and options["pack"]:
        raise click.UsageError("Give either ROOTS or --pack.")
    _require_torch()
    folder = _trained(_options(**options))
    click.echo(f"wrote {folder}", err=True)


def _options(
    *,
    roots: tuple[Path, ...],
    output: Path,
    pack: Path | None,
    minutes: float,
    step_tokens: int,
    context: int,
    matrix_rate: float | None,
    other_rate: float | None,
    warm_up: int,
    precision: Any,  # noqa: ANN401 - checked by click
    compiled: bool,
    vocabulary: int,
    width: int,
    layers: int,
    hold_out: tuple[str, ...],
    skip: tuple[str, ...],
    start_from: str | None,
    bits: str,
    **others: Any,
) -> Options:
    from fimlsp.models.training.checkpoint import Sizes
    from fimlsp.models.training.loop import Plan
    from fimlsp.models.training.run import Options

    rates = FURTHER_RATES if start_from else RATES
    plan = Plan(
        minutes,
        step_tokens,
        context,
        matrix_rate or rates[0],
        other_rate or rates[1],
        warm_up,
        precision=precision,
        compiled=compiled,
    )
    return Options(
        output,
        plan,
        () if pack else roots or default_roots(),
        pack,
        hold_out,
        skip,
        Sizes(vocabulary, width, layers),
        start_from,
        bits=int(bits),
        **others,
    )


@train.command()
@click.argument("model", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--pack", type=FOLDER, required=True, help="The pack that it was trained on.")
@click.option("--hardware", default="one GPU", show_default=True, help="The kind of machine, for the card.")
def card(model: Path, pack: Path, hardware: str) -> None:
    """Measure MODEL on the packages that a pack holds out, and write its card into its folder."""
    _require_torch()
    from fimlsp.models.training.pack import read_pack
    from fimlsp.models.training.run import write_card

    try:
        write_card(model, read_pack(pack), hardware, lambda text: click.echo(text, err=True))
    except ModelError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"wrote {model / 'README.md'}", err=True)


def _require_torch() -> None:
    try:
        require("checkpoints", "Training needs PyTorch and transformers")
    except ModelError as error:
        raise click.ClickException(str(error)) from error


def _trained(options: Options) -> Path:
    """Run with *options* and show the progress; the resulting folder."""
    from fimlsp.models.training.run import Reports
    from fimlsp.models.training.run import run as train_model

    console = Console(stderr=True)
    with _bar(console) as bar:
        task = bar.add_task("", total=1.0)
        reports = Reports(
            stage=lambda text: bar.console.print(text, highlight=False),
            step=lambda at: bar.update(
                task,
                completed=min(1.0, at.share),
                description=f"{at.tokens / 1e6:.1f} M tokens, loss {at.loss:.2f}",
            ),
        )
        try:
            return train_model(options, reports)
        except ModelError as error:
            raise click.ClickException(str(error)) from error


def default_roots() -> tuple[Path, ...]:
    """The standard library and the installed packages of the running interpreter."""
    paths = sysconfig.get_paths()
    return Path(paths["stdlib"]), Path(paths["purelib"])


def _bar(console: Console) -> Progress:
    return Progress(TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn(), console=console)


if __name__ == "__main__":
    train()
