"""`/v1/completions` with log-probabilities, as vLLM has it: by ids, since texts of tokens are unreliable.

With `return_tokens_as_token_ids` a token is written as `token_id:N` (vLLM's
`docs/serving/openai_compatible_server.md`). Which bytes that is, and which tokens a text has, is known from
the tokenizer of the same name on this machine. Servers limit how many candidates they tell; vLLM, unless told
otherwise, to 20.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from typing import TYPE_CHECKING, Any

from fimlsp.models.protocols import Candidates
from fimlsp.models.served.dialects.answers import failure, log_probability, ranked, token_id
from fimlsp.models.served.http.failures import RefusedError, nonsense
from fimlsp.models.served.http.peer import Peer
from fimlsp.models.served.look_ahead import CANDIDATES, Place

if TYPE_CHECKING:
    from collections.abc import Callable

PREFIX = "token_id:"
FEWER = (CANDIDATES, 20, 5)
BAD_REQUEST = 400


class Completions:
    """`ModelServer` over *peer*, for the model that it calls *name*."""

    def __init__(
        self, peer: Peer, name: str, token_bytes: Sequence[bytes | None], stops: frozenset[int]
    ) -> None:
        self._peer = peer
        self._name = name
        self.token_bytes = token_bytes
        self.stops = stops
        self._candidates = CANDIDATES
        self._tells_all = True

    def attended(self, should_stop: Callable[[], bool]) -> AbstractContextManager[None]:
        """As of `Attended`."""
        return self._peer.attended(should_stop)

    def fit(self, text: Sequence[int]) -> None:
        """Find out how many candidates the server tells, by asking what follows *text*.

        Raises:
            ServerError: it tells none, or fails.
        """
        for self._candidates in FEWER:
            if self._tells(text, is_last=self._candidates == FEWER[-1]):
                return

    def _tells(self, text: Sequence[int], *, is_last: bool) -> bool:
        """Whether the server tells as many candidates as are asked for."""
        try:
            with closing(self.run(text, 1)) as places:
                next(places)
        except RefusedError as error:
            if is_last or error.status != BAD_REQUEST:
                raise
            return False
        return True

    def run(self, text: Sequence[int], length: int) -> Generator[Place, None, None]:
        """What the server writes after *text*; see `ModelServer`."""
        is_empty = True
        for options in ({}, {"ignore_eos": True}):
            for place in self._places(text, {"max_tokens": length, **options}):
                is_empty = False
                yield place
            if not is_empty:
                return
        raise nonsense(self._peer.address, "tokens without their candidates")

    def stop_after(self, text: Sequence[int]) -> float | None:
        """The log-probability that the middle ends behind *text*, if the server can be made to write that."""
        stop = min(self.stops)
        for place in self._places(text, {"max_tokens": 1, "allowed_token_ids": [stop]}):
            return dict(zip(place.candidates.tokens, place.candidates.log_probabilities, strict=True)).get(
                stop
            )
        return None

    def all_after(self, text: Sequence[int]) -> Candidates | None:
        """All candidates behind *text*, if the server was started so that it tells as many."""
        n = len(self.token_bytes)
        if not self._tells_all or self._candidates >= n:
            return None
        options = {"max_tokens": 1, "logprobs": n, "ignore_eos": True, "stream": False}
        try:
            answer = self._peer.ask("/v1/completions", self._body(text) | options)
        except RefusedError as error:
            if error.status != BAD_REQUEST:
                raise
            self._tells_all = False
            return None
        return next((place.candidates for place in self._told(answer)), None)

    def _places(self, text: Sequence[int], options: Mapping[str, object]) -> Iterator[Place]:
        with closing(self._peer.stream("/v1/completions", {**self._body(text), **options})) as lines:
            for line in lines:
                if not line.startswith(b"data:") or line == b"data: [DONE]":
                    continue
                yield from self._told(self._peer.read_json(line[5:]))

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

    def _told(self, chunk: Any) -> Iterator[Place]:  # noqa: ANN401 - any JSON
        """The places that one chunk tells of; servers put several tokens into one."""
        try:
            if "error" in chunk:
                raise failure(self._peer.address, chunk["error"])
            told = [each["logprobs"] for each in chunk["choices"] if each.get("logprobs")]
            for each in told:
                for token, listed in zip(each["tokens"], each["top_logprobs"], strict=True):
                    yield self._place(token, listed)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise nonsense(self._peer.address, "tokens without their candidates") from error

    def _place(self, token: str, listed: Mapping[str, float]) -> Place:
        address = self._peer.address
        shares = {self._id(name): log_probability(address, value) for name, value in listed.items()}
        if not shares:
            raise nonsense(address, "no candidates")
        return Place(self._id(token), ranked(shares, self.stops))

    def _id(self, name: str) -> int:
        if not name.startswith(PREFIX):
            raise nonsense(self._peer.address, "it tells the texts of tokens, not their ids")
        number = name.removeprefix(PREFIX)
        return token_id(
            self._peer.address, int(number) if number.isdecimal() else number, len(self.token_bytes)
        )
