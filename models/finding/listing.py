"""Describes each model on this machine for users who choose one, and says why one cannot be used."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fimlsp.models import bundled
from fimlsp.models.checkpoints.checkpoint_files import CheckpointFiles, read_files
from fimlsp.models.checkpoints.hub import cached_models, find_folder
from fimlsp.models.errors import ModelError
from fimlsp.models.finding.names import find_file, names_of, stored_here
from fimlsp.models.finding.servers import Served, served_here
from fimlsp.models.finding.stored import Stored
from fimlsp.models.gguf.description import describe, judge_by_name
from fimlsp.models.gguf.header import read_header
from fimlsp.models.prompts.fim_format import find_format

BUNDLED = "bundled"
REMARKS = {
    "LM Studio": "it tells no probabilities of tokens; use its GGUF files themselves",
    "Ollama": "approximate, as it tells texts and no tokens; its files can be used themselves",
}
"""Remarks on all models of a kind of server."""


@dataclass(frozen=True, slots=True)
class Found:
    """A model on this machine.

    Attributes:
        name: what the option `model` has to be; empty: the bundled one.
        program: whose it is, such as `Ollama`, or the kind of the server that has it.
        size: of its files, in bytes; None: not known.
        n_parameters: None: not known.
        precision: of its numbers, such as `Q4_K_M`; empty: not known.
        context: how many tokens it was made to read; None: not known.
        licence: such as `apache-2.0`; empty: not known.
        family: whose markers it has; empty: none that are known.
        fills_in: whether it was trained to fill in the middle; None: that is seen when it is loaded.
        remark: why it cannot be used, or not well; None: nothing is against it.
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


def models_here() -> Iterator[Found]:
    """The models on disk, and those of the servers that answer on the usual ports of this machine."""
    yield from models_on_disk()
    yield from map(_served, served_here())


def models_on_disk() -> Iterator[Found]:
    """The bundled model, checkpoints of the hub, and the GGUF files of all programs.

    Takes about 0.3 s for each, as the header or the tokenizer is read.
    """
    yield _described(read_files(Path(bundled.__file__).parent, BUNDLED), "", "fimlsp")
    for cached in cached_models():
        try:
            folder = find_folder(cached.name)
        except ModelError:
            continue
        if any(folder.glob("*.safetensors")) or not any(folder.rglob("*.gguf")):
            yield _checkpoint(cached.name, folder, cached.size)
    names = set[str]()
    for stored in stored_here():
        name = next((name for name in names_of(stored) if name.casefold() not in names), str(stored.path))
        names.add(name.casefold())
        yield _gguf(stored, name)


def _checkpoint(name: str, folder: Path, size: int) -> Found:
    try:
        return _described(read_files(folder, name), name, "the hub")
    except ModelError as error:
        return Found(name, "the hub", size, fills_in=False, remark=str(error))


def _described(files: CheckpointFiles, name: str, program: str) -> Found:
    family, fills_in, remark = "", False, None
    try:
        ids = files.tokenizer.get_vocab(with_added_tokens=True)
        family = find_format(ids, files.name, architecture=files.architecture).family
        fills_in, remark = judge_by_name(family, files.name)
    except ModelError:
        remark = "it has no markers for filling in the middle"
    context = files.config.get("max_position_embeddings") or files.config.get("n_positions")
    return Found(
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


def _gguf(stored: Stored, name: str) -> Found:
    program, parts = stored.store.program, stored.parts
    try:
        size = sum(path.stat().st_size for path in parts)
        model = describe(stored.path, stored.name)
        others = sum(read_header(path, stored.name).n_parameters for path in parts if path != stored.path)
    except OSError as error:
        return Found(name, program, fills_in=False, remark=f"it cannot be read ({error.strerror})")
    except ModelError as error:
        return Found(name, program, size, fills_in=False, remark=str(error))
    return Found(
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


def _served(served: Served) -> Found:
    """A model of a server; what its file says, if that is on this machine too."""
    path = find_file(f"ollama:{served.name}") if served.kind == "Ollama" else served.path
    family, fills_in, remark = "", None, REMARKS.get(served.kind)
    if served.kind == "LM Studio":
        fills_in = False
    elif path is not None:
        try:
            model = describe(path, served.name)
        except ModelError:
            pass
        else:
            fills_in, remark = model.fim is not None, model.remark or remark
            family = model.fim.family if model.fim else ""
    return Found(
        name=served.address,
        program=f"{served.kind}: {served.path.name if served.path else served.name}",
        size=served.size,
        n_parameters=served.n_parameters,
        context=served.context,
        family=family,
        fills_in=fills_in,
        remark=remark,
    )
