"""The model that a llama-server has: its name, context, markers and vocabulary, as far as it tells them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePath
from typing import Any

from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.families import LEFT, RIGHT, Family, Order, Project
from fimlsp.models.prompts.fim_format import FimFormat, find_format, known_markers
from fimlsp.models.prompts.vocabulary import VISIBLE_SPACE, Vocabulary
from fimlsp.models.served.connecting.model import CONTEXT_MAX, ServedModel
from fimlsp.models.served.dialects.learnt_bytes import LearntBytes
from fimlsp.models.served.dialects.llama_server import LlamaServer, Tokenization
from fimlsp.models.served.http.failures import RefusedError, nonsense
from fimlsp.models.served.http.peer import Peer
from fimlsp.models.served.look_ahead import LookAhead

PREFIX, SUFFIX = "a", "b"
"""What a prompt is made for to see which markers are put around it; each is one token everywhere."""


def connect_llama_server(
    peer: Peer, listed: Mapping[str, Any], family: str | Family | None, order: Order | None
) -> ServedModel:
    """The model behind *peer*, of which `/v1/models` says what *listed* has.

    Raises:
        ServerError: the server does not answer as a llama-server.
        ModelError: the model was not trained to fill in the middle.
    """
    try:
        name = PurePath(listed["id"]).name
        size, context = int(listed["meta"]["n_vocab"]), int(_context(peer))
    except (KeyError, TypeError, ValueError) as error:
        raise nonsense(peer.address, "it does not tell its model") from error
    fim = _format(peer, Tokenization(peer, LearntBytes(peer.address, size)), name, family, order)
    token_bytes = LearntBytes(peer.address, size, silent=fim.markers)
    tokenization = Tokenization(peer, token_bytes)
    first = tokenization.pieces("a")[0][1]
    vocabulary = Vocabulary(tokenization.ids, token_bytes, adds_space=first.startswith(b" "))
    network = LookAhead(LlamaServer(peer, token_bytes, fim.stops))
    device = str(peer.address)
    return ServedModel(name, "llama-server", device, network, vocabulary, fim, min(context, CONTEXT_MAX))


def _context(peer: Peer) -> int:
    """Tokens that a prompt and what follows may have: those of one slot."""
    context: int = peer.ask("/props")["default_generation_settings"]["n_ctx"]
    return context


def _format(
    peer: Peer, tokenization: Tokenization, name: str, family: str | Family | None, order: Order | None
) -> FimFormat:
    """Markers and order of the prompts: those of a family, or those in which the server itself would ask.

    Raises:
        ModelError: the model was not trained to fill in the middle, or not in this family or order.
    """
    texts = {*known_markers(), *(family.texts if isinstance(family, Family) else ())}
    try:
        return find_format(find_markers(tokenization, texts), name, family=family, order=order)
    except ModelError:
        own = None if family or order else _own_format(peer, tokenization, name)
        if own is None:
            raise
        return own


def _own_format(peer: Peer, tokenization: Tokenization, name: str) -> FimFormat | None:
    """The format of a prompt that the server makes from the marker ids of its file; None if it makes none."""
    try:
        asked = {"input_prefix": PREFIX, "input_suffix": SUFFIX, "n_predict": 0}
        prompt, end = str(peer.ask("/infill", asked)["prompt"]), str(peer.ask("/props")["eos_token"])
    except (RefusedError, KeyError, TypeError):
        return None
    pieces = tokenization.pieces(prompt, has_markers=True)
    slots = {PREFIX.encode(): LEFT, SUFFIX.encode(): RIGHT}
    parts = [slots.get(data.strip(), token) for token, data in pieces]
    stops = [token for token, _ in tokenization.pieces(end, has_markers=True)] if end else []
    if len(stops) != 1 or any(parts.count(slot) != 1 for slot in (LEFT, RIGHT)):
        return None
    ids = {data.decode(errors="replace"): token for token, data in pieces if token in parts}
    return FimFormat(name, tuple(parts), frozenset(stops), Project(), ids)


def find_markers(tokenization: Tokenization, texts: Iterable[str]) -> dict[str, int]:
    """Those of *texts* that the model has as one token.

    Most are found in one request; those that begin with a visible space, which is text, one by one.
    """
    inside = [text for text in texts if not text.startswith(VISIBLE_SPACE)]
    wanted = {marker.encode(): marker for marker in inside}
    pieces = tokenization.pieces("\n".join(inside), has_markers=True)
    found = {wanted[data]: token for token, data in pieces if data in wanted}
    for marker in set(texts) - set(inside):
        one = tokenization.pieces(marker, has_markers=True)
        if len(one) == 1:
            found[marker] = one[0][0]
    return found
