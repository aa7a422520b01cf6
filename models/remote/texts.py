"""Servers that take prompts and return tokens as texts, so that a token has no number.

Each text is its own number: that of its bytes after a leading 1, or 2 for a marker. Nothing has to be
remembered, however many texts there are. A candidate that ends inside a character arrives as U+FFFD; it is
unknown and left out.

A server that reports candidates of each token is used like any other. Of a server that reports none, the
text is split into words and signs, and each counts as a token. The longest beginning that the constraint
allows is kept, which is the method "checked" of Melcer et al. 2024 (arXiv 2402.17988), and the server
continues from there. It would write the refused word again, so a few draws replace that word.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Protocol, overload

from fimlsp.models.prompts.fim_format import FimFormat
from fimlsp.models.prompts.vocabulary import ModelVocabulary
from fimlsp.models.protocols import Candidates
from fimlsp.models.remote.errors import RefusedError, invalid_answer, log_probability
from fimlsp.models.remote.http_client import HttpClient
from fimlsp.models.remote.look_ahead import LookAhead, RemoteModel, ServerStep, ranked
from fimlsp.models.remote.model_file import BUFFER_KEY, ESTIMATE_KEY
from fimlsp.models.remote.reading import ReadingMeter

UNREADABLE = "\ufffd"
UNKNOWN = -1
NO_CANDIDATES = "tokens without their candidates"
TEXT, MARKER, CUT = b"\1", b"\2", b"\3"
CUT_ID = int.from_bytes(CUT, "big")
"""In a prompt it separates the text right of the cursor from that left of it: they have two fields."""

SAMPLE = "def area(width, height):\n    return "
"""A text to complete, by which a server shows its answers; some refuse an empty one."""

GOES_ON = -2.0
"""The log-probability of an end where the server continues, if it reports no probabilities."""

NO_HEADER: Mapping[str, object] = MappingProxyType({})
CANDIDATES_TRIED = (20, 5, None)
NOT_SUPPORTED = (400, 422, 500, 501)
DRAWS = 3
DRAWN_TOKENS = 6
DRAWN_TEMPERATURE = 0.8
BYTES_PER_TOKEN_MAX = 64
"""A server that writes more than this for each token that it may write is stopped."""

_PIECE = re.compile(r"\s*\w{1,4}|\s+|[^\w\s]{1,2}")
_WRITTEN_PIECE = re.compile(r"[^\S\n]*\w+|[^\S\n]*\n|[^\S\n]+|[^\w\s]")


def text_id(text: str) -> int:
    """The id of *text*."""
    return int.from_bytes(TEXT + text.encode(), "big")


def marker_id(text: str) -> int:
    """The id of the marker that is written as *text*."""
    return int.from_bytes(MARKER + text.encode(), "big")


def decode_id(token: int) -> tuple[bool, str]:
    """True if *token* is a marker, and its text."""
    data = token.to_bytes((token.bit_length() + 7) // 8, "big")
    return data[:1] != TEXT, data[1:].decode()


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


@dataclass(frozen=True, slots=True)
class Question:
    """A request for at most *length* tokens after *prompt*, and before *suffix* if that has its own field.

    Attributes:
        candidates: candidates wanted for each token; None: none.
        temperature: 0 for the likeliest text, else it is drawn with *seed*.
        stops: markers at which the text ends.
    """

    prompt: str
    suffix: str | None
    length: int
    candidates: int | None
    stops: tuple[str, ...] = ()
    temperature: float = 0.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """One object of an answer.

    Attributes:
        text: the text that it adds.
        positions: for each token its text and the log-probabilities of its candidates; empty if unreported.
        has_ended: True if the model itself has ended the text.
    """

    text: str
    positions: Sequence[tuple[str, Mapping[str, Any]]] = ()
    has_ended: bool = False


class Dialect(Protocol):
    """The form of the requests and answers of a kind of server."""

    @property
    def path(self) -> str:
        """The path of requests."""

    def body(self, name: str, question: Question) -> dict[str, object]:
        """The body of a request to the model *name*."""

    def report(self, value: Any) -> Report:  # noqa: ANN401 - any JSON
        """The content of an object of an answer.

        Raises:
            KeyError, IndexError, TypeError, AttributeError: it has another form.
        """


@dataclass
class TextServer:
    """`ModelServer` over *client*, for the model *name* of a server that speaks *dialect*.

    Attributes:
        stops: markers that end a middle.
        candidates: candidates requested for each token; None: the server reports none.
        temperature: that of all requests; 0: the likeliest text.
        seed: the seed of the draws with a temperature.
    """

    client: HttpClient
    name: str
    dialect: Dialect
    stops: frozenset[int]
    candidates: int | None = CANDIDATES_TRIED[0]
    temperature: float = 0.0
    seed: int = 0
    token_bytes: TextTable = field(default_factory=TextTable)

    def drawn(self, number: int) -> TextServer:
        """The same server with draws, the *number*-th, in place of the likeliest text."""
        return replace(self, temperature=DRAWN_TEMPERATURE, seed=number)

    def cancellable(self, should_stop: Callable[[], bool]) -> AbstractContextManager[None]:
        """As of `Cancellable`."""
        return self.client.cancellable(should_stop)

    def fit(self, text: Sequence[int]) -> None:
        """Find the number of candidates that the server reports, by completing *text*.

        Raises:
            ServerError: the server fails.
        """
        for self.candidates in CANDIDATES_TRIED:
            try:
                reports = [*self._reports(self._question(text, 1))]
            except RefusedError as error:
                if self.candidates is None or error.status not in NOT_SUPPORTED:
                    raise
                continue
            if any(report.positions for report in reports):
                return
        self.candidates = None

    def run(self, text: Sequence[int], length: int) -> Generator[ServerStep, None, None]:
        """The tokens that the server writes after *text*; see `ModelServer`."""
        question = self._question(text, length)
        is_empty = True
        for step in self._steps(question) if self.candidates else self._plain_steps(question):
            is_empty = False
            yield step
        if is_empty:
            raise invalid_answer(self.client.address, "an answer without a token")

    def stop_after(self, text: Sequence[int]) -> None:  # noqa: ARG002 - the same for any text
        """None: no such server reports this."""
        return

    def more_after(self, text: Sequence[int], _most: int | None) -> Candidates | None:
        """The words that a few draws start with, after *text*; None if candidates were reported."""
        if self.candidates is not None:
            return None
        words = Counter[int]()
        for number in range(1, DRAWS + 1):
            steps = self.drawn(number).run(text, DRAWN_TOKENS)
            with closing(steps):
                words[next(steps).token] += 1
        ranking = words.most_common()
        shares = [math.log(count / DRAWS) for _, count in ranking]
        return Candidates([token for token, _ in ranking], shares, GOES_ON)

    def _question(self, text: Sequence[int], length: int) -> Question:
        suffix, cut, prompt = list[str](), False, list[str]()
        for token in text:
            if token == CUT_ID:
                suffix, prompt, cut = prompt, [], True
            else:
                prompt.append(decode_id(token)[1])
        stops = tuple(sorted(filter(None, (decode_id(stop)[1] for stop in self.stops))))
        joined = "".join(suffix) if cut else None
        return Question("".join(prompt), joined, length, self.candidates, stops, self.temperature, self.seed)

    def _reports(self, question: Question) -> Iterator[Report]:
        body = self.dialect.body(self.name, question)
        with closing(self.client.events(self.dialect.path, body)) as events:
            for event in events:
                try:
                    report = self.dialect.report(event)
                except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
                    raise invalid_answer(self.client.address, "no text of a completion") from error
                yield report
                if report.has_ended:
                    return

    def _steps(self, question: Question) -> Iterator[ServerStep]:
        """The tokens of the server, with their candidates."""
        for report in self._reports(question):
            if report.text and not report.positions:
                raise invalid_answer(self.client.address, NO_CANDIDATES)
            for written, listed in report.positions:
                yield self._step(written, listed)
            if report.has_ended:
                yield self._end()

    def _plain_steps(self, question: Question) -> Iterator[ServerStep]:
        """The words and signs of the server's text; the last one waits for the text that may complete it."""
        waiting, room = "", question.length * BYTES_PER_TOKEN_MAX
        has_ended = False
        for report in self._reports(question):
            waiting, room, has_ended = waiting + report.text, room - len(report.text), report.has_ended
            if (at := first_of(waiting, (*question.stops, UNREADABLE))) is not None:
                waiting, has_ended = waiting[:at], True
                break
            held = n_begun(waiting, question.stops)
            *known, last = _WRITTEN_PIECE.findall(waiting[: len(waiting) - held]) or [""]
            waiting = last + waiting[len(waiting) - held :]
            yield from map(self._plain_step, known)
            if room < 0:
                raise invalid_answer(self.client.address, "more text than was requested")
        for piece in _WRITTEN_PIECE.findall(waiting):
            yield self._plain_step(piece)
        if has_ended:
            yield self._end()

    def _plain_step(self, piece: str) -> ServerStep:
        token = self._text_id(piece)
        return ServerStep(token, Candidates([token], [0.0], GOES_ON))

    def _text_id(self, text: str) -> int:
        try:
            return text_id(text)
        except UnicodeEncodeError as error:
            raise invalid_answer(self.client.address, "a token with half a character") from error

    def _end(self) -> ServerStep:
        stop = min(self.stops)
        return ServerStep(stop, Candidates([stop], [0.0], 0.0))

    def _step(self, written: str, listed: Mapping[str, Any]) -> ServerStep:
        address = self.client.address
        log_probabilities = {
            self._text_id(text): log_probability(address, value)
            for text, value in listed.items()
            if text and UNREADABLE not in text
        }
        token = UNKNOWN if UNREADABLE in written else self._text_id(written)
        return ServerStep(token, ranked(log_probabilities, self.stops)) if log_probabilities else self._end()


class TextLookAhead(LookAhead):
    """`Redraws` network over a `TextServer`."""

    def __init__(self, server: TextServer) -> None:
        is_own = server.client.address.is_loopback
        super().__init__(server, ReadingMeter() if is_own else None, is_own=is_own)
        self._text_server = server

    def drawn(self, number: int) -> TextLookAhead | None:
        """As of `Redraws`."""
        has_candidates = self._text_server.candidates is not None
        return None if has_candidates else TextLookAhead(self._text_server.drawn(number))


def remote_model(
    server: TextServer,
    vocabulary: ModelVocabulary,
    fim: FimFormat,
    context: int,
    header: Mapping[str, object] = NO_HEADER,
) -> RemoteModel:
    """The model of *server*, after a sample has shown which candidates it reports.

    *header* is that of the model's file, if the server shows it.

    Raises:
        ServerError: the server fails.
    """
    server.fit(fim.arrange(vocabulary.encode(SAMPLE), []))
    missing = "texts in place of tokens" if server.candidates else "no probabilities"
    kind = f"{server.client.kind.name}, approximate: {missing}"
    address = str(server.client.address)
    return RemoteModel(
        server.name,
        kind,
        address,
        TextLookAhead(server),
        vocabulary,
        fim,
        context,
        f"{address} {server.name}",
        has_probabilities=server.candidates is not None,
        estimate=estimate if isinstance(estimate := header.get(ESTIMATE_KEY), str) else "",
        wants_buffer=wish if isinstance(wish := header.get(BUFFER_KEY), bool) else None,
    )


def first_of(text: str, wanted: Iterable[str]) -> int | None:
    """The offset of the first of the *wanted* texts in *text*; None if it has none of them."""
    return min((at for one in wanted if (at := text.find(one)) >= 0), default=None)


def n_begun(text: str, wanted: Iterable[str]) -> int:
    """The number of characters at the end of *text* with which one of the *wanted* texts may start."""
    return max((n for one in wanted for n in range(1, len(one)) if text.endswith(one[:n])), default=0)
