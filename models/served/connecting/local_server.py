"""Runs a GGUF file with llama.cpp's own server, inside this process, on a loopback port with a secret key.

xllamacpp brings that server as one prebuilt library; which processors it computes on is its own matter.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fimlsp.models.errors import ModelError, require
from fimlsp.models.served.http.address import Address

if TYPE_CHECKING:
    from xllamacpp import Server

SILENT = -1
SLOTS = 4
"""Prompts whose beginnings the server keeps: one for each editor, or each file edited in turn."""

POOL = 2
"""Whole contexts for which there is memory; all slots share it."""

SHARED_MEMORY_MIB = 256
"""Main memory for beginnings of prompts that have lost their slot."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A running server; it ends when nobody holds it any more."""

    address: Address
    key: str
    held: Server


def start(path: Path, name: str, context: int, device: str | None, threads: int | None) -> LocalServer:
    """Start a server for the GGUF file at *path*, which the user knows as *name*.

    Args:
        path: a file whose header was read without a complaint.
        name: for messages.
        context: how many tokens prompt and middle may have together.
        device: `cpu`, or a GPU as `cuda:1`; None: a GPU if this xllamacpp has one.
        threads: the most CPU threads; None: as llama.cpp thinks best.

    Raises:
        ModelError: xllamacpp is missing, or cannot run the file.
    """
    require("gguf", f"{name} needs llama.cpp")
    from xllamacpp import CommonParams, Server

    key = secrets.token_urlsafe()
    params = CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_parallel, params.kv_unified = POOL * context, SLOTS, True
    params.cache_ram_mib = SHARED_MEMORY_MIB
    if threads is not None:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.n_gpu_layers = 0 if device == "cpu" else -1
    params.main_gpu = _number_of(device)
    params.endpoint_metrics = True
    params.api_keys, params.ui, params.verbosity, params.offline = [key], False, SILENT, True
    try:
        server = Server(params)
    except RuntimeError as error:
        raise ModelError(
            f"llama.cpp cannot run {name}: it is damaged, too large for the memory, or newer than your "
            f"xllamacpp; fetch it again, or update with `pip install -U xllamacpp`."
        ) from error
    return LocalServer(Address.parse(server.listening_address), key, server)


def _number_of(device: str | None) -> int:
    """Which GPU *device* means."""
    number = (device or "").partition(":")[2]
    return int(number) if number.isdecimal() else 0
