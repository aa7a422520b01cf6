"""Describes each model on this machine for users who choose one, with the reason if it cannot be used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fimlsp.models import bundled
from fimlsp.models.checkpoints.checkpoint_files import CheckpointFiles, read_files
from fimlsp.models.checkpoints.gguf_header import read_header
from fimlsp.models.checkpoints.gguf_model import check_names, describe
from fimlsp.models.checkpoints.hub import cached_models, find_folder
from fimlsp.models.discovery.gguf_stores import StoredGguf, find_gguf, names_of, stored_ggufs
from fimlsp.models.discovery.servers import ServerModel, models_on_servers
from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.fim_format import family_by_name, find_format

BUNDLED = "bundled"


@dataclass(frozen=True, slots=True)
class LocalModel:
    """A model on this machine.

    Attributes:
        name: the value of the option `model` for it; empty: the bundled one.
        program: the program that downloaded it, such as `Ollama`, or the kind of its server.
        size: size of its files in bytes; None: unknown.
        n_parameters: number of parameters; None: unknown.
        precision: precision of its weights, such as `Q4_K_M`; empty: unknown.
        context: number of tokens that it was trained to read; None: unknown.
        licence: for instance `apache-2.0`; empty: unknown.
        family: family of its markers; empty: unknown.
        fills_in: True if it was trained to fill in the middle; None: known only after loading.
        remark: why it cannot be used, or not well; None: no objection.
    """

    name: str
    program: str
    size: int | None = None
    n_parameters: int | None = None
    precision: str = ""
    context: int | None = None
    licence: str = ""
    family: str = ""
    fills_in: bool | None = None
    remark: str | None = None


def local_models() -> Iterator[LocalModel]:
    """The models on disk, and those of the servers that answer on the usual ports of this machine."""
    yield from models_on_disk()
    yield from map(_on_server, models_on_servers())


def models_on_disk() -> Iterator[LocalModel]:
    """The bundled model, checkpoints of the hub, and the GGUF files of all programs.

    Takes about 0.3 s for each, to read the header or the tokenizer.
    """
    yield _described(read_files(Path(bundled.__file__).parent, BUNDLED), "", "fimlsp")
    for cached in cached_models():
        try:
            folder = find_folder(cached.name)
        except ModelError:
            continue
        if any(folder.glob("*.safetensors")) or not any(folder.rglob("*.gguf")):
            yield _checkpoint(cached.name, folder, cached.size)
    taken = set[str]()
    for stored in stored_ggufs():
        name = next((name for name in names_of(stored) if name.casefold() not in taken), str(stored.path))
        taken.add(name.casefold())
        yield _gguf(stored, name)


def _checkpoint(name: str, folder: Path, size: int) -> LocalModel:
    try:
        return _described(read_files(folder, name), name, "the hub")
    except ModelError as error:
        return LocalModel(name, "the hub", size, fills_in=False, remark=str(error))


def _described(files: CheckpointFiles, name: str, program: str) -> LocalModel:
    family, fills_in, remark = "", False, None
    try:
        ids = files.tokenizer.get_vocab(with_added_tokens=True)
        family = find_format(ids, files.name, architecture=files.architecture).family
        fills_in, remark = check_names(family, files.name)
    except ModelError:
        remark = "it has no markers for filling in the middle"
    context = files.config.get("max_position_embeddings") or files.config.get("n_positions")
    return LocalModel(
        name=name,
        program=program,
        size=sum(path.stat().st_size for path in files.weights),
        n_parameters=files.n_parameters,
        precision=str(files.config.get("dtype") or files.config.get("torch_dtype") or ""),
        context=context if isinstance(context, int) else None,
        family=family,
        fills_in=fills_in,
        remark=remark,
    )


def _gguf(stored: StoredGguf, name: str) -> LocalModel:
    program, parts = stored.store.program, stored.parts
    try:
        size = sum(path.stat().st_size for path in parts)
        model = describe(stored.path, stored.name)
        others = sum(read_header(path, stored.name).n_parameters for path in parts if path != stored.path)
    except OSError as error:
        return LocalModel(name, program, fills_in=False, remark=f"unreadable ({error.strerror})")
    except ModelError as error:
        return LocalModel(name, program, size, fills_in=False, remark=str(error))
    return LocalModel(
        name=name,
        program=program,
        size=size,
        n_parameters=model.n_parameters + others,
        precision=model.quantisation,
        context=model.context or None,
        licence=model.licence,
        family=model.fim.family if model.fim else "",
        fills_in=model.fim is not None,
        remark=model.remark,
    )


def _on_server(served: ServerModel) -> LocalModel:
    """A model of a server, described by its file if that is on this machine too."""
    path = find_gguf(f"ollama:{served.name}") if served.kind.name == "Ollama" else served.path
    named = family_by_name(served.name)
    family, fills_in, remark = "", None, served.kind.remark
    if named is not None:
        family = named.name
        fills_in, reservation = check_names(family, served.name)
        remark = remark if fills_in else reservation
    if path is not None:
        try:
            model = describe(path, served.name)
        except ModelError:
            pass
        else:
            fills_in, remark = model.fim is not None, model.remark or remark
            family = model.fim.family if model.fim else ""
    return LocalModel(
        name=served.address,
        program=f"{served.kind.name}: {served.path.name if served.path else served.name}",
        size=served.size,
        n_parameters=served.n_parameters,
        context=served.context,
        family=family,
        fills_in=fills_in,
        remark=remark,
    )
