"""The model that a llama-server has: its name, context, markers and vocabulary, as far as it tells them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from fimlsp.models.prompts.families import Family, Order
from fimlsp.models.prompts.fim_format import find_format, known_markers
from fimlsp.models.prompts.vocabulary import VISIBLE_SPACE, Vocabulary
from fimlsp.models.served.connecting.model import CONTEXT_MAX, ServedModel
from fimlsp.models.served.dialects.learnt_bytes import LearntBytes
from fimlsp.models.served.dialects.llama_server import LlamaServer, Tokenization
from fimlsp.models.served.http.failures import nonsense
from fimlsp.models.served.http.peer import Peer
from fimlsp.models.served.look_ahead import LookAhead


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
    unknown = LearntBytes(peer.address, size)
    fim = find_format(find_markers(Tokenization(peer, unknown)), name, family=family, order=order)
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


def find_markers(tokenization: Tokenization) -> dict[str, int]:
    """Those of the markers of all families that the model has as one token.

    Most are found in one request; those that begin with a visible space, which is text, one by one.
    """
    inside = [marker for marker in known_markers() if not marker.startswith(VISIBLE_SPACE)]
    wanted = {marker.encode(): marker for marker in inside}
    pieces = tokenization.pieces("\n".join(inside), has_markers=True)
    found = {wanted[data]: token for token, data in pieces if data in wanted}
    for marker in set(known_markers()) - set(inside):
        one = tokenization.pieces(marker, has_markers=True)
        if len(one) == 1:
            found[marker] = one[0][0]
    return found
