"""The models on this machine, described for users who choose one, with the reason if one cannot be used.

They are the bundled one, checkpoints of the hub, GGUF files of all programs, and those of model servers on
their usual ports. Requests go to the loopback address only: `/v1/models`, which all of these servers have,
and `/props` of llama.cpp. Any program may listen there, so answers are limited to 2 s and 1 MB, and values of
unexpected types are ignored.

| port | server | source |
|---|---|---|
| 8080 | llama.cpp | `tools/server/README.md` of github.com/ggml-org/llama.cpp |
| 8012 | llama.cpp | README of github.com/ggml-org/llama.vim |
| 8000 | vLLM | docs.vllm.ai, "OpenAI-Compatible Server" |
| 11434 | Ollama | `docs/faq.md` of github.com/ollama/ollama |
| 1234 | LM Studio | lmstudio.ai/docs, "API" |
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from fimlsp.models.checkpoints.checkpoint_files import CheckpointFiles, read_files
from fimlsp.models.checkpoints.gguf import check_names, describe, read_header
from fimlsp.models.checkpoints.hub import cached_models, find_folder
from fimlsp.models.errors import ModelError
from fimlsp.models.gguf_stores import StoredGguf, find_gguf, names_of, stored_ggufs
from fimlsp.models.prompts.fim_format import family_by_name, find_format
from fimlsp.models.server_kinds import ServerKind, kind_of

PORTS = (8012, 8080, 8000, 11434, 1234)
LOOPBACK = "127.0.0.1"
CONNECT_S = 0.5
ANSWER_S = 2.0
ANSWER_MAX = 1 << 20
MODELS_MAX = 50
NAME_MAX = 300
_PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class ServerModel:
    """A model of a server on this machine.

    Attributes:
        kind: kind of the server.
        port: port of the server.
        name: the server's name for the model.
        is_alone: True if the server has no other model.
        n_parameters: number of parameters; None: unknown.
        size: size in bytes; None: unknown.
        context: number of tokens that it reads; None: unknown.
        path: file of the model on this machine; None: unknown.
    """

    kind: ServerKind
    port: int
    name: str
    is_alone: bool
    n_parameters: int | None = None
    size: int | None = None
    context: int | None = None
    path: Path | None = None

    @property
    def address(self) -> str:
        """The value of the option `model` for it."""
        return f"http://{LOOPBACK}:{self.port}{'' if self.is_alone else f'#{self.name}'}"


def models_on_servers(ports: tuple[int, ...] = PORTS) -> list[ServerModel]:
    """The models of the servers that answer now; takes at most two seconds."""
    with ThreadPoolExecutor(len(ports)) as pool:
        return [model for models in pool.map(_models_at, ports) for model in models]


def _models_at(port: int) -> list[ServerModel]:
    answer = _json(port, "/v1/models")
    data = answer.get("data") if isinstance(answer, dict) else None
    entries = [entry for entry in data if _is_model(entry)] if isinstance(data, list) else []
    return [*_served(port, entries[:MODELS_MAX])]


def _is_model(entry: object) -> bool:
    name = entry.get("id") if isinstance(entry, dict) else None
    return isinstance(name, str) and name.isprintable() and 0 < len(name) < NAME_MAX


def _served(port: int, entries: list[dict[str, Any]]) -> Iterator[ServerModel]:
    for entry in entries:
        kind = kind_of(entry)
        meta: dict[str, Any] = entry["meta"] if isinstance(entry.get("meta"), dict) else {}
        is_alone = len(entries) == 1
        yield ServerModel(
            kind,
            port,
            entry["id"],
            is_alone,
            n_parameters=_positive(meta.get("n_params")),
            size=_positive(meta.get("size")),
            context=_positive(meta.get("n_ctx_train") or entry.get("max_model_len")),
            path=_path_of(port) if kind.name == "llama-server" and is_alone else None,
        )


def _path_of(port: int) -> Path | None:
    """The file of a llama-server's model; None if the server does not report it."""
    props = _json(port, "/props")
    path = props.get("model_path") if isinstance(props, dict) else None
    return Path(path) if isinstance(path, str) and "\0" not in path and Path(path).is_absolute() else None


def _positive(value: object) -> int | None:
    return value if type(value) is int and 0 < value < 1 << 60 else None


def _json(port: int, path: str) -> object:
    """The JSON answer of the server at *port* to *path*; None without a valid one."""
    deadline, data = time.monotonic() + ANSWER_S, b""
    connection = HTTPConnection(LOOPBACK, port, timeout=CONNECT_S)
    try:
        connection.request("GET", path, headers={"Accept": "application/json"})
        if connection.sock is not None:
            connection.sock.settimeout(ANSWER_S)
        answer = connection.getresponse()
        while answer.status == 200 and (piece := answer.read1(_PIECE)):
            data += piece
            if len(data) > ANSWER_MAX or time.monotonic() > deadline:
                return None
        return json.loads(data)
    except (OSError, HTTPException, ValueError, RecursionError):
        return None
    finally:
        connection.close()


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
    yield _described(read_files(Path(__file__).parent / BUNDLED, BUNDLED), "", "fimlsp")
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
