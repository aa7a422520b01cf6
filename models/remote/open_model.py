"""Opens the model at an address: finds out the kind of server, and reads the description of its model.

A router has several models and loads them on demand: llama-server without a model of its own, and llama-swap.
The first names the model in each request. The second has a path of its own for the server of each model,
which is used like any server.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from fimlsp.models.checkpoints.hub import is_hub_name
from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.families import Family, Order
from fimlsp.models.remote.address import Address
from fimlsp.models.remote.completions import has_tokenizer, open_completions
from fimlsp.models.remote.errors import ManyModelsError, RefusedError, ServerError, invalid_answer
from fimlsp.models.remote.http_client import ANSWER_S, HttpClient
from fimlsp.models.remote.llama_model import open_llama_server
from fimlsp.models.remote.look_ahead import RemoteModel
from fimlsp.models.remote.ollama import open_ollama
from fimlsp.models.remote.text_completions import open_texts
from fimlsp.models.server_kinds import UNKNOWN, Api, kind_of

KEY_VARIABLE = "FIMLSP_API_KEY"
OPENERS = {
    "llama-server": open_llama_server,
    "completions": open_completions,
    "ollama": open_ollama,
    "texts": open_texts,
}
HOSTED = {
    "api.deepseek.com": "deepseek",
    "api.mistral.ai": "mistralai",
    "codestral.mistral.ai": "mistralai",
}
"""`owned_by` of the models of hosted services, some of which list no models."""

LOAD_S = 300.0
"""The longest wait for a router that loads a model, in seconds."""

NOT_FOUND = 404
NAMES_SHOWN = 8


def open_model(
    address: Address,
    api: Api | None,
    key_variable: str | None,
    family: str | Family | None,
    order: Order | None,
) -> RemoteModel:
    """The model at *address*. A router may need minutes to load it.

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
    if address.host in HOSTED:
        address = replace(address, path=address.path.removesuffix("/beta"))
    client = _client(address, key_variable)
    with closing(client):  # no request follows before the first completion
        listed = _listed(client)
        client.kind = kind_of(listed)
        if client.kind.name == "llama-swap":
            upstream = f"{address.path}/upstream/{quote(str(listed['id']))}"
            client = _client(replace(address, path=upstream, model=""), key_variable)
            listed = _listed(client, LOAD_S)
            client.kind = kind_of(listed)
        elif client.kind.name == "llama-server" and "status" in listed:
            listed = _loaded(client, listed)
        return _opened(client, listed, api, family, order)


def _opened(
    client: HttpClient,
    listed: Mapping[str, Any],
    api: Api | None,
    family: str | Family | None,
    order: Order | None,
) -> RemoteModel:
    """The model *listed*. An unknown server may report tokens, which is tried if the tokenizer is here."""
    with closing(client):
        if api is None and client.kind is UNKNOWN and has_tokenizer(listed):
            try:
                return open_completions(client, listed, family, order)
            except ServerError:
                pass
        return OPENERS[api or client.kind.api](client, listed, family, order)


def is_ready(address: str, key_variable: str | None) -> bool:
    """True if a model server answers at *address*, and has the model that is named, or only one.

    Raises:
        ManyModelsError: another server answers there now, of which a model has to be chosen.
    """
    try:
        with closing(_client(Address.parse(address), key_variable)) as client:
            _listed(client)
    except ManyModelsError:
        raise
    except ModelError:
        return False
    return True


def _client(address: Address, key_variable: str | None) -> HttpClient:
    variable = key_variable or KEY_VARIABLE
    return HttpClient(address, os.environ.get(variable), variable)


def _loaded(client: HttpClient, listed: Mapping[str, Any]) -> Mapping[str, Any]:
    """The entry of the model *listed* after the router has loaded it; all requests of *client* go to it."""
    name = str(listed["id"])
    client.model = name
    client.ask("/tokenize", {"content": ""}, LOAD_S)
    return next((entry for entry in _entries(client) if entry["id"] == name), listed)


def _listed(client: HttpClient, seconds: float = ANSWER_S) -> Mapping[str, Any]:
    """The entry of the addressed model in the server's list."""
    address = client.address
    try:
        entries = {entry["id"]: entry for entry in _entries(client, seconds)}
    except RefusedError as error:
        if error.status != NOT_FOUND or not address.model:
            raise
        return {"id": address.model, "owned_by": HOSTED.get(address.host)}
    if address.model in entries:
        return entries[address.model]
    if not address.model and len({str(entry.get("root") or name) for name, entry in entries.items()}) == 1:
        return entries[next(filter(is_hub_name, entries), next(iter(entries)))]  # the others are aliases
    names = ", ".join(_described(entry) for entry in [*entries.values()][:NAMES_SHOWN]) or "none"
    more = " and more" if len(entries) > NAMES_SHOWN else ""
    raise ManyModelsError(
        f"Cannot choose a model of the server at {address}: it has {names}{more}. "
        f"Append the name to the address, as in http://{address}#NAME."
    )


def _entries(client: HttpClient, seconds: float = ANSWER_S) -> list[dict[str, Any]]:
    """The server's list of models, each with its name as `id`."""
    answer = client.ask("/v1/models", seconds=seconds)
    try:
        return [{**entry, "id": str(entry["id"])} for entry in answer["data"]]
    except (KeyError, TypeError, ValueError) as error:
        raise invalid_answer(client.address, "no list of models") from error


def _described(entry: Mapping[str, Any]) -> str:
    """The name of a model in a list, and its state if that is known."""
    status = entry.get("status")
    state = status.get("value") if isinstance(status, Mapping) else None
    return f"{entry['id']} ({state})" if isinstance(state, str) and state.isprintable() else str(entry["id"])
