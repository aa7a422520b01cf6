"""GGUF files: llama.cpp's own server runs them inside this process, on a loopback port with a secret key.

Vocabulary and markers come from the header of the file, predictions from the server. xllamacpp ships that
server as one prebuilt library. The library chooses the processors that it uses.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tokenizers import Tokenizer

from fimlsp.models.checkpoints.gguf_header import GgufHeader, read_header
from fimlsp.models.checkpoints.gguf_model import fim_format, token_bytes, user_defined_markers
from fimlsp.models.checkpoints.memory import CPU_CONTEXT_MAX, check_memory, free_main_memory, needed_bytes
from fimlsp.models.checkpoints.regular_files import sampled_digest
from fimlsp.models.errors import ModelError, require
from fimlsp.models.prompts.families import Family, Order
from fimlsp.models.prompts.vocabulary import ModelVocabulary, encoded_ids
from fimlsp.models.remote.address import Address
from fimlsp.models.remote.http_client import HttpClient
from fimlsp.models.remote.llama_server import (
    LearnedBytes,
    LlamaServer,
    ServerTokenizer,
    Slots,
    chat_of_server,
)
from fimlsp.models.remote.look_ahead import LookAhead, RemoteModel

if TYPE_CHECKING:
    from xllamacpp import Server

SUFFIX = ".gguf"
TOKENIZER_KEY = "tokenizer.huggingface.json"
BUFFER_KEY = "fimlsp.buffer_cache"
ESTIMATE_KEY = "fimlsp.acceptance"
"""The keys with the wishes of models of our own, and with the estimate of their suggestions."""

CACHE_BYTES = 2
"""Bytes of one number in llama.cpp's key-value cache."""

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
    path: Path, device: str | None, threads: int | None, family: str | Family | None, order: Order | None
) -> RemoteModel:
    """The model of the GGUF file at *path*, in a server of its own.

    Args:
        path: the file.
        device: as in `load_model`.
        threads: maximum number of CPU threads; None: llama.cpp's default.
        family: as in `load_model`.
        order: as in `load_model`.

    Raises:
        ModelError: the file is damaged, no token ends the texts of the model, memory does not
            suffice, or the extra `gguf` is missing.
    """
    header = read_header(path, path.name)
    fim = fim_format(header, path.name, family=family, order=order, untrained=True)
    architecture = header.text("general.architecture")
    context = min(header.number(f"{architecture}.context_length") or CPU_CONTEXT_MAX, CPU_CONTEXT_MAX)
    needed = needed_bytes(header.size, 1, POOL * context * _cache_bytes_of_token(header))
    check_memory(path.name, "cpu", needed, free_main_memory())
    server = start_server(path, path.name, context, device, threads)
    client = HttpClient(server.address, server.key)
    known = token_bytes(header)
    silent = fim.markers.union(token for token, data in enumerate(known) if data is None)
    table = LearnedBytes(server.address, len(known), known, silent)
    vocabulary = _vocabulary(header, client, table)
    llama = LlamaServer(client, table, fim.stops, server, Slots(SLOTS))
    network = LookAhead(llama, llama.meter, is_own=True)
    return RemoteModel(
        path.name,
        "llama.cpp",
        device or "auto",
        network,
        vocabulary,
        fim,
        context,
        identity=sampled_digest(path),
        estimate=header.text(ESTIMATE_KEY),
        wants_buffer=header.values.get(BUFFER_KEY) is True,
        chat=chat_of_server(client, ServerTokenizer(client, table)),
    )


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
    params.n_batch = params.n_ubatch = GPU_BATCH if device != "cpu" and has_gpu() else CPU_BATCH
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


def _cache_bytes_of_token(header: GgufHeader) -> int:
    """Bytes of llama.cpp's key-value cache for one token; 0 if the header lacks the sizes."""
    architecture = header.text("general.architecture")

    def size(key: str) -> int:
        return header.number(f"{architecture}.{key}") or 0

    heads = size("attention.head_count")
    groups = size("attention.head_count_kv") or heads
    width = size("attention.key_length") or (size("embedding_length") // heads if heads else 0)
    return 2 * CACHE_BYTES * size("block_count") * groups * width


def _vocabulary(header: GgufHeader, client: HttpClient, table: LearnedBytes) -> ModelVocabulary:
    """The vocabulary, with the tokenizer in the file if there is one (as in ours), or else llama.cpp's."""
    serialized = header.text(TOKENIZER_KEY)
    if serialized:
        try:
            tokenizer = Tokenizer.from_str(serialized)
        except Exception as error:  # the tokenizers library raises no narrower class
            raise ModelError(
                "Cannot read the tokenizer in the GGUF file. Download the file again."
            ) from error
        tokenizer.encode_special_tokens = True
        ids: Callable[[str], list[int]] = partial(encoded_ids, tokenizer)
    else:
        ids = ServerTokenizer(client, table).ids
    first_bytes = table[ids("a")[0]] or b""
    adds_space = first_bytes.startswith(b" ")
    return ModelVocabulary(ids, table, adds_space, markers=user_defined_markers(header))
