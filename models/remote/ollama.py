"""Ollama's `/api/generate`, which lists candidates as texts only (`docs/api.md` of github.com/ollama/ollama).

Where the model ends, Ollama lists no candidates. Before 0.12.11 it lists none at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fimlsp.models.prompts.families import Family, Order
from fimlsp.models.prompts.fim_format import find_format, known_markers
from fimlsp.models.prompts.vocabulary import ModelVocabulary
from fimlsp.models.remote.drawn_texts import remote_model
from fimlsp.models.remote.errors import invalid_answer
from fimlsp.models.remote.http_client import HttpClient
from fimlsp.models.remote.look_ahead import RemoteModel
from fimlsp.models.remote.texts import (
    Question,
    Report,
    TextServer,
    TextTable,
    marker_id,
    pieces,
)

CONTEXT = 4096
"""Tokens of context that Ollama uses unless it is configured otherwise."""


class OllamaDialect:
    """`Dialect` of `/api/generate`."""

    path = "/api/generate"
    has_several = False

    def body(self, name: str, question: Question) -> dict[str, object]:
        """As of `Dialect`."""
        options = {"temperature": question.temperature, "num_predict": question.length, "seed": question.seed}
        listed = (
            {} if question.candidates is None else {"logprobs": True, "top_logprobs": question.candidates}
        )
        prompt = {"prompt": question.prompt, "raw": True}
        return {"model": name, **prompt, "stream": True, **listed, "options": options}

    def reports(self, value: Any) -> Sequence[Report]:  # noqa: ANN401 - any JSON
        """As of `Dialect`."""
        positions = [
            (str(position["token"]), _candidates(position)) for position in value.get("logprobs") or ()
        ]
        end = value.get("done_reason")
        return [Report(str(value.get("response") or ""), positions, end == "stop", end is not None)]


def _candidates(position: Mapping[str, Any]) -> dict[str, Any]:
    return {str(entry["token"]): entry["logprob"] for entry in position["top_logprobs"] or [position]}


def open_ollama(
    client: HttpClient, listed: Mapping[str, Any], family: str | Family | None, order: Order | None
) -> RemoteModel:
    """The model of the Ollama that *client* reaches; *listed* is its entry in `/v1/models`.

    Raises:
        ServerError: the server does not answer as Ollama.
        ModelError: no token ends its texts.
    """
    name = str(listed["id"])
    try:
        info = client.ask("/api/show", {"model": name, "verbose": True})["model_info"]
        architecture = str(info["general.architecture"])
        tokens = [str(text) for text in info.get("tokenizer.ggml.tokens") or ()]
    except (KeyError, TypeError) as error:
        raise invalid_answer(client.address, "no description of its model") from error
    possible = [*known_markers(), *(family.texts if isinstance(family, Family) else ())]
    listed_tokens = set(tokens)
    markers = {marker: marker_id(marker) for marker in possible if marker in listed_tokens}
    fim = find_format(markers, name, architecture=architecture, family=family, order=order, untrained=True)
    fim = fim.ending_also(marker_id(tokens[end]) for end in _ends(info) if end < len(tokens))
    vocabulary = ModelVocabulary(
        lambda text: pieces(text, markers), TextTable(), adds_space=False, is_open=True
    )
    fim = fim.without_start()
    trained = info.get(f"{architecture}.context_length")
    context = min(trained, CONTEXT) if isinstance(trained, int) and trained > 0 else CONTEXT
    return remote_model(TextServer(client, name, OllamaDialect(), fim.stops), vocabulary, fim, context, info)


def _ends(info: Mapping[str, Any]) -> list[int]:
    """The numbers of the tokens that end texts, as the server describes the model."""
    ends = (info.get(f"tokenizer.ggml.{name}_token_id") for name in ("eos", "eot", "eom"))
    return [end for end in ends if type(end) is int and end >= 0]
