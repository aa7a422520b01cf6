"""`fimlsp models`: lists those that work and those on this machine, fetches one, writes one as GGUF."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import click

from fimlsp.extras import install_command, missing_modules

if TYPE_CHECKING:
    from rich.table import Table

    from fimlsp.models.checkpoints.download import Announcement
    from fimlsp.models.checkpoints.memory import Room
    from fimlsp.models.finding.listing import Found

NEEDED = {
    "checkpoints": "Checkpoints need PyTorch and transformers. To install them:",
    "gguf": "GGUF files need llama.cpp. To install it:",
}


@click.group()
def models() -> None:
    """Tell which models work, and fetch them."""


@models.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print those on this machine as one JSON object.")
def list_models(as_json: bool) -> None:
    """List the models on this machine, and those that can be fetched.

    GGUF files are looked for where llama.cpp, Ollama, LM Studio and the hub keep them, servers on the usual
    ports of this machine. The list says of each whether it was trained to fill in the middle, and what keeps
    it from being used. The name in the first column is what --model takes.
    """
    from rich.console import Console

    from fimlsp.models.finding.listing import models_here

    here = [*models_here()]
    if as_json:
        click.echo(json.dumps({"models": [asdict(model) for model in here]}))
        return
    console = Console(
        width=None if sys.stdout.isatty() else 160, soft_wrap=False, highlight=False, markup=False
    )
    console.print(_found_table(here))
    console.print("\nWhat `fimlsp models pull` fetches:\n")
    console.print(_known_table(_room(), {model.name for model in here}))
    for extra, need in NEEDED.items():
        if missing_modules(extra):
            console.print(need, install_command(extra), soft_wrap=True)


def _found_table(found: list[Found]) -> Table:
    table = _table("model", "where", "size", "parameters", "precision", "context", "fills in the middle")
    for model in found:
        size = _gigabytes(model.size) if model.size else ""
        parameters = _count(model.n_parameters) if model.n_parameters else ""
        context = f"{model.context:,}" if model.context else ""
        name = model.name or "bundled"
        table.add_row(name, model.program, size, parameters, model.precision, context, _verdict(model))
    return table


def _known_table(room: Room, here: set[str]) -> Table:
    """The models of the catalogue, without those that are *here*."""
    from fimlsp.models.catalogue import KNOWN_GGUF, KNOWN_MODELS
    from fimlsp.models.checkpoints.memory import GIB

    where = f"fits on {room.device}" + (f", {room.free / GIB:.1f} GiB free" if room.free is not None else "")
    table = _table("model", "kind", "size", "parameters", "licence", "context", where)
    for gguf in KNOWN_GGUF:
        fits = "" if room.free is None or gguf.bytes > room.free else "yes"
        if not _is_here(gguf.name):
            size, parameters = _gigabytes(gguf.bytes), f"{gguf.billions:g} B"
            table.add_row(gguf.name, "GGUF", size, parameters, gguf.licence, "", fits)
    for model in KNOWN_MODELS:
        if model.name not in here:
            size, parameters, context = _gigabytes(model.bytes), f"{model.billions:g} B", f"{model.context:,}"
            fits = room.fits(model.billions * 1e9)
            table.add_row(model.name, "checkpoint", size, parameters, "", context, fits)
    return table


def _is_here(name: str) -> bool:
    from fimlsp.models.errors import ModelError
    from fimlsp.models.finding.names import find_file

    try:
        return find_file(name) is not None
    except ModelError:
        return False


def _verdict(model: Found) -> str:
    """Whether *model* fills in the middle, and what is to be said about that."""
    verdicts = {True: f"yes, {model.family}", False: "no", None: "seen when it is loaded"}
    verdict = verdicts[model.fills_in]
    return verdict if model.remark is None else f"{verdict}: {model.remark}"


def _table(*columns: str) -> Table:
    from rich.table import Table

    table = Table(box=None)
    for column in columns:
        is_text = column in ("model", "where", "kind", "precision", "licence", columns[-1])
        table.add_column(column, justify="left" if is_text else "right", overflow="fold")
    return table


@models.command()
@click.argument("name")
@click.option("--revision", metavar="BRANCH_OR_COMMIT", help="Another version than the newest.")
def pull(name: str, revision: str | None) -> None:
    """Fetch the model NAME from the hub, so that it can be used offline.

    NAME is one of `fimlsp models list`, a repository of the hub such as bigcode/starcoder2-3b, or a GGUF
    file in one, such as owner/repository/file.gguf or owner/repository:Q4_K_M. Of a repository only weights
    as safetensors, the configuration and the tokenizer are fetched. After an interruption, the same command
    goes on where it was.
    """
    from fimlsp.models.catalogue import known_gguf
    from fimlsp.models.checkpoints.hub import fetch, fetch_gguf, fetch_quantised
    from fimlsp.models.errors import ModelError

    known = known_gguf(name)
    owner, repository, *rest = *name.split("/"), "", ""
    file = known.file if known else "/".join(part for part in rest if part)
    place, _, quantisation = name.partition(":")
    try:
        if quantisation and not file:
            path = fetch_quantised(place, quantisation, revision, _announce)
            _tell_about(path, path.stem)
        elif file:
            place = known.repository if known else f"{owner}/{repository}"
            path = fetch_gguf(place, file, revision, _announce)
            _tell_about(path, known.name if known else PurePosixPath(file).stem)
        else:
            click.echo(f"{name} is in {fetch(name, revision, _announce)}; use it with --model {name}")
    except ModelError as error:
        raise click.ClickException(str(error)) from error


def _announce(announced: Announcement) -> None:
    """Tell what will be fetched, before it is."""
    licence = f"licence {announced.licence}" if announced.licence else "the hub names no licence"
    click.echo(f"{announced.name}: {_gigabytes(announced.size)}, {licence}", err=True)


def _tell_about(path: Path, name: str) -> None:
    """Tell what the GGUF file at *path* says of itself, now that it is here.

    Raises:
        ModelError: it is none.
    """
    from fimlsp.models.gguf.description import describe

    model = describe(path, name)
    click.echo(f"{name} is in {path}; use it with --model {name}")
    if model.remark is not None:
        click.echo(f"But {model.remark}.")
    if missing_modules("gguf"):
        click.echo(f"{NEEDED['gguf']} {install_command('gguf')}")


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


def _count(n: int) -> str:
    return f"{n / 1e9:.2f} B" if n >= 1e9 else f"{n / 1e6:.1f} M"


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.3f} GB" if size < 1e8 else f"{size / 1e9:.1f} GB"
