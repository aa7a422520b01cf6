"""llama.cpp's own server: `/completion` and `/tokenize`, as its `tools/server/README.md` describes them.

Token ids go there and come back, with the exact bytes of each. Two things are not in its documentation. Of a
token that leaves a character unfinished it tells nothing, so a run ends there; what may stand at such a
place is asked with the end of the text forced, which does not change the probabilities that are told. And
it ends its connections after a stream.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from functools import lru_cache
from typing import Any

from fimlsp.models.protocols import Candidates
from fimlsp.models.served.dialects.answers import exact_bytes, failure, log_probability, ranked, token_id
from fimlsp.models.served.dialects.learnt_bytes import LearntBytes
from fimlsp.models.served.http.failures import nonsense
from fimlsp.models.served.http.peer import Peer
from fimlsp.models.served.look_ahead import CANDIDATES, Place

FORCED = 1000.0
REMEMBERED_TEXTS = 256
GREEDY = {"temperature": 0, "samplers": ["temperature"], "speculative.n_max": 0, "cache_prompt": True}
OPTIONS = {**GREEDY, "return_tokens": True, "stream": True, "response_fields": ["stop_type"]}
ALL_OF_ONE = {**GREEDY, "response_fields": ["completion_probabilities"]}


class LlamaServer:
    """`ModelServer` over *peer*, whose model has the tokens *token_bytes* and the end tokens *stops*.

    *held* is kept as long as this is: the server itself, if it runs in here. So many *candidates* are asked
    for at each place.
    """

    def __init__(
        self,
        peer: Peer,
        token_bytes: LearntBytes,
        stops: frozenset[int],
        held: object = None,
        candidates: int = CANDIDATES,
    ) -> None:
        self._peer = peer
        self._held = held
        self._candidates = candidates
        self.token_bytes = token_bytes
        self.stops = stops

    def telling(self, candidates: int) -> LlamaServer:
        """The same server, asked for so many *candidates* at each place."""
        return LlamaServer(self._peer, self.token_bytes, self.stops, self._held, candidates)

    def attended(self, should_stop: Callable[[], bool]) -> AbstractContextManager[None]:
        """As of `Attended`."""
        return self._peer.attended(should_stop)

    def run(self, text: Sequence[int], length: int) -> Generator[Place, None, None]:
        """What the server writes after *text*; see `ModelServer`."""
        n = 0
        with closing(self._events(text, {"n_predict": length})) as events:
            for event in events:
                n += 1
                if event.get("tokens_predicted") != n:
                    break
                yield self._place(event)
        if n == 0 or (n == 1 and event.get("tokens_predicted") != 1):
            yield self._forced(text)

    def stop_after(self, text: Sequence[int]) -> float:
        """The log-probability that the middle ends behind *text*."""
        address = self._peer.address
        return max(
            log_probability(address, self._forced_event(text, stop)["completion_probabilities"][0]["logprob"])
            for stop in self.stops
        )

    def all_after(self, text: Sequence[int]) -> Candidates | None:
        """All candidates behind *text*; 0.3 s for 49,152 of them. None: all are listed anyway."""
        if self._candidates >= len(self.token_bytes):
            return None
        body = {"prompt": list(text), "n_predict": 1, "n_probs": len(self.token_bytes), **ALL_OF_ONE}
        answer = self._peer.ask("/completion", body | {"logit_bias": [[min(self.stops), FORCED]]})
        return self._place(answer).candidates

    def _forced(self, text: Sequence[int]) -> Place:
        """What may follow *text*, where the likeliest token leaves a character unfinished."""
        candidates = self._place(self._forced_event(text, min(self.stops))).candidates
        return Place(candidates.tokens[0], candidates)

    def _forced_event(self, text: Sequence[int], stop: int) -> Mapping[str, Any]:
        """What the server tells of the place behind *text* when it is made to write *stop* there."""
        with closing(self._events(text, {"n_predict": 1, "logit_bias": [[stop, FORCED]]})) as events:
            for event in events:
                self._place(event)
                return event
        raise nonsense(self._peer.address, "no candidates")

    def _events(self, text: Sequence[int], options: Mapping[str, object]) -> Generator[Mapping[str, Any]]:
        """What the server sends for each token."""
        body = {"prompt": list(text), "n_probs": self._candidates, **OPTIONS, **options}
        with closing(self._peer.stream("/completion", body)) as lines:
            for line in lines:
                if not line.startswith(b"data:"):
                    if line.startswith((b":", b"event:", b"id:", b"retry:")):
                        continue
                    raise nonsense(self._peer.address, "no stream of events")
                event = self._peer.read_json(line[5:])
                if not isinstance(event, Mapping):
                    raise nonsense(self._peer.address, "an event that is no object")
                if "error" in event:
                    raise failure(self._peer.address, event["error"])
                if "stop_type" in event or event.get("stop") is True:
                    return
                yield event

    def _place(self, event: Mapping[str, Any]) -> Place:
        address = self._peer.address
        try:
            (place,) = event["completion_probabilities"]
            listed, wrote = place["top_logprobs"], place["id"]
            shares = {
                self._token(each["id"], each["bytes"]): log_probability(address, each["logprob"])
                for each in listed
            }
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise nonsense(address, "tokens without their candidates") from error
        if not shares:
            raise nonsense(address, "no candidates")
        return Place(token_id(address, wrote), ranked(shares, self.stops))

    def _token(self, value: object, data: object) -> int:
        token = token_id(self._peer.address, value)
        self.token_bytes.learn(token, exact_bytes(self._peer.address, data))
        return token


class Tokenization:
    """Token ids of texts, asked of llama.cpp's server; their bytes are learnt along the way."""

    def __init__(self, peer: Peer, token_bytes: LearntBytes) -> None:
        self._peer = peer
        self._token_bytes = token_bytes
        self._remembered = lru_cache(REMEMBERED_TEXTS)(self.pieces)

    def ids(self, text: str) -> list[int]:
        """Token ids of *text* as it stands alone."""
        return [token for token, _ in self._remembered(text)] if text else []

    def pieces(self, text: str, *, has_markers: bool = False) -> list[tuple[int, bytes]]:
        """Tokens of *text* with their bytes; if it *has_markers*, what reads like one becomes one."""
        body = {"content": text, "add_special": False, "parse_special": has_markers, "with_pieces": True}
        answer, address = self._peer.ask("/tokenize", body), self._peer.address
        try:
            pieces = [(token_id(address, each["id"]), as_bytes(each["piece"])) for each in answer["tokens"]]
        except (KeyError, TypeError, ValueError) as error:
            raise nonsense(address, "no tokens of a text") from error
        if not has_markers:
            for token, data in pieces:
                self._token_bytes.learn(token, data or None)
        return pieces


def as_bytes(piece: str | list[int]) -> bytes:
    """The bytes of a piece, which the server writes as text if they are one.

    Raises:
        TypeError, ValueError: it is neither text nor bytes.
    """
    if isinstance(piece, int):  # bytes of a number are as many zeros
        raise TypeError(piece)
    return piece.encode() if isinstance(piece, str) else bytes(piece)
