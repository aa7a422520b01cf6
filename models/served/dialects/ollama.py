"""Ollama's `/api/generate`, which tells candidates as texts only (`docs/api.md` of github.com/ollama/ollama).

A candidate that ends inside a character comes as U+FFFD, so it cannot be known and is left out. Where the
model ends, Ollama tells no candidates, only that it did.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from typing import Any

from fimlsp.models.protocols import Candidates
from fimlsp.models.served.dialects.answers import log_probability, ranked
from fimlsp.models.served.dialects.text_tokens import TextTable, text_id, written
from fimlsp.models.served.http.failures import ServerError, nonsense
from fimlsp.models.served.http.peer import Peer
from fimlsp.models.served.look_ahead import Place

CANDIDATES_MAX = 20
UNREADABLE = "\ufffd"
NOT_KNOWN = -1


class Ollama:
    """`ModelServer` over *peer*, for the model that it calls *name*."""

    def __init__(self, peer: Peer, name: str, stops: frozenset[int]) -> None:
        self._peer = peer
        self._name = name
        self.token_bytes = TextTable()
        self.stops = stops

    def attended(self, should_stop: Callable[[], bool]) -> AbstractContextManager[None]:
        """As of `Attended`."""
        return self._peer.attended(should_stop)

    def run(self, text: Sequence[int], length: int) -> Generator[Place, None, None]:
        """What the server writes after *text*; see `ModelServer`."""
        body = {
            "model": self._name,
            "prompt": "".join(written(token)[1] for token in text),
            "raw": True,
            "stream": True,
            "logprobs": True,
            "top_logprobs": CANDIDATES_MAX,
            "options": {"temperature": 0, "num_predict": length},
        }
        is_empty = True
        with closing(self._peer.stream("/api/generate", body)) as lines:
            for line in lines:
                told = self._peer.read_json(line)
                if not isinstance(told, Mapping) or "error" in told:
                    raise nonsense(self._peer.address, str(told)[:100])
                places = told.get("logprobs") or []
                if not isinstance(places, list):
                    raise nonsense(self._peer.address, "tokens without their candidates")
                for place in places:
                    is_empty = False
                    yield self._place(place)
                if told.get("done"):
                    if told.get("done_reason") == "stop":
                        yield self._end()
                    elif is_empty:
                        raise ServerError(
                            f"The Ollama at {self._peer.address} tells no candidates; update it to 0.12.11."
                        )
                    return
            if is_empty:
                raise nonsense(self._peer.address, "an answer without a token")

    def stop_after(self, text: Sequence[int]) -> None:  # noqa: ARG002 - it cannot be told of any
        """Ollama does not tell."""
        return

    def all_after(self, text: Sequence[int]) -> None:  # noqa: ARG002 - it cannot be told of any
        """Ollama tells 20."""
        return

    def _end(self) -> Place:
        stop = min(self.stops)
        return Place(stop, Candidates([stop], [0.0], 0.0))

    def _place(self, place: Any) -> Place:  # noqa: ANN401 - any JSON
        address = self._peer.address
        try:
            texts = {str(each["token"]): each["logprob"] for each in place["top_logprobs"] or [place]}
            wrote = str(place["token"])
            shares = {
                text_id(text): log_probability(address, value)
                for text, value in texts.items()
                if text and UNREADABLE not in text
            }
            token = NOT_KNOWN if UNREADABLE in wrote else text_id(wrote)
        except (KeyError, TypeError) as error:
            raise nonsense(address, "tokens without their candidates") from error
        except UnicodeEncodeError as error:
            raise nonsense(address, "a token with half a character") from error
        return Place(token, ranked(shares, self.stops)) if shares else self._end()
