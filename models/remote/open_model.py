"""Opens the model at an address: finds out the kind of server, and reads the description of its model."""

from __future__ import annotations

import os
from contextlib import closing
from typing import Any, Literal

from fimlsp.models.checkpoints.hub import is_hub_name
from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.families import Family, Order
from fimlsp.models.remote.address import Address
from fimlsp.models.remote.completions import open_completions
from fimlsp.models.remote.errors import ServerError, invalid_answer
from fimlsp.models.remote.http_client import HttpClient
from fimlsp.models.remote.llama_server import open_llama_server
from fimlsp.models.remote.look_ahead import RemoteModel
from fimlsp.models.remote.ollama import open_ollama

Api = Literal["llama-server", "completions", "ollama"]
KEY_VARIABLE = "FIMLSP_API_KEY"
API_OF_OWNER: dict[str, Api] = {"llamacpp": "llama-server", "library": "ollama"}
"""The API that a server speaks, by `owned_by` of its models."""

OPENERS = {
    "llama-server": open_llama_server,
    "completions": open_completions,
    "ollama": open_ollama,
}
NAMES_SHOWN = 8


def open_model(
    address: Address,
    api: Api | None,
    key_variable: str | None,
    family: str | Family | None,
    order: Order | None,
) -> RemoteModel:
    """The model at *address*.

    Args:
        address: address of the server.
        api: API of the server; None: as its list of models suggests.
        key_variable: the environment variable with its key; None: FIMLSP_API_KEY.
        family: as in `load_model`.
        order: as in `load_model`.

    Raises:
        ServerError: the server does not answer, or not as a model server.
        ModelError: its model cannot fill in the middle.
    """
    client = _client(address, key_variable)
    with closing(client):  # no request follows before the first completion
        listed = _listed(client)
        kind = api or API_OF_OWNER.get(str(listed.get("owned_by"))) or "completions"
        return OPENERS[kind](client, listed, family, order)


def is_ready(address: str, key_variable: str | None) -> bool:
    """True if a model server answers at *address*."""
    try:
        with closing(_client(Address.parse(address), key_variable)) as client:
            client.ask("/v1/models")
    except ModelError:
        return False
    return True


def _client(address: Address, key_variable: str | None) -> HttpClient:
    variable = key_variable or KEY_VARIABLE
    return HttpClient(address, os.environ.get(variable), variable)


def _listed(client: HttpClient) -> dict[str, Any]:
    """The entry of the addressed model in the server's list."""
    answer, address = client.ask("/v1/models"), client.address
    try:
        entries = {str(entry["id"]): dict(entry) for entry in answer["data"]}
    except (KeyError, TypeError, ValueError) as error:
        raise invalid_answer(address, "no list of models") from error
    if address.model in entries:
        return entries[address.model]
    if not address.model and len({str(entry.get("root") or name) for name, entry in entries.items()}) == 1:
        return entries[next(filter(is_hub_name, entries), next(iter(entries)))]  # the others are aliases
    names = ", ".join(list(entries)[:NAMES_SHOWN]) or "none"
    raise ServerError(
        f"Cannot choose a model of the server at {address}: it has {names}. "
        f"Append the name to the address, as in http://{address}#NAME."
    )
