"""`fimlsp models`: lists those that work and those on this machine, fetches one, writes one as GGUF."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fimlsp.extras import install_command, missing_modules

if TYPE_CHECKING:
    from fimlsp.models.checkpoints.memory import Room


@click.group()
def models() -> None:
    """Tell which models work, and fetch them."""


@models.command(name="list")
def list_models() -> None:
    """List the models that are known to work, whether they fit, and those of the hub that are here."""
    from fimlsp.models.catalogue import KNOWN_MODELS
    from fimlsp.models.checkpoints.hub import cached_models
    from fimlsp.models.checkpoints.memory import GIB
    from rich.console import Console
    from rich.table import Table

    here = {model.name: model.size for model in cached_models()}
    table = Table(box=None)
    room = _room()
    for column in ("model", "parameters", "half precision", "context", "fits", "on this machine"):
        table.add_column(column, justify="left" if column == "model" else "right", no_wrap=True)
    table.add_row("bundled", *_bundled(), "yes", "comes with fimlsp")
    for model in KNOWN_MODELS:
        sizes = f"{model.billions:g} B", _gigabytes(model.bytes), f"{model.context:,}"
        fits = room.fits(model.billions * 1e9)
        table.add_row(model.name, *sizes, fits, _gigabytes(here[model.name]) if model.name in here else "")
    for name in sorted(here.keys() - {model.name for model in KNOWN_MODELS}):
        table.add_row(name, "", "", "", "", f"{_gigabytes(here[name])}, not tried")
    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(table)
    if room.free is not None:
        console.print(f"What fits is told for {room.device}, where {room.free / GIB:.1f} GiB are free now.")
    if missing_modules("checkpoints"):
        note = "All but the bundled one need PyTorch and transformers. To install them:"
        console.print(note, install_command("checkpoints"), soft_wrap=True, highlight=False, markup=False)


@models.command()
@click.argument("name")
@click.option("--revision", metavar="BRANCH_OR_COMMIT", help="Another version than the newest.")
def pull(name: str, revision: str | None) -> None:
    """Fetch the model NAME from the hub, so that it can be used offline.

    Only weights as safetensors, the configuration and the tokenizer are fetched. After an interruption, the
    same command goes on where it was.
    """
    from fimlsp.models.checkpoints.hub import fetch
    from fimlsp.models.errors import ModelError

    try:
        folder = fetch(name, revision)
    except ModelError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{name} is in {folder}; use it with --model {name}")


def _room() -> Room:
    """Where models would run; without torch nothing is known of GPUs."""
    from fimlsp.models.checkpoints.memory import Room, free_main_memory

    if missing_modules("checkpoints"):
        return Room("cpu", free_main_memory())
    from fimlsp.models.networks.torch.placement import default_room

    return default_room()


@models.command()
@click.argument("name")
@click.option(
    "--gguf",
    "target",
    required=True,
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The file to write.",
)
def export(name: str, target: Path) -> None:
    """Write the model NAME for llama.cpp and programs built on it.

    NAME is `bundled`, or a folder that `fimlsp train` made.
    """
    from fimlsp.models.checkpoints.hub import find_on_command_line
    from fimlsp.models.errors import ModelError
    from fimlsp.models.gguf_export import export_gguf

    try:
        size = export_gguf(find_on_command_line(name), target)
    except ModelError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{target} has {_gigabytes(size)}")


def _bundled() -> tuple[str, str, str]:
    """Parameters, size and context of the model that comes with fimlsp."""
    from fimlsp.models.checkpoints.checkpoint_files import read_files
    from fimlsp.models.loading import BUNDLED

    files = read_files(BUNDLED, "bundled")
    size = sum(path.stat().st_size for path in files.weights)
    context = files.config["max_position_embeddings"]
    return f"{files.n_parameters / 1e6:.1f} M", _gigabytes(size), f"{context:,}"


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.3f} GB" if size < 1e8 else f"{size / 1e9:.1f} GB"
