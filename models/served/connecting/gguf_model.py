"""The model of a GGUF file: vocabulary and markers from its header, predictions from a server in here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from tokenizers import Tokenizer

from fimlsp.models.checkpoints.memory import CPU_CONTEXT_MAX, check_memory, free_main_memory, needed_bytes
from fimlsp.models.errors import ModelError
from fimlsp.models.gguf.description import format_of, token_bytes
from fimlsp.models.gguf.header import Header, read_header
from fimlsp.models.prompts.families import Family, Order
from fimlsp.models.prompts.vocabulary import Vocabulary, encoded_ids
from fimlsp.models.served.connecting.local_server import POOL, start
from fimlsp.models.served.connecting.model import ServedModel
from fimlsp.models.served.dialects.learnt_bytes import LearntBytes
from fimlsp.models.served.dialects.llama_server import LlamaServer, Tokenization
from fimlsp.models.served.http.peer import Peer
from fimlsp.models.served.look_ahead import LookAhead

SUFFIX = ".gguf"
TOKENIZER_KEY = "tokenizer.huggingface.json"
BUFFER_KEY = "fimlsp.buffer_cache"
CACHE_BYTES = 2
"""Bytes of one number in llama.cpp's key-value cache."""


def is_gguf(name: str) -> bool:
    """Whether *name* is meant as a GGUF file."""
    return name.lower().endswith(SUFFIX)


def path_of(name: str) -> Path:
    """The GGUF file that *name* writes as a path: absolute, below `~`, or relative with a dot in front.

    Raises:
        ModelError: it is none of these, since the working directory may be somebody else's workspace.
    """
    if not (name.startswith(("~", "./", "../", ".\\")) or Path(name).is_absolute()):
        raise ModelError(f"{name} is no path; give the whole path, or ./{name} below the working directory.")
    try:
        return Path(name).expanduser()
    except RuntimeError as error:
        raise ModelError(f"{name} is in the home of nobody; give the whole path.") from error


def load_gguf(
    path: Path, device: str | None, threads: int | None, family: str | Family | None, order: Order | None
) -> ServedModel:
    """The model of the GGUF file at *path*, with a server of its own.

    Args:
        path: the file.
        device: as in `load_model`.
        threads: the most CPU threads; None: as llama.cpp thinks best.
        family: as in `load_model`.
        order: as in `load_model`.

    Raises:
        ModelError: it is damaged, was not trained to fill in the middle, needs more memory than is free, or
            the extra `gguf` is missing.
    """
    header = read_header(path, path.name)
    fim = format_of(header, path.name, family=family, order=order)
    architecture = header.text("general.architecture")
    context = min(header.number(f"{architecture}.context_length") or CPU_CONTEXT_MAX, CPU_CONTEXT_MAX)
    needed = needed_bytes(header.size, 1, POOL * context * _cache_bytes_of_token(header))
    check_memory(path.name, "cpu", needed, free_main_memory())
    server = start(path, path.name, context, device, threads)
    peer = Peer(server.address, server.key)
    known = token_bytes(header)
    silent = fim.markers.union(token for token, data in enumerate(known) if data is None)
    table = LearntBytes(server.address, len(known), known, silent)
    vocabulary = _vocabulary(header, peer, table)
    network = LookAhead(LlamaServer(peer, table, fim.stops, server))
    wants_buffer = header.values.get(BUFFER_KEY) is True
    return ServedModel(
        path.name, "llama.cpp", device or "auto", network, vocabulary, fim, context, wants_buffer=wants_buffer
    )


def _cache_bytes_of_token(header: Header) -> int:
    """Bytes that llama.cpp keeps of one token that was read; 0 if the header does not tell."""
    architecture = header.text("general.architecture")

    def size(key: str) -> int:
        return header.number(f"{architecture}.{key}") or 0

    heads = size("attention.head_count")
    groups = size("attention.head_count_kv") or heads
    width = size("attention.key_length") or (size("embedding_length") // heads if heads else 0)
    return 2 * CACHE_BYTES * size("block_count") * groups * width


def _vocabulary(header: Header, peer: Peer, table: LearntBytes) -> Vocabulary:
    """The tokenizer of the file itself if it has one, as ours do; or else that of llama.cpp."""
    described = header.text(TOKENIZER_KEY)
    if described:
        try:
            tokenizer = Tokenizer.from_str(described)
        except Exception as error:  # the tokenizers library raises no narrower class
            raise ModelError("The tokenizer in the GGUF file cannot be read; fetch it again.") from error
        tokenizer.encode_special_tokens = True
        ids: Callable[[str], list[int]] = partial(encoded_ids, tokenizer)
    else:
        ids = Tokenization(peer, table).ids
    first = table[ids("a")[0]] or b""
    return Vocabulary(ids, table, adds_space=first.startswith(b" "))
