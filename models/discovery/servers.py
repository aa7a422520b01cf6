"""Finds model servers on the usual ports of this machine, and lists their models.

Requests go to the loopback address only: `/v1/models`, which all of these servers have, and `/props` of
llama.cpp. Any program may listen there, so answers are limited to 2 s and 1 MB, and values of unexpected
types are ignored.

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

from fimlsp.models.discovery.server_kinds import ServerKind, kind_of

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
    return [*_described(port, entries[:MODELS_MAX])]


def _is_model(entry: object) -> bool:
    name = entry.get("id") if isinstance(entry, dict) else None
    return isinstance(name, str) and name.isprintable() and 0 < len(name) < NAME_MAX


def _described(port: int, entries: list[dict[str, Any]]) -> Iterator[ServerModel]:
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
