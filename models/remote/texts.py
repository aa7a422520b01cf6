"""Servers that take prompts and return tokens as texts, so that a token has no number.

Each text is its own number: that of its bytes after a leading 1, or 2 for a marker. Nothing has to be
remembered, however many texts there are. A candidate that ends inside a character arrives as U+FFFD; it is
unknown and left out.

A server that reports candidates of each token is used like any other. Of a server that reports none, the
text is split into words and signs, and each counts as a token. The longest beginning that the constraint
allows is kept, which is the method "checked" of Melcer et al. 2024 (arXiv 2402.17988), and the server
continues from there. It would write the refused word again, so a few draws replace that word. `drawing.py`
has the draws.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, overload

from fimlsp.models.protocols import Candidates
from fimlsp.models.remote.errors import RefusedError, ServerError, invalid_answer, log_probability
from fimlsp.models.remote.http_client import HttpClient
from fimlsp.models.remote.look_ahead import ServerStep, ranked

UNREADABLE = "\ufffd"
UNKNOWN = -1
NO_CANDIDATES = "tokens without their candidates"
TEXT, MARKER, CUT = b"\1", b"\2", b"\3"
CUT_ID = int.from_bytes(CUT, "big")
"""In a prompt it separates the text right of the cursor from that left of it: they have two fields."""

GOES_ON = -2.0
"""The log-probability of an end where the server continues, if it reports no probabilities."""

CANDIDATES_TRIED = (20, 5, None)
NOT_SUPPORTED = (400, 422, 500, 501)
SEVERAL_TRIED = (3, 2)
"""Texts that a request asks for, until a server takes it: llama.cpp refuses more than it has slots."""

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
        texts: the number of texts that are drawn; at most 1 unless the dialect can ask for several.
    """

    prompt: str
    suffix: str | None
    length: int
    candidates: int | None
    stops: tuple[str, ...] = ()
    temperature: float = 0.0
    seed: int = 0
    texts: int = 1


@dataclass(frozen=True, slots=True)
class Report:
    """The part of an object of an answer that is about one text.

    Attributes:
        text: the text that it adds.
        positions: for each token its text and the log-probabilities of its candidates; empty if unreported.
        has_ended: True if the model itself has ended the text.
        is_last: True if no more of the text follows.
        number: the number of the text, if several were requested.
    """

    text: str
    positions: Sequence[tuple[str, Mapping[str, Any]]] = ()
    has_ended: bool = False
    is_last: bool = False
    number: int = 0


class Dialect(Protocol):
    """The form of the requests and answers of a kind of server."""

    @property
    def path(self) -> str:
        """The path of requests."""

    @property
    def has_several(self) -> bool:
        """True if a request may ask for several texts."""

    def body(self, name: str, question: Question) -> dict[str, object]:
        """The body of a request to the model *name*."""

    def reports(self, value: Any) -> Sequence[Report]:  # noqa: ANN401 - any JSON
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
        at_once: texts that one request may ask for.
        parallel: requests that the server answers side by side.
    """

    client: HttpClient
    name: str
    dialect: Dialect
    stops: frozenset[int]
    candidates: int | None = CANDIDATES_TRIED[0]
    temperature: float = 0.0
    seed: int = 0
    at_once: int = 1
    parallel: int = 1
    token_bytes: TextTable = field(default_factory=TextTable)

    def cancellable(self, should_stop: Callable[[], bool]) -> AbstractContextManager[None]:
        """As of `Cancellable`."""
        return self.client.cancellable(should_stop)

    def fit(self, text: Sequence[int]) -> None:
        """Find the number of candidates that the server reports, or of texts, by completing *text*.

        Raises:
            ServerError: the server fails.
        """
        for self.candidates in CANDIDATES_TRIED:
            try:
                reports = [*self.reports(self.question(text, 1))]
            except RefusedError as error:
                if self.candidates is None or error.status not in NOT_SUPPORTED:
                    raise
                continue
            if any(report.positions for report in reports):
                return
        self.candidates = None
        self.at_once = self._several_after(text)

    def _several_after(self, text: Sequence[int]) -> int:
        """The number of texts that the server writes after *text* for one request."""
        for n in SEVERAL_TRIED if self.dialect.has_several else ():
            question = replace(self.question(text, 1), texts=n, temperature=DRAWN_TEMPERATURE)
            with suppress(ServerError):
                return len({report.number for report in self.reports(question)}.intersection(range(n))) or 1
        return 1

    def run(self, text: Sequence[int], length: int) -> Generator[ServerStep, None, None]:
        """The tokens that the server writes after *text*; see `ModelServer`."""
        reports = self.reports(self.question(text, length))
        is_empty = True
        for step in self._steps(reports) if self.candidates else self.plain_steps(reports):
            is_empty = False
            yield step
        if is_empty:
            raise invalid_answer(self.client.address, "an answer without a token")

    def stop_after(self, text: Sequence[int]) -> None:  # noqa: ARG002 - the same for any text
        """None: no such server reports this."""
        return

    def more_after(self, text: Sequence[int], most: int | None) -> None:  # noqa: ARG002 - the same for any text
        """None: no such server lists more."""
        return

    def question(self, text: Sequence[int], length: int) -> Question:
        """The request for *length* tokens after *text*."""
        suffix, cut, prompt = list[str](), False, list[str]()
        for token in text:
            if token == CUT_ID:
                suffix, prompt, cut = prompt, [], True
            else:
                prompt.append(decode_id(token)[1])
        joined, stops = "".join(suffix) if cut else None, self._stop_texts
        return Question("".join(prompt), joined, length, self.candidates, stops, self.temperature, self.seed)

    @property
    def _stop_texts(self) -> tuple[str, ...]:
        return tuple(sorted(filter(None, (decode_id(stop)[1] for stop in self.stops))))

    def reports(self, question: Question) -> Generator[Report, None, None]:
        """The reports of the answer to *question*.

        Raises:
            ServerError, Interrupted: as `run`.
        """
        body = self.dialect.body(self.name, question)
        return self._reports_in(self.client.events(self.dialect.path, body), question)

    def side_by_side(self, questions: Sequence[Question]) -> list[Generator[Report, None, None]]:
        """The reports of the answers to *questions*, all of which are sent at once; as `reports`."""
        bodies = [self.dialect.body(self.name, question) for question in questions]
        answers = self.client.side_by_side(self.dialect.path, bodies)
        return [self._reports_in(*answer) for answer in zip(answers, questions, strict=True)]

    def _reports_in(
        self, answer: Generator[Mapping[str, Any], None, None], question: Question
    ) -> Generator[Report, None, None]:
        room = question.texts * question.length * BYTES_PER_TOKEN_MAX
        with closing(answer) as events:
            for event in events:
                try:
                    reports = self.dialect.reports(event)
                except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
                    raise invalid_answer(self.client.address, "no text of a completion") from error
                yield from reports
                room -= sum(len(report.text) for report in reports)
                if room < 0 and self.candidates is None:
                    raise invalid_answer(self.client.address, "more text than was requested")
                if question.texts == 1 and any(report.has_ended for report in reports):
                    return

    def _steps(self, reports: Iterable[Report]) -> Iterator[ServerStep]:
        """The tokens of the server, with their candidates."""
        for report in reports:
            if report.text and not report.positions:
                raise invalid_answer(self.client.address, NO_CANDIDATES)
            for written, listed in report.positions:
                yield self._step(written, listed)
            if report.has_ended:
                yield self._end()

    def plain_steps(self, reports: Iterable[Report]) -> Iterator[ServerStep]:
        """The words and signs of the text in *reports*; the last waits for the text that may complete it."""
        waiting, has_ended, stops = "", False, self._stop_texts
        for report in reports:
            waiting, has_ended = waiting + report.text, report.has_ended
            if (at := first_of(waiting, (*stops, UNREADABLE))) is not None:
                waiting, has_ended = waiting[:at], True
                break
            held = n_begun(waiting, stops)
            *known, last = _WRITTEN_PIECE.findall(waiting[: len(waiting) - held]) or [""]
            waiting = last + waiting[len(waiting) - held :]
            yield from map(self._plain_step, known)
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


def first_of(text: str, wanted: Iterable[str]) -> int | None:
    """The offset of the first of the *wanted* texts in *text*; None if it has none of them."""
    return min((at for one in wanted if (at := text.find(one)) >= 0), default=None)


def n_begun(text: str, wanted: Iterable[str]) -> int:
    """The number of characters at the end of *text* with which one of the *wanted* texts may start."""
    return max((n for one in wanted for n in range(1, len(one)) if text.endswith(one[:n])), default=0)
