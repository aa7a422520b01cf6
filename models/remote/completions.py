"""`/v1/completions` with log-probabilities, as of vLLM: tokens as ids, since their texts are unreliable.

With `return_tokens_as_token_ids` a token is written as `token_id:N` (vLLM's
`docs/serving/openai_compatible_server.md`). The tokenizer of the same name on this machine gives the bytes of
each id, and the ids of a text. Servers limit the number of listed candidates: vLLM to 20 by default.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

from fimlsp.models.checkpoints.checkpoint_files import end_tokens, read_tokenizer, template_beside
from fimlsp.models.checkpoints.hub import find_folder, is_hub_name
from fimlsp.models.errors import ModelError
from fimlsp.models.prompts.families import Family, Order, family_beside
from fimlsp.models.prompts.fim_format import find_format
from fimlsp.models.prompts.vocabulary import read_vocabulary
from fimlsp.models.protocols import Candidates
from fimlsp.models.remote.errors import RefusedError, invalid_answer, log_probability, token_id
from fimlsp.models.remote.http_client import HttpClient
from fimlsp.models.remote.look_ahead import (
    CANDIDATES,
    CONTEXT_MAX,
    LookAhead,
    RemoteModel,
    ServerStep,
    ranked,
)
from fimlsp.models.remote.reading import ReadingMeter

PREFIX = "token_id:"
CANDIDATES_TRIED = (CANDIDATES, 20, 5)
BAD_REQUEST = 400
NO_CANDIDATES = "tokens without their candidates"


class Completions:
    """`ModelServer` over *client*, for the model *name* of that server."""

    def __init__(
        self, client: HttpClient, name: str, token_bytes: Sequence[bytes | None], stops: frozenset[int]
    ) -> None:
        self._client = client
        self._name = name
        self.token_bytes = token_bytes
        self.stops = stops
        self._candidates = CANDIDATES
        self._refused = sys.maxsize  # the least number of candidates that the server refuses to list

    def cancellable(self, should_stop: Callable[[], bool]) -> AbstractContextManager[None]:
        """As of `Cancellable`."""
        return self._client.cancellable(should_stop)

    def fit(self, text: Sequence[int]) -> None:
        """Find the largest number of candidates that the server lists, by completing *text*.

        Raises:
            ServerError: the server lists none, or fails.
        """
        for self._candidates in CANDIDATES_TRIED:
            if self._is_accepted(text, is_last=self._candidates == CANDIDATES_TRIED[-1]):
                return

    def _is_accepted(self, text: Sequence[int], *, is_last: bool) -> bool:
        """True if the server lists the current number of candidates."""
        try:
            with closing(self.run(text, 1)) as steps:
                next(steps)
        except RefusedError as error:
            if is_last or error.status != BAD_REQUEST:
                raise
            return False
        return True

    def run(self, text: Sequence[int], length: int) -> Generator[ServerStep, None, None]:
        """The tokens that the server writes after *text*; see `ModelServer`."""
        is_empty = True
        for options in ({}, {"ignore_eos": True}):
            for step in self._steps(text, {"max_tokens": length, **options}):
                is_empty = False
                yield step
            if not is_empty:
                return
        raise invalid_answer(self._client.address, NO_CANDIDATES)

    def stop_after(self, text: Sequence[int]) -> float | None:
        """The log-probability that the middle ends after *text*; None if the server cannot force that."""
        stop = min(self.stops)
        for step in self._steps(text, {"max_tokens": 1, "allowed_token_ids": [stop]}):
            listed = zip(step.candidates.tokens, step.candidates.log_probabilities, strict=True)
            return dict(listed).get(stop)
        return None

    def more_after(self, text: Sequence[int], most: int | None) -> Candidates | None:
        """See `ModelServer`; None if the server was not started so that it lists as many."""
        n = min(len(self.token_bytes), most or len(self.token_bytes))
        if n >= self._refused or self._candidates >= n:
            return None
        options = {"max_tokens": 1, "logprobs": n, "ignore_eos": True, "stream": False}
        try:
            answer = self._client.ask("/v1/completions", self._body(text) | options)
        except RefusedError as error:
            if error.status != BAD_REQUEST:
                raise
            self._refused = n
            return None
        return next((step.candidates for step in self._steps_in(answer)), None)

    def _steps(self, text: Sequence[int], options: Mapping[str, object]) -> Iterator[ServerStep]:
        with closing(self._client.events("/v1/completions", {**self._body(text), **options})) as events:
            for event in events:
                yield from self._steps_in(event)

    def _body(self, text: Sequence[int]) -> dict[str, object]:
        return {
            "model": self._name,
            "prompt": list(text),
            "temperature": 0,
            "logprobs": self._candidates,
            "return_tokens_as_token_ids": True,
            "skip_special_tokens": False,
            "stream": True,
        }

    def _steps_in(self, chunk: Any) -> Iterator[ServerStep]:  # noqa: ANN401 - any JSON
        """The tokens in one chunk of a stream, which may hold several."""
        try:
            reports = [choice["logprobs"] for choice in chunk["choices"] if choice.get("logprobs")]
            for report in reports:
                for token, listed in zip(report["tokens"], report["top_logprobs"], strict=True):
                    yield self._step(token, listed)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise invalid_answer(self._client.address, NO_CANDIDATES) from error

    def _step(self, token: str, listed: Mapping[str, float]) -> ServerStep:
        address = self._client.address
        log_probabilities = {
            self._id(name): log_probability(address, value) for name, value in listed.items()
        }
        if not log_probabilities:
            raise invalid_answer(address, "no candidates")
        return ServerStep(self._id(token), ranked(log_probabilities, self.stops))

    def _id(self, name: str) -> int:
        if not name.startswith(PREFIX):
            raise invalid_answer(self._client.address, "texts of tokens in place of their ids")
        number = name.removeprefix(PREFIX)
        return token_id(
            self._client.address, int(number) if number.isdecimal() else number, len(self.token_bytes)
        )


def open_completions(
    client: HttpClient, listed: Mapping[str, Any], family: str | Family | None, order: Order | None
) -> RemoteModel:
    """The model of the server that *client* reaches; *listed* is its entry in `/v1/models`.

    Raises:
        ServerError: the server lists no candidates.
        ModelError: the tokenizer is not on this machine, or no token ends its texts.
    """
    name = str(listed["id"])
    folder = _tokenizer_folder(name, listed)
    tokenizer = read_tokenizer(folder, name)
    ids = tokenizer.get_vocab(with_added_tokens=True)
    fim = find_format(ids, name, family=family or family_beside(folder), order=order, untrained=True)
    fim = fim.ending_also(end_tokens(folder, tokenizer))
    vocabulary = read_vocabulary(tokenizer, fim.markers)
    server = Completions(client, name, vocabulary.token_bytes, fim.stops)
    server.fit(fim.arrange([], []))
    length = listed.get("max_model_len")
    context = min(length, CONTEXT_MAX) if isinstance(length, int) and length > 0 else CONTEXT_MAX // 2
    kind, device, chat = client.kind.name, str(client.address), template_beside(folder, tokenizer)
    is_own = client.address.is_loopback
    network = LookAhead(server, ReadingMeter() if is_own else None, is_own=is_own)
    identity = f"{device} {name}"
    return RemoteModel(name, kind, device, network, vocabulary, fim, context, identity, chat=chat)


def _tokenizer_folder(name: str, listed: Mapping[str, Any]) -> Path:
    """The folder with the tokenizer of the model *name*, which may be an alias or an adapter of another.

    It is the folder that the server loaded the model from, if it is on this machine too, or that of a hub
    name.
    """
    names = _reported_names(listed)
    folder = next(filter(None, map(_folder, names)), None)
    if folder is not None:
        return folder
    problem = f"Cannot use {name}: its tokenizer is not on this machine, and the server's answers need it"
    on_hub = next(filter(is_hub_name, names), None)
    if on_hub is not None:
        raise ModelError(f"{problem}. Download it with `fimlsp models pull --tokenizer {on_hub}`.")
    raise ModelError(
        f"{problem}. Start the server with the model's hub name as a second name "
        f"(`--served-model-name {name} OWNER/NAME`), and run `fimlsp models pull --tokenizer OWNER/NAME`."
    )


def has_tokenizer(listed: Mapping[str, Any]) -> bool:
    """True if the tokenizer of a model that a server lists so is on this machine."""
    return any(_folder(name) for name in _reported_names(listed))


def _reported_names(listed: Mapping[str, Any]) -> list[str]:
    """The names of a model, and of that from which it was made."""
    reported = (listed.get("root"), listed["id"], listed.get("parent"))
    return [*dict.fromkeys(text for text in reported if isinstance(text, str) and text)]


def _folder(name: str) -> Path | None:
    try:
        return find_folder(name)
    except ModelError:
        return None
