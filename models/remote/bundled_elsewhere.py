"""The bundled model on a llama-server whose file is elsewhere, recognised by its sizes and its tokens.

Such a server shows no header. Its tokenizer splits some texts in another way than ours, and it has no
estimate of the suggestions. Both are here, if the model is the one that is installed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fimlsp.models.checkpoints.checkpoint_files import BUNDLED, CheckpointFiles, read_files
from fimlsp.models.prompts.families import OWN_FAMILIES
from fimlsp.models.prompts.fim_format import FimFormat
from fimlsp.models.prompts.vocabulary import ModelVocabulary, encoded_ids, read_vocabulary
from fimlsp.models.remote.llama_server import ServerTokenizer
from fimlsp.models.remote.look_ahead import RemoteModel

ESTIMATE = BUNDLED / "acceptance.json"
"""The estimate of its suggestions."""

SIZES = {"n_vocab": "vocab_size", "n_embd": "hidden_size", "n_ctx_train": "max_position_embeddings"}
"""The sizes that a llama-server reports, and their names in `config.json`."""

COMPARED_ONE_IN = 8
"""The share of the tokens of which the text is made that both tokenizers read."""


@dataclass(frozen=True, slots=True)
class Installed:
    """The description of the bundled model in its folder.

    Attributes:
        files: its files; their tokenizer reads markers as text.
        token_bytes: the exact bytes of each token; None for markers.
    """

    files: CheckpointFiles
    token_bytes: Sequence[bytes | None]

    def described(self, model: RemoteModel, table: Sequence[bytes | None]) -> RemoteModel:
        """*model*, whose tokens have the bytes in *table*, with all that is known here."""
        return replace(
            model,
            vocabulary=ModelVocabulary(partial(encoded_ids, self.files.tokenizer), table, adds_space=False),
            estimate=ESTIMATE.read_text(encoding="utf-8"),
            wants_buffer=self.files.asks_for_buffer,
            prompt_tokens=self.files.prompt_tokens,
        )


def recognised(meta: Mapping[str, Any], fim: FimFormat, tokenizer: ServerTokenizer) -> Installed | None:
    """The bundled model, if it is that of the server with this *tokenizer*; else None.

    The server lists its model with *meta*, and *fim* is the format of the prompts.

    Raises:
        ServerError: the server does not answer.
    """
    if fim.family not in OWN_FAMILIES:
        return None
    files = read_files(BUNDLED, "bundled")
    if any(meta.get(reported) != files.config[size] for reported, size in SIZES.items()):
        return None
    table = read_vocabulary(files.tokenizer, fim.markers).token_bytes
    text = b" ".join(filter(None, table[::COMPARED_ONE_IN])).decode(errors="ignore")
    is_same = all(data == table[token] for token, data in tokenizer.pieces(text))
    return Installed(files, table) if is_same else None
