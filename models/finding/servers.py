"""Finds model servers that answer on the usual ports of this machine, and asks which models they have.

Only the loopback address is asked, only `/v1/models`, which all of them have, and what one of them says more
about these models. Whoever listens there may be anything: an answer may take two seconds and have a megabyte,
and what is in it counts only if it is of the kind that is expected.

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

PORTS = (8012, 8080, 8000, 11434, 1234)
OWNERS = {"llamacpp": "llama-server", "vllm": "vLLM", "library": "Ollama", "organization_owner": "LM Studio"}
LOOPBACK = "127.0.0.1"
CONNECT_S = 0.5
ANSWER_S = 2.0
ANSWER_MAX = 1 << 20
MODELS_MAX = 50
_PIECE = 1 << 16


@dataclass(frozen=True, slots=True)
class Served:
    """A model of a server.

    Attributes:
        kind: of the server, such as `vLLM`; `server` if it does not say.
        port: where it listens.
        name: of the model, as the server has it.
        is_alone: whether the server has no other model.
        n_parameters: None: it does not say.
        size: in bytes; None: it does not say.
        context: how many tokens it reads; None: it does not say.
        path: the file of the model on this machine; None: it does not say.
    """

    kind: str
    port: int
    name: str
    is_alone: bool
    n_parameters: int | None = None
    size: int | None = None
    context: int | None = None
    path: Path | None = None

    @property
    def address(self) -> str:
        """What the option `model` has to be."""
        return f"http://{LOOPBACK}:{self.port}{'' if self.is_alone else f'#{self.name}'}"


def served_here(ports: tuple[int, ...] = PORTS) -> list[Served]:
    """The models of the servers that answer now; takes two seconds at most."""
    with ThreadPoolExecutor(len(ports)) as pool:
        return [served for found in pool.map(_ask, ports) for served in found]


def _ask(port: int) -> list[Served]:
    answer = _json(port, "/v1/models")
    listed = answer.get("data") if isinstance(answer, dict) else None
    models = [each for each in listed if _is_model(each)] if isinstance(listed, list) else []
    return [*_served(port, models[:MODELS_MAX])]


def _is_model(entry: object) -> bool:
    name = entry.get("id") if isinstance(entry, dict) else None
    return isinstance(name, str) and name.isprintable() and 0 < len(name) < 300


def _served(port: int, models: list[dict[str, Any]]) -> Iterator[Served]:
    for model in models:
        kind = OWNERS.get(str(model.get("owned_by")), "server")
        told = model.get("meta")
        meta: dict[str, Any] = told if isinstance(told, dict) else {}
        is_alone = len(models) == 1
        yield Served(
            kind,
            port,
            model["id"],
            is_alone,
            n_parameters=_whole(meta.get("n_params")),
            size=_whole(meta.get("size")),
            context=_whole(meta.get("n_ctx_train") or model.get("max_model_len")),
            path=_path_of(port) if kind == "llama-server" and is_alone else None,
        )


def _path_of(port: int) -> Path | None:
    """The file of a llama-server's model, if it says so."""
    props = _json(port, "/props")
    path = props.get("model_path") if isinstance(props, dict) else None
    return Path(path) if isinstance(path, str) and "\0" not in path and Path(path).is_absolute() else None


def _whole(value: object) -> int | None:
    return value if type(value) is int and 0 < value < 1 << 60 else None


def _json(port: int, path: str) -> object:
    """What the server at *port* answers to *path*; None if that is nothing of use."""
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
