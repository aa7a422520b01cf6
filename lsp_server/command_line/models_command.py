"""`fimlsp models`: lists models, fetches one, exports one as GGUF, forgets counts."""

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
    from fimlsp.models.checkpoints.memory import FreeMemory
    from fimlsp.models.local_models import LocalModel

NEEDED = {
    "checkpoints": "Checkpoints need PyTorch and transformers. To install them:",
    "gguf": "GGUF files need llama.cpp. To install it:",
}


@click.group()
def models() -> None:
    """List, fetch and export models; forget the counts of option learn."""


@models.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print the models on this machine as one JSON object.")
def list_models(as_json: bool) -> None:
    """List the models on this machine, and models that can be fetched.

    GGUF files are searched in the folders of llama.cpp, Ollama, LM Studio and the hub, and servers on their
    usual ports. The last column reports fill-in-the-middle training, and any obstacle to its use. Pass the
    name in the first column to --model.
    """
    from rich.console import Console

    from fimlsp.models.local_models import local_models

    local = [*local_models()]
    if as_json:
        click.echo(json.dumps({"models": [asdict(model) for model in local]}))
        return
    console = Console(
        width=None if sys.stdout.isatty() else 160, soft_wrap=False, highlight=False, markup=False
    )
    console.print(_local_table(local))
    console.print("\nModels that `fimlsp models pull` can fetch:\n")
    console.print(_catalogue_table(_room(), {model.name for model in local}))
    for extra, need in NEEDED.items():
        if missing_modules(extra):
            console.print(need, install_command(extra), soft_wrap=True)


def _local_table(local_models: list[LocalModel]) -> Table:
    table = _table("model", "where", "size", "parameters", "precision", "context", "fills in the middle")
    for model in local_models:
        size = _gigabytes(model.size) if model.size else ""
        parameters = _count(model.n_parameters) if model.n_parameters else ""
        context = f"{model.context:,}" if model.context else ""
        name = model.name or "bundled"
        table.add_row(name, model.program, size, parameters, model.precision, context, _verdict(model))
    return table


def _catalogue_table(room: FreeMemory, local: set[str]) -> Table:
    """The models of the catalogue, without those on this machine, which are called *local*."""
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
        if model.name not in local:
            size, parameters, context = _gigabytes(model.bytes), f"{model.billions:g} B", f"{model.context:,}"
            fits = room.fits(model.billions * 1e9)
            table.add_row(model.name, "checkpoint", size, parameters, "", context, fits)
    return table


def _is_here(name: str) -> bool:
    from fimlsp.models.errors import ModelError
    from fimlsp.models.gguf_stores import find_gguf

    try:
        return find_gguf(name) is not None
    except ModelError:
        return False


def _verdict(model: LocalModel) -> str:
    """Support of *model* for fill-in-the-middle in words, with a reservation if there is one."""
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
@click.argument("name", required=False)
@click.option("--revision", metavar="BRANCH_OR_COMMIT", help="Default: the newest.")
@click.option(
    "--tokenizer",
    "no_weights",
    is_flag=True,
    help="Fetch only the files that a vLLM or SGLang needs on this machine, without weights.",
)
def pull(name: str | None, revision: str | None, no_weights: bool) -> None:
    """Fetch the model NAME from the hub, so that it can be used offline.

    Without NAME, three sizes that fit this machine are listed, with their cost. NAME is a name in `fimlsp
    models list`, or a hub repository such as bigcode/starcoder2-3b. A GGUF file in a repository is
    owner/repository/file.gguf or owner/repository:Q4_K_M. From a repository, only the safetensors weights,
    the configuration and the tokenizer are fetched. An interrupted download is resumed by the same command.
    """
    from fimlsp.models.errors import ModelError

    if name is None:
        _list_offers()
        return
    try:
        _pull(name, revision, no_weights=no_weights)
    except ModelError as error:
        raise click.ClickException(str(error)) from error


def _pull(name: str, revision: str | None, *, no_weights: bool) -> None:
    """Fetch *name*, and print how to use it.

    Raises:
        ModelError: It cannot be fetched.
    """
    from fimlsp.models.catalogue import known_gguf
    from fimlsp.models.checkpoints.hub import fetch, fetch_gguf, fetch_quantised, fetch_tokenizer

    known = known_gguf(name)
    owner, repository, *rest = *name.split("/"), "", ""
    file = known.file if known else "/".join(part for part in rest if part)
    repository_name, _, quantisation = name.partition(":")
    if no_weights:
        folder = fetch_tokenizer(name, revision, _announce)
        click.echo(f"the tokenizer of {name} is in {folder}; use it with --model http://HOST:PORT")
    elif quantisation and not file:
        path = fetch_quantised(repository_name, quantisation, revision, _announce)
        _report_gguf(path, path.stem)
    elif file:
        repository_name = known.repository if known else f"{owner}/{repository}"
        path = fetch_gguf(repository_name, file, revision, _announce)
        _report_gguf(path, known.name if known else PurePosixPath(file).stem)
    else:
        click.echo(f"{name} is in {fetch(name, revision, _announce)}; use it with --model {name}")


def _list_offers() -> None:
    """Print three sizes that fit this machine, with their cost."""
    from rich.console import Console

    from fimlsp.models.catalogue import offers
    from fimlsp.models.checkpoints.memory import free_main_memory
    from fimlsp.models.networks.torch.threads import default_threads

    threads = default_threads()
    table = _table("model", "size", "memory", "licence", "first suggestion", "each further one")
    for offer in offers(free_main_memory(), threads):
        name, size = offer.file.name, _gigabytes(offer.file.bytes)
        costs = (f"{offer.first_s:.0f} s", f"{offer.next_s:.1f} s")
        table.add_row(name, size, _gigabytes(offer.memory), offer.file.licence, *costs)
    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False, markup=False)
    console.print("Give a NAME, such as one of these sizes, which fit this machine:\n")
    console.print(table)
    console.print(
        f"\nThe times are rough, for {threads} threads of a processor without a GPU; the first one is that "
        f"after a jump. All models: `fimlsp models list`."
    )


def _announce(announced: Announcement) -> None:
    """Report the download before it starts."""
    licence = f"licence {announced.licence}" if announced.licence else "no licence on the hub"
    click.echo(f"{announced.name}: {_gigabytes(announced.size)}, {licence}", err=True)


def _report_gguf(path: Path, name: str) -> None:
    """Report how to use the GGUF file at *path*, and any obstacle to its use.

    Raises:
        ModelError: It is not a GGUF file.
    """
    from fimlsp.models.checkpoints.gguf import describe

    model = describe(path, name)
    click.echo(f"{name} is in {path}; use it with --model {name}")
    if model.remark is not None:
        click.echo(f"But {model.remark}.")
    if missing_modules("gguf"):
        click.echo(f"{NEEDED['gguf']} {install_command('gguf')}")


def _room() -> FreeMemory:
    """Device and memory for models. Without torch, GPUs are unknown."""
    from fimlsp.models.checkpoints.memory import FreeMemory, free_main_memory

    if missing_modules("checkpoints"):
        return FreeMemory("cpu", free_main_memory())
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
@click.option(
    "--bits",
    type=click.Choice(["8", "32"]),
    default="32",
    show_default=True,
    help="Bits of a weight: with 8 a token takes half the time, and the file a quarter of the bytes.",
)
def export(name: str, target: Path, bits: str) -> None:
    """Export the model NAME as GGUF, for llama.cpp and programs built on it.

    NAME is `bundled`, or an output folder of `fimlsp train`.
    """
    from fimlsp.models.checkpoints.hub import find_on_command_line
    from fimlsp.models.errors import ModelError
    from fimlsp.models.gguf_export import export_gguf

    try:
        size = export_gguf(find_on_command_line(name), target, int(bits))
    except ModelError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{target} has {_gigabytes(size)}")


@models.command()
def forget() -> None:
    """Delete the counts of right and wrong suggestions of all models (option learn)."""
    from shutil import rmtree

    from fimlsp.models.learnt import learnt_folder

    folder = learnt_folder()
    if folder is None or not folder.is_dir():
        click.echo("nothing was learnt")
        return
    try:
        rmtree(folder)
    except OSError as error:
        raise click.ClickException(f"Cannot delete {folder}: {error}. Delete it by hand.") from error
    click.echo(f"{folder} is deleted; running servers continue with what they know")


def _count(n: int) -> str:
    return f"{n / 1e9:.2f} B" if n >= 1e9 else f"{n / 1e6:.1f} M"


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.3f} GB" if size < 1e8 else f"{size / 1e9:.1f} GB"
