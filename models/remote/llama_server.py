"""llama.cpp's own server: `/completion` and `/tokenize`, as its `tools/server/README.md` describes them.

Token ids are sent and received, with the exact bytes of each. Three properties are not in that documentation:

- For a token that leaves a character unfinished the server reports nothing, so a run ends there. The
  candidates at such a position are requested with a forced stop token, which does not change the reported
  probabilities.
- `logit_bias` does change the probabilities that `post_sampling_probs` reports. An equal bias keeps their
  ratios, so certain tokens can be listed with the probabilities that the model itself gives them.
- The server closes its connections after a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from functools import lru_cache
from math import log
from typing import Any, overload

from fimlsp.models.prompts.chat_template import ChatTemplate
from fimlsp.models.protocols import Candidates
from fimlsp.models.remote.address import Address
from fimlsp.models.remote.errors import (
    ServerError,
    exact_bytes,
    invalid_answer,
    log_probability,
    token_id,
)
from fimlsp.models.remote.http_client import RUN_S, HttpClient
from fimlsp.models.remote.look_ahead import (
    CANDIDATES,
    ServerStep,
    common_prefix,
    ranked,
)
from fimlsp.models.remote.reading import ReadingMeter

FORCED = 1000.0
ALLOWED = 250.0
"""The bias of tokens that are listed with others; those without it are out of reach."""

LEAD = 20.0
"""Nats that the token which the server has to write is ahead of the last listed one.

It is written almost surely then, and single precision still has numbers for tokens 80 nats behind it.
"""

AMONG_MAX = 4_096
"""As many are listed among certain tokens."""
REMEMBERED_TEXTS = 256
GREEDY = {"temperature": 0, "samplers": ["temperature"], "speculative.n_max": 0, "cache_prompt": True}
OPTIONS = {
    **GREEDY,
    "return_tokens": True,
    "return_progress": True,
    "stream": True,
    "response_fields": ["stop_type"],
}
AMONG = {
    "n_predict": 1,
    "temperature": 1,
    "samplers": [],
    "seed": 0,
    "post_sampling_probs": True,
    "speculative.n_max": 0,
    "cache_prompt": True,
    "response_fields": ["completion_probabilities"],
}
"""The probabilities after biases; without them the server reports those before, of the likeliest only."""

ALL_OF_ONE = {**GREEDY, "response_fields": ["completion_probabilities"]}
SHARED_ONE_IN = 2
"""A text goes on in a slot if that has this share of the text, or of its own; else it gets the oldest."""

FOREIGN_MARKER = "<|im_start|>"
NO_CANDIDATES = "tokens without their candidates"


class LearnedBytes(Sequence["bytes | None"]):
    """The exact bytes of the tokens of the server at *address*, as far as it has reported them.

    None for the tokens in *silent*, which have no text, and for those not reported yet. *known* are the bytes
    of the first tokens, known from elsewhere.
    """

    def __init__(
        self, address: Address, size: int, known: Sequence[bytes | None] = (), silent: Collection[int] = ()
    ) -> None:
        self._address = address
        self._table: list[bytes | None] = [*known, *[None] * (size - len(known))]
        for token in silent:
            self._table[token] = None
        self._silent = frozenset(silent)

    def learn(self, token: int, data: bytes | None) -> None:
        """Record that *token* has the bytes *data*; None: the server does not report them.

        Raises:
            ServerError: there is no such token, or it had other bytes before: the server has a new model.
        """
        if token >= len(self._table):
            raise self._changed(f"it reports token {token}, but had {len(self._table)} tokens")
        if token in self._silent:
            return
        if self._table[token] is None:
            self._table[token] = data
        elif data not in (None, self._table[token]):
            raise self._changed(f"its token {token} has changed")

    def _changed(self, change: str) -> ServerError:
        return ServerError(
            f"Cannot continue with the server at {self._address}: it has another model than before "
            f"({change}). Wait until the model is loaded again."
        )

    @overload
    def __getitem__(self, at: int) -> bytes | None: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[bytes | None]: ...
    def __getitem__(self, at: int | slice) -> bytes | Sequence[bytes | None] | None:
        return self._table[at]

    def __len__(self) -> int:
        return len(self._table)


class Slots:
    """The *number* slots of a server that has one client, each with the text that was read in it last.

    A prompt is read in the slot that has read most of it already. The server would choose another one while
    a cancelled request still holds its own, and read everything anew. A request for a certain slot waits for
    it instead, and goes on after the part that was read.
    """

    def __init__(self, number: int) -> None:
        self._texts: dict[int, Sequence[int]] = dict.fromkeys(range(number), ())

    def choose(self, text: Sequence[int]) -> int:
        """The slot for *text*, which it has read from now on."""
        shared = {slot: common_prefix(known, text) for slot, known in self._texts.items()}
        slot = max(shared, key=lambda slot: shared[slot])
        if shared[slot] * SHARED_ONE_IN < min(len(text), len(self._texts[slot])) or not shared[slot]:
            slot = next(iter(self._texts))
        del self._texts[slot]  # the newest is last
        self._texts[slot] = tuple(text)
        return slot


class LlamaServer:
    """`ModelServer` over *client*, whose model has the tokens *token_bytes* and the end tokens *stops*.

    *keep_alive* is referenced as long as this object: the server itself, if it runs in this process. *slots*
    are those of such a server, which has no other client. The server lists `candidates` tokens at each
    position, and `meter` has the progress of reading that it reports.
    """

    def __init__(
        self,
        client: HttpClient,
        token_bytes: LearnedBytes,
        stops: frozenset[int],
        keep_alive: object = None,
        slots: Slots | None = None,
    ) -> None:
        self._client = client
        self._keep_alive = keep_alive
        self._slots = slots
        self.candidates = CANDIDATES
        self.meter = ReadingMeter()
        self.token_bytes = token_bytes
        self.stops = stops

    def cancellable(self, should_stop: Callable[[], bool]) -> AbstractContextManager[None]:
        """As of `Cancellable`."""
        return self._client.cancellable(should_stop)

    def run(self, text: Sequence[int], length: int) -> Generator[ServerStep, None, None]:
        """The tokens that the server writes after *text*; see `ModelServer`."""
        n = 0
        with closing(self._events(text, {"n_predict": length})) as events:
            for event in events:
                n += 1
                if event.get("tokens_predicted") != n:
                    break
                yield self._step(event)
        if n == 0 or (n == 1 and event.get("tokens_predicted") != 1):
            yield self._forced(text)

    def stop_after(self, text: Sequence[int]) -> float:
        """The log-probability that the middle ends after *text*."""
        address = self._client.address
        return max(
            log_probability(address, self._forced_event(text, stop)["completion_probabilities"][0]["logprob"])
            for stop in self.stops
        )

    def more_after(self, text: Sequence[int], most: int | None) -> Candidates | None:
        """See `ModelServer`; takes 0.3 s for 49,152 candidates."""
        number = min(len(self.token_bytes), most or len(self.token_bytes))
        if self.candidates >= number:
            return None
        body = {**self._prompt(text), "n_predict": 1, "n_probs": number, **ALL_OF_ONE}
        answer = self._client.ask("/completion", body | {"logit_bias": [[min(self.stops), FORCED]]}, RUN_S)
        return self._step(answer).candidates

    def among(self, text: Sequence[int], wanted: Sequence[int], listed: Candidates) -> Candidates | None:
        """The likeliest of the *wanted* tokens after *text*; see `ListsViable`.

        The server reports the probabilities of those that are not *listed*, relative to one that is. None if
        none of these has whole characters, or if the wanted tokens are out of reach.
        """
        own = dict(zip(listed.tokens, listed.log_probabilities, strict=True))
        anchor = next((token for token in own if self._is_plain(token)), None)
        if anchor is None:
            return None
        scores = {token: own[token] for token in wanted if token in own}
        if others := [token for token in wanted if token not in own]:
            lead = LEAD - own[anchor] + listed.log_probabilities[-1]
            biases = [[anchor, ALLOWED + lead], *([token, ALLOWED] for token in others)]
            body = {**self._prompt(text), **AMONG, "logit_bias": biases}
            body["n_probs"] = min(len(biases), AMONG_MAX + 1)
            biased = self._biased(self._client.ask("/completion", body, RUN_S))
            if anchor not in biased:
                return None
            shift = own[anchor] - biased[anchor] + lead
            scores |= {token: biased[token] + shift for token in others if token in biased}
        return replace(ranked(scores, self.stops), stop=listed.stop) if scores else None

    def _is_plain(self, token: int) -> bool:
        """True if the server reports a position where it writes *token*: no character is left unfinished."""
        data = self.token_bytes[token]
        return token in self.stops if data is None else is_utf8(data)

    def _biased(self, answer: Mapping[str, Any]) -> dict[int, float]:
        """The log-probability of each token in *answer*, if it has one in single precision.

        Empty if the server has written another token, which leaves a character unfinished.
        """
        address = self._client.address
        try:
            return {
                self._token(entry["id"], entry["bytes"]): log_probability(address, log(entry["prob"]))
                for position in answer.get("completion_probabilities", ())
                for entry in position["top_probs"]
                if entry["prob"]
            }
        except (KeyError, TypeError, ValueError) as error:
            raise invalid_answer(address, NO_CANDIDATES) from error

    def _forced(self, text: Sequence[int]) -> ServerStep:
        """The candidates after *text*, where the likeliest token leaves a character unfinished."""
        candidates = self._step(self._forced_event(text, min(self.stops))).candidates
        return ServerStep(candidates.tokens[0], candidates)

    def _forced_event(self, text: Sequence[int], stop: int) -> Mapping[str, Any]:
        """The server's report of the position after *text* when it is forced to write *stop* there."""
        with closing(self._events(text, {"n_predict": 1, "logit_bias": [[stop, FORCED]]})) as events:
            for event in events:
                self._step(event)
                return event
        raise invalid_answer(self._client.address, "no candidates")

    def _events(self, text: Sequence[int], options: Mapping[str, object]) -> Generator[Mapping[str, Any]]:
        """Yield the server's event for each token."""
        body = {**self._prompt(text), "n_probs": self.candidates, **OPTIONS, **options}
        with closing(self._client.events("/completion", body)) as events:
            for event in events:
                if "stop_type" in event or event.get("stop") is True:
                    return
                if (progress := event.get("prompt_progress")) is not None:
                    if self.meter.report(progress):
                        self._client.renew()
                else:
                    self._client.renew()
                    yield event

    def _prompt(self, text: Sequence[int]) -> dict[str, object]:
        slot = {} if self._slots is None else {"id_slot": self._slots.choose(text)}
        return {"prompt": list(text), **slot}

    def _step(self, event: Mapping[str, Any]) -> ServerStep:
        address = self._client.address
        try:
            (position,) = event["completion_probabilities"]
            written, listed = position["id"], position["top_logprobs"]
            log_probabilities = {
                self._token(entry["id"], entry["bytes"]): log_probability(address, entry["logprob"])
                for entry in listed
            }
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise invalid_answer(address, NO_CANDIDATES) from error
        if not log_probabilities:
            raise invalid_answer(address, "no candidates")
        return ServerStep(token_id(address, written), ranked(log_probabilities, self.stops))

    def _token(self, value: object, data: object) -> int:
        token = token_id(self._client.address, value)
        self.token_bytes.learn(token, exact_bytes(self._client.address, data))
        return token


class ServerTokenizer:
    """Tokenises texts with llama.cpp's server, and records the bytes of the tokens that it reports."""

    def __init__(self, client: HttpClient, token_bytes: LearnedBytes) -> None:
        self._client = client
        self._token_bytes = token_bytes
        self._remembered = lru_cache(REMEMBERED_TEXTS)(self.pieces)

    def ids(self, text: str) -> list[int]:
        """Token ids of *text* alone, without markers around it."""
        return [token for token, _ in self._remembered(text)] if text else []

    def pieces(self, text: str, *, has_markers: bool = False) -> list[tuple[int, bytes]]:
        """Tokens of *text* with their bytes; if it *has_markers*, markers in it become single tokens."""
        body = {"content": text, "add_special": False, "parse_special": has_markers, "with_pieces": True}
        answer, address = self._client.ask("/tokenize", body), self._client.address
        try:
            pieces = [
                (token_id(address, entry["id"]), as_bytes(entry["piece"])) for entry in answer["tokens"]
            ]
        except (KeyError, TypeError, ValueError) as error:
            raise invalid_answer(address, "no tokens of a text") from error
        if not has_markers:
            for token, data in pieces:
                self._token_bytes.learn(token, data or None)
        return pieces


def is_utf8(data: bytes) -> bool:
    """True if *data* consists of whole characters."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def as_bytes(piece: str | list[int]) -> bytes:
    """The bytes of a *piece*, which the server writes as text if they are valid UTF-8.

    Raises:
        TypeError, ValueError: *piece* is neither text nor bytes.
    """
    if isinstance(piece, int):  # `bytes` of a number is that many zeros
        raise TypeError(piece)
    return piece.encode() if isinstance(piece, str) else bytes(piece)


def chat_of_server(client: HttpClient, tokenizer: ServerTokenizer) -> ChatTemplate | None:
    """The template of conversations that the server reports; None if its model has none.

    For such a model llama.cpp reports one of another family, whose markers are no tokens of this one.
    """
    props = client.ask("/props")
    text, start, end = (str(props.get(key) or "") for key in ("chat_template", "bos_token", "eos_token"))

    def encode(part: str) -> list[int]:
        return [token for token, _ in tokenizer.pieces(part, has_markers=True)] if part else []

    is_foreign = FOREIGN_MARKER in text and len(encode(FOREIGN_MARKER)) > 1
    return ChatTemplate(text, start, end, encode) if text and not is_foreign else None
