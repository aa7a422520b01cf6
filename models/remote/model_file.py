"""The description of a model in its GGUF file, for the llama.cpp that runs it.

That may be a server on this machine as well: it reports the path of its file. The header has the exact
tokenizer and the bytes of all tokens. It also has the wishes and the estimate of models of our own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tokenizers import Tokenizer

from fimlsp.models.checkpoints.gguf import (
    GgufHeader,
    fim_format,
    read_header,
    token_bytes,
    user_defined_markers,
)
from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.families import Family, Order
from fimlsp.models.prompts.fim_format import FimFormat
from fimlsp.models.prompts.vocabulary import ModelVocabulary, encoded_ids
from fimlsp.models.regular_files import sampled_digest
from fimlsp.models.remote.http_client import HttpClient
from fimlsp.models.remote.llama_server import (
    LearnedBytes,
    LlamaServer,
    ServerTokenizer,
    Slots,
    chat_of_server,
)
from fimlsp.models.remote.look_ahead import MaskedLookAhead, RemoteModel

TOKENS_KEY = "tokenizer.ggml.tokens"
TOKENIZER_KEY = "tokenizer.huggingface.json"
BUFFER_KEY = "fimlsp.buffer_cache"
ESTIMATE_KEY = "fimlsp.acceptance"
PROMPT_KEY = "fimlsp.prompt_tokens"
"""The keys with the wishes of models of our own, and with the estimate of their suggestions."""

CACHE_BYTES = 2
"""Bytes of one number in llama.cpp's key-value cache."""


@dataclass(frozen=True, slots=True)
class Served:
    """The names of a served model and its server, the device, and the tokens of context."""

    name: str
    kind: str
    device: str
    context: int


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A GGUF file with its header, and the format of its prompts."""

    path: Path
    header: GgufHeader
    fim: FimFormat

    @classmethod
    def read(cls, path: Path, family: str | Family | None, order: Order | None) -> ModelFile:
        """The file at *path*; *family* and *order* as in `load_model`.

        Raises:
            ModelError: the file is damaged, or no token ends the texts of the model.
        """
        return cls._of(path, read_header(path, path.name), family, order)

    @classmethod
    def of_server(
        cls, path: Path, size: int, parameters: object, family: str | Family | None, order: Order | None
    ) -> ModelFile | None:
        """The file at *path*, as a server on this machine reports it for its model.

        None if there is no such file here, or another one: the model has *size* tokens and so many
        *parameters*.
        """
        try:
            header = read_header(path, path.name)
        except ModelError:
            return None
        is_same = (len(header.texts(TOKENS_KEY)), header.n_parameters) == (size, parameters)
        return cls._of(path, header, family, order) if is_same else None

    @classmethod
    def _of(
        cls, path: Path, header: GgufHeader, family: str | Family | None, order: Order | None
    ) -> ModelFile:
        return cls(path, header, fim_format(header, path.name, family=family, order=order, untrained=True))

    @property
    def has_chat(self) -> bool:
        """True if the file has a template of conversations."""
        return bool(self.header.text("tokenizer.chat_template"))

    def context(self, most: int) -> int:
        """Tokens of context that the model was trained to read, at most *most*."""
        return min(self._size("context_length") or most, most)

    @property
    def cache_bytes_of_token(self) -> int:
        """Bytes of llama.cpp's key-value cache for one token; 0 if the header lacks the sizes."""
        heads = self._size("attention.head_count")
        groups = self._size("attention.head_count_kv") or heads
        width = self._size("attention.key_length") or (
            self._size("embedding_length") // heads if heads else 0
        )
        return 2 * CACHE_BYTES * self._size("block_count") * groups * width

    def _size(self, key: str) -> int:
        return self.header.number(f"{self.header.text('general.architecture')}.{key}") or 0

    def model(
        self, client: HttpClient, served: Served, keep_alive: object = None, slots: Slots | None = None
    ) -> RemoteModel:
        """The model, *served* by the server that *client* reaches; the rest as of `LlamaServer`."""
        known = token_bytes(self.header)
        silent = self.fim.markers.union(token for token, data in enumerate(known) if data is None)
        table = LearnedBytes(client.address, len(known), known, silent)
        server = LlamaServer(client, table, self.fim.stops, keep_alive, slots)
        return RemoteModel(
            served.name,
            served.kind,
            served.device,
            MaskedLookAhead(server, server.meter, is_own=True),
            _vocabulary(self.header, client, table),
            self.fim,
            served.context,
            identity=sampled_digest(self.path),
            estimate=self.header.text(ESTIMATE_KEY),
            wants_buffer=self.header.values.get(BUFFER_KEY) is True,
            prompt_tokens=self.header.number(PROMPT_KEY) or None,
            chat=chat_of_server(client, ServerTokenizer(client, table)) if self.has_chat else None,
        )


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
