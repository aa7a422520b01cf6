"""The model of a server that has `/v1/completions`: its tokenizer is taken from this machine."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fimlsp.models.checkpoints.checkpoint_files import read_tokenizer
from fimlsp.models.checkpoints.hub import find_folder, is_hub_name
from fimlsp.models.errors import ModelError
from fimlsp.models.family_file import family_beside
from fimlsp.models.prompts.families import Family, Order
from fimlsp.models.prompts.fim_format import find_format
from fimlsp.models.prompts.vocabulary import read_vocabulary
from fimlsp.models.served.connecting.model import CONTEXT_MAX, ServedModel
from fimlsp.models.served.dialects.completions import Completions
from fimlsp.models.served.http.peer import Peer
from fimlsp.models.served.look_ahead import LookAhead

KINDS = {"vllm": "vLLM"}


def connect_completions(
    peer: Peer, listed: Mapping[str, Any], family: str | Family | None, order: Order | None
) -> ServedModel:
    """The model behind *peer*, of which `/v1/models` says what *listed* has.

    Raises:
        ServerError: the server tells no candidates.
        ModelError: its tokenizer is not on this machine, or it was not trained to fill in the middle.
    """
    name = str(listed["id"])
    folder = _folder(name, listed)
    tokenizer = read_tokenizer(folder, name)
    ids = tokenizer.get_vocab(with_added_tokens=True)
    fim = find_format(ids, name, family=family or family_beside(folder), order=order)
    vocabulary = read_vocabulary(tokenizer, fim.markers)
    server = Completions(peer, name, vocabulary.token_bytes, fim.stops)
    server.fit(fim.arrange([], []))
    kind = KINDS.get(str(listed.get("owned_by")), "/v1/completions")
    told = listed.get("max_model_len")
    context = min(told, CONTEXT_MAX) if isinstance(told, int) and told > 0 else CONTEXT_MAX // 2
    return ServedModel(name, kind, str(peer.address), LookAhead(server), vocabulary, fim, context)


def _folder(name: str, listed: Mapping[str, Any]) -> Path:
    """The folder with the tokenizer of the model *name*, which may be an alias or an adapter of another.

    That is the folder that the server has it from, if it is on this machine too, or that of a hub name.
    """
    told = (listed.get("root"), name, listed.get("parent"))
    names = [*dict.fromkeys(each for each in told if isinstance(each, str) and each)]
    folder = next(filter(None, map(_found, names)), None)
    if folder is not None:
        return folder
    problem = f"The tokenizer of {name} is not on this machine, and what the server tells of it is not exact"
    on_hub = next(filter(is_hub_name, names), None)
    if on_hub is not None:
        raise ModelError(f"{problem}; fetch it once with `fimlsp models pull {on_hub}`.")
    raise ModelError(
        f"{problem}; start the server with the model's name on the hub as a further one "
        f"(`--served-model-name {name} OWNER/NAME`), and fetch that with `fimlsp models pull OWNER/NAME`."
    )


def _found(name: str) -> Path | None:
    try:
        return find_folder(name)
    except ModelError:
        return None
