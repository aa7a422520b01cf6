"""Ollama's `/api/generate`, which lists candidates as texts only (`docs/api.md` of github.com/ollama/ollama).

Ollama reports no token ids, so each text is its own id: the number that its bytes form after a leading 1, or
2 for a marker. Nothing has to be remembered, however many texts there are. A candidate that ends inside a
character arrives as U+FFFD; it is unknown and left out. Where the model ends, Ollama lists no candidates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from typing import Any, overload

from fimlsp.models.prompts.families import Family, Order
from fimlsp.models.prompts.fim_format import find_format, known_markers
from fimlsp.models.prompts.vocabulary import ModelVocabulary
from fimlsp.models.protocols import Candidates
from fimlsp.models.remote.errors import ServerError, invalid_answer, log_probability
from fimlsp.models.remote.http_client import HttpClient
from fimlsp.models.remote.look_ahead import LookAhead, RemoteModel, ServerStep, ranked

CANDIDATES_MAX = 20
CONTEXT = 4096
"""Tokens of context that Ollama uses unless it is configured otherwise."""

UNREADABLE = "\ufffd"
UNKNOWN = -1
NO_CANDIDATES = "tokens without their candidates"
TEXT, MARKER = b"\1", b"\2"
_PIECE = re.compile(r"\s*\w{1,4}|\s+|[^\w\s]{1,2}")


def text_id(text: str) -> int:
    """The id of *text*."""
    return int.from_bytes(TEXT + text.encode(), "big")


def marker_id(text: str) -> int:
    """The id of the marker that is written as *text*."""
    return int.from_bytes(MARKER + text.encode(), "big")


def decode_id(token: int) -> tuple[bool, str]:
    """True if *token* is a marker, and its text."""
    data = token.to_bytes((token.bit_length() + 7) // 8, "big")
    return data[:1] == MARKER, data[1:].decode()


def pieces(text: str, markers: Iterable[str]) -> list[int]:
    """Ids of *text* in pieces: for code, on average at least as many as any vocabulary needs tokens.

    The server reads markers in a text as such, so a space is put inside any text that looks like one.
    """
    for marker in markers:
        text = text.replace(marker, f"{marker[:1]} {marker[1:]}")
    return [text_id(piece) for piece in _PIECE.findall(text)]


class TextTable(Sequence["bytes | None"]):
    """The bytes of each such id; None for a marker."""

    @overload
    def __getitem__(self, at: int) -> bytes | None: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[bytes | None]: ...
    def __getitem__(self, at: int | slice) -> bytes | Sequence[bytes | None] | None:
        if isinstance(at, slice):
            raise TypeError("a table of all texts has no slices")
        is_marker, text = decode_id(at)
        return None if is_marker else text.encode()

    def __len__(self) -> int:
        return 1 << 62


class Ollama:
    """`ModelServer` over *client*, for the model *name* of that server."""

    def __init__(self, client: HttpClient, name: str, stops: frozenset[int]) -> None:
        self._client = client
        self._name = name
        self.token_bytes = TextTable()
        self.stops = stops

    def cancellable(self, should_stop: Callable[[], bool]) -> AbstractContextManager[None]:
        """As of `Cancellable`."""
        return self._client.cancellable(should_stop)

    def run(self, text: Sequence[int], length: int) -> Generator[ServerStep, None, None]:
        """The tokens that the server writes after *text*; see `ModelServer`."""
        is_empty = True
        with closing(self._client.stream("/api/generate", self._body(text, length))) as lines:
            for line in lines:
                report = self._client.read_json(line)
                for step in self._steps_in(report):
                    is_empty = False
                    yield step
                if report.get("done"):
                    if report.get("done_reason") == "stop":
                        yield self._end()
                    elif is_empty:
                        raise ServerError(
                            f"Cannot use the Ollama at {self._client.address}: it lists no candidates. "
                            f"Update it to 0.12.11 or later."
                        )
                    return
            if is_empty:
                raise invalid_answer(self._client.address, "an answer without a token")

    def stop_after(self, text: Sequence[int]) -> None:  # noqa: ARG002 - the same for any text
        """None: Ollama does not report this."""
        return

    def all_after(self, text: Sequence[int]) -> None:  # noqa: ARG002 - the same for any text
        """None: Ollama lists at most 20."""
        return

    def _body(self, text: Sequence[int], length: int) -> dict[str, object]:
        return {
            "model": self._name,
            "prompt": "".join(decode_id(token)[1] for token in text),
            "raw": True,
            "stream": True,
            "logprobs": True,
            "top_logprobs": CANDIDATES_MAX,
            "options": {"temperature": 0, "num_predict": length},
        }

    def _end(self) -> ServerStep:
        stop = min(self.stops)
        return ServerStep(stop, Candidates([stop], [0.0], 0.0))

    def _steps_in(self, report: Any) -> Generator[ServerStep, None, None]:  # noqa: ANN401 - any JSON
        """The tokens in one line of the answer."""
        if not isinstance(report, Mapping) or "error" in report:
            raise invalid_answer(self._client.address, str(report)[:100])
        positions = report.get("logprobs") or []
        if not isinstance(positions, list):
            raise invalid_answer(self._client.address, NO_CANDIDATES)
        for position in positions:
            yield self._step(position)

    def _step(self, position: Any) -> ServerStep:  # noqa: ANN401 - any JSON
        address = self._client.address
        try:
            listed = {
                str(entry["token"]): entry["logprob"] for entry in position["top_logprobs"] or [position]
            }
            written = str(position["token"])
            log_probabilities = {
                text_id(text): log_probability(address, value)
                for text, value in listed.items()
                if text and UNREADABLE not in text
            }
            token = UNKNOWN if UNREADABLE in written else text_id(written)
        except (KeyError, TypeError) as error:
            raise invalid_answer(address, NO_CANDIDATES) from error
        except UnicodeEncodeError as error:
            raise invalid_answer(address, "a token with half a character") from error
        return ServerStep(token, ranked(log_probabilities, self.stops)) if log_probabilities else self._end()


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
    vocabulary = ModelVocabulary(lambda text: pieces(text, markers), TextTable(), adds_space=False)
    trained = info.get(f"{architecture}.context_length")
    context = min(trained, CONTEXT) if isinstance(trained, int) and trained > 0 else CONTEXT
    network = LookAhead(Ollama(client, name, fim.stops))
    return RemoteModel(name, "Ollama", str(client.address), network, vocabulary, fim, context, is_exact=False)


def _ends(info: Mapping[str, Any]) -> list[int]:
    """The numbers of the tokens that end texts, as the server describes the model."""
    ends = (info.get(f"tokenizer.ggml.{name}_token_id") for name in ("eos", "eot", "eom"))
    return [end for end in ends if type(end) is int and end >= 0]
