"""The model of an Ollama: its vocabulary is told as texts, and exact bytes of tokens are not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fimlsp.models.prompts.families import Family, Order
from fimlsp.models.prompts.fim_format import find_format, known_markers
from fimlsp.models.prompts.vocabulary import Vocabulary
from fimlsp.models.served.connecting.model import ServedModel
from fimlsp.models.served.dialects.ollama import Ollama
from fimlsp.models.served.dialects.text_tokens import TextTable, marker_id, pieces
from fimlsp.models.served.http.failures import nonsense
from fimlsp.models.served.http.peer import Peer
from fimlsp.models.served.look_ahead import LookAhead

CONTEXT = 4096
"""Tokens of context that Ollama uses unless it is configured otherwise."""


def connect_ollama(
    peer: Peer, listed: Mapping[str, Any], family: str | Family | None, order: Order | None
) -> ServedModel:
    """The model behind *peer*, of which `/v1/models` says what *listed* has.

    Raises:
        ServerError: the server does not answer as Ollama.
        ModelError: the model was not trained to fill in the middle.
    """
    name = str(listed["id"])
    try:
        told = peer.ask("/api/show", {"model": name, "verbose": True})["model_info"]
        architecture = str(told["general.architecture"])
        tokens = set(told.get("tokenizer.ggml.tokens") or ())
    except (KeyError, TypeError) as error:
        raise nonsense(peer.address, "it does not tell its model") from error
    wanted = [*known_markers(), *(family.texts if isinstance(family, Family) else ())]
    markers = {marker: marker_id(marker) for marker in wanted if marker in tokens}
    fim = find_format(markers, name, architecture=architecture, family=family, order=order)
    vocabulary = Vocabulary(lambda text: pieces(text, markers), TextTable(), adds_space=False)
    context = told.get(f"{architecture}.context_length")
    room = min(context, CONTEXT) if isinstance(context, int) and context > 0 else CONTEXT
    network = LookAhead(Ollama(peer, name, fim.stops))
    return ServedModel(name, "Ollama", str(peer.address), network, vocabulary, fim, room, is_exact=False)
