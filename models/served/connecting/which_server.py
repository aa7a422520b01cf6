"""From an address to the model there: finds out which kind of server it is."""

from __future__ import annotations

import os
from contextlib import closing
from typing import Any, Literal

from fimlsp.models.checkpoints.hub import is_hub_name
from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.families import Family, Order
from fimlsp.models.served.connecting.completions_model import connect_completions
from fimlsp.models.served.connecting.llama_model import connect_llama_server
from fimlsp.models.served.connecting.model import ServedModel
from fimlsp.models.served.connecting.ollama_model import connect_ollama
from fimlsp.models.served.http.address import Address
from fimlsp.models.served.http.failures import ServerError, nonsense
from fimlsp.models.served.http.peer import Peer

Api = Literal["llama-server", "completions", "ollama"]
OWNERS = {"llamacpp": "llama-server", "library": "ollama"}
KEY_VARIABLE = "FIMLSP_API_KEY"
CONNECTIONS = {
    "llama-server": connect_llama_server,
    "completions": connect_completions,
    "ollama": connect_ollama,
}


def connect(
    address: Address,
    api: Api | None,
    key_variable: str | None,
    family: str | Family | None,
    order: Order | None,
) -> ServedModel:
    """The model at *address*.

    Args:
        address: where the server is.
        api: what it speaks; None: that is found out.
        key_variable: the environment variable that has its key; None: FIMLSP_API_KEY.
        family: as in `load_model`.
        order: as in `load_model`.

    Raises:
        ServerError: it does not answer, or not as a model server.
        ModelError: its model cannot fill in the middle.
    """
    variable = key_variable or KEY_VARIABLE
    peer = Peer(address, os.environ.get(variable), variable)
    with closing(peer):  # nothing is asked before the first completion
        listed = _listed(peer)
        kind = api or OWNERS.get(str(listed.get("owned_by")))
        return CONNECTIONS[kind or "completions"](peer, listed, family, order)


def answers(address: str, key_variable: str | None) -> bool:
    """Whether a server is at *address* and ready."""
    variable = key_variable or KEY_VARIABLE
    try:
        with closing(Peer(Address.parse(address), os.environ.get(variable), variable)) as peer:
            peer.ask("/v1/models")
    except ModelError:
        return False
    return True


def _listed(peer: Peer) -> dict[str, Any]:
    """What the server says of the model that is meant."""
    answer, address = peer.ask("/v1/models"), peer.address
    try:
        models = {str(each["id"]): dict(each) for each in answer["data"]}
    except (KeyError, TypeError, ValueError) as error:
        raise nonsense(address, "no list of models") from error
    if address.model in models:
        return models[address.model]
    if not address.model and len({str(each.get("root") or name) for name, each in models.items()}) == 1:
        return models[next(filter(is_hub_name, models), next(iter(models)))]  # the others are aliases
    names = ", ".join(list(models)[:8]) or "none"
    raise ServerError(
        f"The server at {address} has the models {names}; write the wanted one behind the address, as in "
        f"http://{address}#NAME."
    )
