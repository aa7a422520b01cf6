"""GGUF files: llama.cpp's own server runs them inside this process, on a loopback port with a secret key.

`model_file.py` reads the file; predictions come from the server. xllamacpp ships that server as one prebuilt
library. The library chooses the processors that it uses.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fimlsp.models.checkpoints.memory import CPU_CONTEXT_MAX, check_memory, free_main_memory, needed_bytes
from fimlsp.models.errors import ModelError, require
from fimlsp.models.prompts.families import Family, Order
from fimlsp.models.remote.address import Address
from fimlsp.models.remote.http_client import HttpClient
from fimlsp.models.remote.llama_server import Slots
from fimlsp.models.remote.look_ahead import CONTEXT_MAX, RemoteModel
from fimlsp.models.remote.model_file import ModelFile, Served

if TYPE_CHECKING:
    from xllamacpp import Server

SUFFIX = ".gguf"
SILENT = -1
SLOTS = 4
"""Prompts whose beginnings the server keeps: one for each editor, or each file edited in turn."""

POOL = 2
"""Number of whole contexts that memory is reserved for; all slots share it."""

GPU_BATCH, CPU_BATCH = 512, 64
"""Tokens of a prompt that are read at once; a cancelled request ends after them, and they stay read.

A CPU gains nothing from more: with Qwen2.5-Coder 0.5B's sizes, 64 tokens take it 0.8 s, 512 take 7 s.
"""

SHARED_MEMORY_MIB = 256
"""Main memory for beginnings of prompts that have lost their slot."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A running server; it ends with the last reference to *keep_alive*."""

    address: Address
    key: str
    keep_alive: Server


def is_gguf(name: str) -> bool:
    """True if *name* is meant as a GGUF file."""
    return name.lower().endswith(SUFFIX)


def path_of(name: str) -> Path:
    """The path of the GGUF file *name*: absolute, below `~`, or relative with a leading dot.

    Raises:
        ModelError: *name* has none of these forms; the working directory may be an untrusted workspace.
    """
    if not (name.startswith(("~", "./", "../", ".\\")) or Path(name).is_absolute()):
        raise ModelError(
            f"Cannot use {name} as a path. Give the full path, or ./{name} below the working directory."
        )
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise ModelError(f"Cannot expand {name}: no such user. Give the full path.") from error


def load_gguf(
    path: Path,
    device: str | None,
    threads: int | None,
    family: str | Family | None,
    order: Order | None,
    most_context: int | None = None,
) -> RemoteModel:
    """The model of the GGUF file at *path*, in a server of its own.

    Args:
        path: the file.
        device: as in `load_model`.
        threads: maximum number of CPU threads; None: llama.cpp's default.
        family: as in `load_model`.
        order: as in `load_model`.
        most_context: the `context` of `load_model`.

    Raises:
        ModelError: the file is damaged, no token ends the texts of the model, memory does not
            suffice, or the extra `gguf` is missing.
    """
    file = ModelFile.read(path, family, order)
    context = file.context(most_context or _context_max(device))
    needed = needed_bytes(file.header.size, 1, POOL * context * file.cache_bytes_of_token)
    check_memory(path.name, "cpu", needed, free_main_memory())
    server = start_server(path, path.name, context, device, threads)
    client = HttpClient(server.address, server.key)
    served = Served(path.name, "llama.cpp", device or "auto", context)
    return file.model(client, served, server, Slots(SLOTS))


def _context_max(device: str | None) -> int:
    """Tokens of context at most; a processor takes too long to read longer prompts."""
    return CONTEXT_MAX if is_on_gpu(device) else CPU_CONTEXT_MAX


def is_on_gpu(device: str | None) -> bool:
    """True if llama.cpp runs models on a GPU where *device* is chosen."""
    if device == "cpu":
        return False
    require("gguf", "Cannot run a GGUF file: llama.cpp is missing")
    return has_gpu()


def start_server(path: Path, name: str, context: int, device: str | None, threads: int | None) -> LocalServer:
    """Start a server for the GGUF file at *path*, which the user knows as *name*.

    Args:
        path: a file whose header was read without an error.
        name: name of the file in messages.
        context: maximum number of tokens of prompt and middle together.
        device: `cpu`, or a GPU as `cuda:1`; None: a GPU if this xllamacpp supports one.
        threads: maximum number of CPU threads; None: llama.cpp's default.

    Raises:
        ModelError: xllamacpp is missing, or cannot run the file.
    """
    require("gguf", f"Cannot run {name}: llama.cpp is missing")
    from xllamacpp import CommonParams, Server

    key = secrets.token_urlsafe()
    params = CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_parallel, params.kv_unified = POOL * context, SLOTS, True
    params.n_batch = params.n_ubatch = GPU_BATCH if is_on_gpu(device) else CPU_BATCH
    params.cache_idle_slots, params.cache_ram_mib = False, SHARED_MEMORY_MIB
    if threads is not None:
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.n_gpu_layers = 0 if device == "cpu" else -1
    params.main_gpu = _gpu_number(device)
    params.endpoint_metrics = True
    params.api_keys, params.ui, params.verbosity, params.offline = [key], False, SILENT, True
    try:
        server = Server(params)
    except RuntimeError as error:
        raise ModelError(
            f"Cannot run {name}: llama.cpp rejects it as damaged, too large for the memory, or too new. "
            f"Download it again, or update with `pip install -U xllamacpp`."
        ) from error
    return LocalServer(Address.parse(server.listening_address), key, server)


def has_gpu() -> bool:
    """True if xllamacpp can use a GPU of this machine."""
    from xllamacpp import get_device_info, ggml_backend_dev_type

    gpus = (
        ggml_backend_dev_type.GGML_BACKEND_DEVICE_TYPE_GPU,
        ggml_backend_dev_type.GGML_BACKEND_DEVICE_TYPE_IGPU,
    )
    return any(device["type"] in gpus for device in get_device_info())


def _gpu_number(device: str | None) -> int:
    """The index of the GPU *device*, such as 1 for `cuda:1`."""
    number = (device or "").partition(":")[2]
    return int(number) if number.isdecimal() else 0
