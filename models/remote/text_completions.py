"""`/v1/completions` of servers that report texts: LM Studio, TabbyAPI, llama-cpp-python, DeepSeek, others.

If the family of the model is known by its name, or given, the prompt has its markers as texts. Otherwise the
text right of the cursor is sent as `suffix`, and the server writes the markers. Some servers always take it
so. Mistral's `/v1/fim/completions` has another form of answers. `fimlsp.models.server_kinds` names
the documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from fimlsp.models.prompts.families import FILES, HERE, LEFT, RIGHT, Family, Order, Project
from fimlsp.models.prompts.fim_format import (
    FimFormat,
    family_by_name,
    find_format,
    known_markers,
    named_family,
)
from fimlsp.models.prompts.vocabulary import ModelVocabulary
from fimlsp.models.remote.drawn_texts import remote_model
from fimlsp.models.remote.errors import ServerError
from fimlsp.models.remote.http_client import HttpClient
from fimlsp.models.remote.look_ahead import CONTEXT_MAX, RemoteModel
from fimlsp.models.remote.texts import (
    CUT_ID,
    Dialect,
    Question,
    Report,
    TextServer,
    TextTable,
    marker_id,
    pieces,
)

CONTEXT = 2048
"""Tokens of context of a server that does not report them."""

END = marker_id("")
"""The end of a middle where the server writes the markers itself."""

STOPS_MAX = 4
"""More stops are refused by some servers."""


@dataclass(frozen=True, slots=True)
class CompletionsDialect:
    """`Dialect` of `/v1/completions` in the form of OpenAI, with the candidates of tokens as texts."""

    path: str = "/v1/completions"
    has_several: bool = True

    def body(self, name: str, question: Question) -> dict[str, object]:
        """As of `Dialect`."""
        body: dict[str, object] = {
            "model": name,
            "prompt": question.prompt or "\n",
            "max_tokens": question.length,
            "temperature": question.temperature,
            "stream": True,
        }
        if question.suffix is not None:
            body["suffix"] = question.suffix
        if question.candidates is not None:
            body["logprobs"] = question.candidates
        if question.texts > 1:
            body["n"] = question.texts
        if question.stops:
            body["stop"] = question.stops[:STOPS_MAX]
        return body

    def reports(self, value: Any) -> Sequence[Report]:  # noqa: ANN401 - any JSON
        """As of `Dialect`."""
        return [
            _report(choice, choice.get("text"), _positions(choice.get("logprobs")))
            for choice in value["choices"]
        ]


def _report(choice: Mapping[str, Any], text: object, positions: Sequence[Any] = ()) -> Report:
    """The report about a *choice* of an answer, which adds *text*."""
    end = choice.get("finish_reason")
    return Report(str(text or ""), positions, end == "stop", end is not None, int(choice.get("index") or 0))


def _positions(listed: Any) -> list[tuple[str, Mapping[str, Any]]]:  # noqa: ANN401 - any JSON
    """The tokens of a `logprobs` object, with their candidates; empty if it has none."""
    if not isinstance(listed, Mapping) or not listed.get("tokens"):
        return []
    candidates: Sequence[Any] = listed.get("top_logprobs") or [*repeat(None, len(listed["tokens"]))]
    alone = zip(listed["tokens"], listed["token_logprobs"], candidates, strict=True)
    return [(str(text), dict(several) if several else {str(text): own}) for text, own, several in alone]


@dataclass(frozen=True, slots=True)
class MistralDialect:
    """`Dialect` of Mistral's `/v1/fim/completions`, which refuses keys that it does not know."""

    path: str = "/v1/fim/completions"
    has_several: bool = False

    def body(self, name: str, question: Question) -> dict[str, object]:
        """As of `Dialect`."""
        return {
            "model": name,
            "prompt": question.prompt or "\n",
            "suffix": question.suffix or "",
            "max_tokens": question.length,
            "temperature": question.temperature,
            "stream": True,
        }

    def reports(self, value: Any) -> Sequence[Report]:  # noqa: ANN401 - any JSON
        """As of `Dialect`."""
        return [_report(choice, (choice.get("delta") or {}).get("content")) for choice in value["choices"]]


@dataclass(frozen=True, slots=True)
class Form:
    """The use of a kind of server.

    Attributes:
        dialect: the form of requests and answers.
        context: tokens of its context, if it reports none.
        writes_markers: True if it writes the markers.
        parallel: requests that it answers at the same time, if it does not report them.
    """

    dialect: Dialect = CompletionsDialect()
    context: int = CONTEXT
    writes_markers: bool = False
    parallel: int = 1


FORMS = {
    "DeepSeek": Form(CompletionsDialect("/beta/completions"), CONTEXT_MAX // 2, writes_markers=True),
    "Mistral": Form(MistralDialect(), CONTEXT_MAX // 2, writes_markers=True, parallel=3),
    "LM Studio": Form(parallel=4),
    "llama-cpp-python": Form(writes_markers=True),
}
"""LM Studio's Max Concurrent Predictions are 4 by default; before 0.4 the others wait. In llama-cpp-python a
new request ends the one before."""

WITH_PROPS = ("llama-server", "server")
"""Kinds of servers that are asked for llama.cpp's properties."""


def open_texts(
    client: HttpClient, listed: Mapping[str, Any], family: str | Family | None, order: Order | None
) -> RemoteModel:
    """The model of the server that *client* reaches; *listed* is its entry in `/v1/models`.

    Raises:
        ServerError: the server does not answer in this form.
        ModelError: the family is unknown, or does not have this order.
    """
    name, form = str(listed["id"]), FORMS.get(client.kind.name, Form())
    own = None if form.writes_markers and family is None else family or family_by_name(name)
    fim = _two_fields() if own is None else _with_markers(own, name, order)
    markers = [*known_markers(), *fim.marker_ids]
    vocabulary = ModelVocabulary(
        lambda text: pieces(text, markers), TextTable(), adds_space=False, is_open=True
    )
    parallel = _slots(client) or form.parallel
    server = TextServer(client, name, form.dialect, fim.stops, parallel=parallel)
    context = _context(client, listed) or form.context
    try:
        return remote_model(server, vocabulary, fim, min(context, CONTEXT_MAX))
    except ServerError as error:
        if own is not None or form.writes_markers:
            raise
        raise ServerError(
            f"{error} The name of {name} shows no family, so the text after the cursor was sent as suffix. "
            f"If the server refuses that, set the option family."
        ) from error


def _two_fields() -> FimFormat:
    """The format for a server that writes the markers: the text right of the cursor, then the text before."""
    parts = (RIGHT, CUT_ID, FILES, HERE, LEFT)
    return FimFormat("suffix", parts, frozenset([END]), Project(), {})


def _with_markers(family: str | Family, name: str, order: Order | None) -> FimFormat:
    """The format of *family*, whose markers the server reads as text."""
    known = named_family(family, name) if isinstance(family, str) else family
    ids = {text: marker_id(text) for text in known.texts}
    return find_format(ids, name, family=known, order=order).without_start()


def _slots(client: HttpClient) -> int | None:
    """The number of requests that llama.cpp answers at the same time; None for other servers."""
    if client.kind.name in WITH_PROPS:
        with suppress(ServerError, TypeError, KeyError, ValueError):
            return max(1, int(client.ask("/props")["total_slots"]))
    return None


def _context(client: HttpClient, listed: Mapping[str, Any]) -> int | None:
    """Tokens of the model's context as the server reports them; None if it does not."""
    entry = dict(listed)
    if client.kind.name == "LM Studio":
        with suppress(ServerError, TypeError, ValueError):
            entry |= client.ask(f"/api/v0/models/{listed['id']}")
    parameters = entry.get("parameters")
    of_parameters = parameters.get("max_seq_len") if isinstance(parameters, Mapping) else None
    reported = (entry.get(key) for key in ("loaded_context_length", "max_model_len", "max_context_length"))
    sizes = [size for size in (of_parameters, *reported) if type(size) is int and size > 0]
    return sizes[0] if sizes else None
