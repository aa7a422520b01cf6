"""Opens the model of a llama-server: its markers, the order of its prompts, and its context.

A server on this machine reports the path of its file, which says more than the server (`model_file.py`). For
others, markers are looked up by the server's tokenizer. If they are those of no known family, the server's
own `/infill` shows their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any

from fimlsp.models.prompts.families import LEFT, LINE_END, RIGHT, Family, Order, Project
from fimlsp.models.prompts.fim_format import FimFormat, NoMarkersError, find_format, known_markers
from fimlsp.models.prompts.vocabulary import CHAT, VISIBLE_SPACE, ModelVocabulary
from fimlsp.models.remote.bundled_elsewhere import recognised
from fimlsp.models.remote.errors import RefusedError, invalid_answer
from fimlsp.models.remote.http_client import HttpClient
from fimlsp.models.remote.llama_server import LearnedBytes, LlamaServer, ServerTokenizer, chat_of_server
from fimlsp.models.remote.look_ahead import CONTEXT_MAX, LookAhead, RemoteModel
from fimlsp.models.remote.model_file import ModelFile, Served

PREFIX, SUFFIX = "a", "b"
"""Sample texts around which the server puts its own markers; each is one token in every vocabulary."""


def open_llama_server(
    client: HttpClient, listed: Mapping[str, Any], family: str | Family | None, order: Order | None
) -> RemoteModel:
    """The model of the llama-server that *client* reaches; *listed* is its entry in `/v1/models`.

    Raises:
        ServerError: the server does not answer as a llama-server.
        ModelError: no token ends its texts.
    """
    try:
        name, size, props = PurePath(listed["id"]).name, int(listed["meta"]["n_vocab"]), client.ask("/props")
        context = min(int(props["default_generation_settings"]["n_ctx"]), CONTEXT_MAX)
    except (KeyError, TypeError, ValueError) as error:
        raise invalid_answer(client.address, "no description of its model") from error
    served = Served(name, "llama-server", str(client.address), context)
    file = _file_here(client, listed["meta"], props, family, order)
    if file is not None:
        return file.model(client, served)
    tokenizer = ServerTokenizer(client, LearnedBytes(client.address, size))
    fim = _fim_format(client, tokenizer, name, family, order).ending_also(_end(client, tokenizer))
    chat = find_markers(tokenizer, CHAT)
    own = recognised(listed["meta"], fim, tokenizer)
    known = own.token_bytes if own is not None else ()
    token_bytes = LearnedBytes(client.address, size, known, silent=fim.markers.union(chat.values()))
    tokenizer = ServerTokenizer(client, token_bytes)
    server = LlamaServer(client, token_bytes, fim.stops)
    model = RemoteModel(
        served.name,
        served.kind,
        served.device,
        LookAhead(server, server.meter, is_own=client.address.is_loopback),
        _vocabulary(tokenizer, token_bytes, chat),
        fim,
        served.context,
        identity=f"{client.address} {listed['id']}",
        chat=chat_of_server(client, tokenizer),
    )
    return model if own is None else own.described(model, token_bytes)


def _vocabulary(
    tokenizer: ServerTokenizer, token_bytes: LearnedBytes, chat: Mapping[str, int]
) -> ModelVocabulary:
    adds_space = tokenizer.pieces("a")[0][1].startswith(b" ")
    return ModelVocabulary(tokenizer.ids, token_bytes, adds_space, markers=chat)


def _file_here(
    client: HttpClient,
    meta: Mapping[str, Any],
    props: Mapping[str, Any],
    family: str | Family | None,
    order: Order | None,
) -> ModelFile | None:
    """The file of the server's model; None if the server is on another machine, or the file is not there."""
    path = props.get("model_path")
    if not (client.address.is_loopback and isinstance(path, str) and PurePath(path).is_absolute()):
        return None
    return ModelFile.of_server(Path(path), meta["n_vocab"], meta.get("n_params"), family, order)


def _fim_format(
    client: HttpClient,
    tokenizer: ServerTokenizer,
    name: str,
    family: str | Family | None,
    order: Order | None,
) -> FimFormat:
    """Markers and order of the prompts: those of a family, or those that the server's own `/infill` uses.

    Raises:
        ModelError: the model was not trained in this family or order, or no token ends its texts.
    """
    texts = {*known_markers(), LINE_END, *(family.texts if isinstance(family, Family) else ())}
    markers = find_markers(tokenizer, texts)
    try:
        return find_format(markers, name, family=family, order=order)
    except NoMarkersError:
        own_format = _infill_format(client, tokenizer, name)
        if own_format is None:
            return find_format(markers, name, order=order, untrained=True)
        if order:
            raise
        return own_format


def _infill_format(client: HttpClient, tokenizer: ServerTokenizer, name: str) -> FimFormat | None:
    """The format of the prompts of `/infill`; None if the model's file has no marker ids."""
    try:
        body = {"input_prefix": PREFIX, "input_suffix": SUFFIX, "n_predict": 0}
        prompt = str(client.ask("/infill", body)["prompt"])
    except (RefusedError, KeyError, TypeError):
        return None
    pieces = tokenizer.pieces(prompt, has_markers=True)
    slots = {PREFIX.encode(): LEFT, SUFFIX.encode(): RIGHT}
    parts = [slots.get(data.strip(), token) for token, data in pieces]
    stops = _end(client, tokenizer)
    if not stops or any(parts.count(slot) != 1 for slot in (LEFT, RIGHT)):
        return None
    ids = {data.decode(errors="replace"): token for token, data in pieces if token in parts}
    return FimFormat(name, tuple(parts), stops, Project(), ids)


def _end(client: HttpClient, tokenizer: ServerTokenizer) -> frozenset[int]:
    """The token that ends texts of the server's model; empty if the server does not report it."""
    end = client.ask("/props").get("eos_token")
    pieces = tokenizer.pieces(end, has_markers=True) if isinstance(end, str) and end else []
    return frozenset(token for token, _ in pieces) if len(pieces) == 1 else frozenset()


def find_markers(tokenizer: ServerTokenizer, texts: Iterable[str]) -> dict[str, int]:
    """Those of *texts* that are single tokens of the model, with their ids.

    Most are looked up in one request. Those that start with a visible space, which is text, need one each.
    """
    in_one_request = [text for text in texts if not text.startswith(VISIBLE_SPACE)]
    by_bytes = {marker.encode(): marker for marker in in_one_request}
    pieces = tokenizer.pieces("\n".join(in_one_request), has_markers=True)
    ids = {by_bytes[data]: token for token, data in pieces if data in by_bytes}
    for marker in set(texts) - set(in_one_request):
        marker_pieces = tokenizer.pieces(marker, has_markers=True)
        if len(marker_pieces) == 1:
            ids[marker] = marker_pieces[0][0]
    return ids
