"""Several texts of a server that reports no probabilities: each is drawn, side by side where it can.

| server | requests |
|---|---|
| writes several texts for one request (`n`) | one for all |
| answers several requests at the same time | one for each, sent before an answer is read |
| others | one after the other |

The first words of a few draws are also the candidates in place of a word that the constraint refuses.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from fimlsp.models.prompts.fim_format import FimFormat
from fimlsp.models.prompts.vocabulary import ModelVocabulary
from fimlsp.models.protocols import Candidates
from fimlsp.models.remote.errors import RefusedError
from fimlsp.models.remote.look_ahead import RUN_MAX, LookAhead, RemoteModel, ServerStep
from fimlsp.models.remote.model_file import BUFFER_KEY, ESTIMATE_KEY
from fimlsp.models.remote.reading import ReadingMeter
from fimlsp.models.remote.texts import DRAWN_TEMPERATURE, GOES_ON, Question, Report, TextServer

SAMPLE = "def area(width, height):\n    return "
"""A text to complete, by which a server shows its answers; some refuse an empty one."""

NO_HEADER: Mapping[str, object] = MappingProxyType({})
WORDS_DRAWN = 3
TOKENS_OF_A_WORD = 6


class Shared:
    """The *reports* of one answer with *n* texts, for a reader of each text."""

    def __init__(self, reports: Generator[Report, None, None], n: int) -> None:
        self._reports = reports
        self._waiting = {number: deque[Report]() for number in range(n)}

    def of(self, number: int) -> Iterator[Report]:
        """Those about text *number*; those about others wait for their readers."""
        waiting = self._waiting[number]
        while waiting or self._reads_on():
            while waiting:
                report = waiting.popleft()
                yield report
                if report.is_last:
                    return

    def _reads_on(self) -> bool:
        """Read one report; False if the answer is over."""
        report = next(self._reports, None)
        if report is not None and report.number in self._waiting and (report.text or report.is_last):
            self._waiting[report.number].append(report)
        return report is not None

    def close(self) -> None:
        """End the server's work."""
        self._reports.close()


@dataclass
class Draws:
    """The draws *numbers* of *server*, each of up to *length* tokens, requested when the first is read."""

    server: TextServer
    numbers: range
    length: int
    _text: tuple[int, ...] | None = None
    _answers: dict[int, Iterator[Report]] = field(default_factory=dict)
    _open: ExitStack = field(default_factory=ExitStack)

    def servers(self) -> list[DrawnServer]:
        """A server of each draw."""
        of = self.server
        return [
            DrawnServer(of.client, of.name, of.dialect, of.stops, None, DRAWN_TEMPERATURE, number, draws=self)
            for number in self.numbers
        ]

    def answer(self, number: int, question: Question, text: Sequence[int]) -> Iterator[Report] | None:
        """The reports about draw *number* after *text*, of which *question* is the request.

        None if it is to be requested alone: it was read already, or another text was drawn.

        Raises:
            ServerError, Interrupted: as `TextServer.run`.
        """
        if self._text is None:
            self._text = tuple(text)
            if len(self.numbers) > 1:
                self._request(replace(question, length=self.length))
        return self._answers.pop(number, None) if self._text == tuple(text) else None

    def _request(self, question: Question) -> None:
        n = len(self.numbers)
        if self.server.at_once >= n:
            shared = Shared(self.server.reports(replace(question, texts=n)), n)
            self._open.callback(shared.close)
            self._answers = {number: shared.of(place) for place, number in enumerate(self.numbers)}
        else:
            answers = self.server.side_by_side([replace(question, seed=number) for number in self.numbers])
            for answer in answers:
                self._open.callback(answer.close)
            self._answers = dict(zip(self.numbers, answers, strict=True))

    def refused(self) -> None:
        """The server refuses so many at once: from now on it gets one request after the other."""
        self.server.at_once = self.server.parallel = 1

    def close(self) -> None:
        """End the server's work."""
        self._open.close()


@dataclass
class DrawnServer(TextServer):
    """The server of one of several *draws*, whose first texts are requested together."""

    draws: Draws | None = None

    def run(self, text: Sequence[int], length: int) -> Generator[ServerStep, None, None]:
        """As of `TextServer`."""
        question, is_empty = self.question(text, length), True
        reports = None if self.draws is None else self.draws.answer(self.seed, question, text)
        try:
            for step in self.plain_steps(reports or ()):
                is_empty = False
                yield step
        except RefusedError:
            if not is_empty or self.draws is None:
                raise
            self.draws.refused()
        if is_empty:
            yield from super().run(text, length)


def draws_of(server: TextServer, first: int, n: int, length: int) -> list[Draws]:
    """The *n* draws from number *first* on, in groups of as many as *server* writes side by side."""
    size, end = max(server.at_once, server.parallel), first + n
    return [Draws(server, range(at, min(at + size, end)), length) for at in range(first, end, size)]


def first_words(server: TextServer, text: Sequence[int]) -> Candidates:
    """The words with which a few draws of *server* start after *text*.

    Raises:
        ServerError, Interrupted: as `TextServer.run`.
    """
    words = Counter[int]()
    for draws in draws_of(server, 1, WORDS_DRAWN, TOKENS_OF_A_WORD):
        with closing(draws):
            for drawn in draws.servers():
                with closing(drawn.run(text, TOKENS_OF_A_WORD)) as steps:
                    words[next(steps).token] += 1
    ranking = words.most_common()
    shares = [math.log(count / WORDS_DRAWN) for _, count in ranking]
    return Candidates([token for token, _ in ranking], shares, GOES_ON)


class TextLookAhead(LookAhead):
    """`Redraws` network over a `TextServer`."""

    def __init__(self, server: TextServer) -> None:
        is_own = server.client.address.is_loopback
        super().__init__(server, ReadingMeter() if is_own else None, is_own=is_own)
        self._text_server = server
        self._draws = list[Draws]()

    def drawn(self, first: int, n: int) -> Sequence[TextLookAhead]:
        """As of `Redraws`."""
        if self._text_server.candidates is not None:
            return ()
        groups = draws_of(self._text_server, first, n, RUN_MAX)
        self._draws += groups
        return [TextLookAhead(server) for draws in groups for server in draws.servers()]

    def more_after(
        self, tokens: Sequence[int], written: Sequence[int], most: int | None = None
    ) -> Candidates | None:
        """The first words of a few draws; None if candidates are reported, as there are no more."""
        if self._text_server.candidates is not None:
            return super().more_after(tokens, written, most)
        self._end_run()
        return first_words(self._text_server, [*tokens, *written])

    @contextmanager
    def cancellable(self, should_stop: Callable[[], bool]) -> Iterator[None]:
        """As of `Cancellable`."""
        with super().cancellable(should_stop):
            try:
                yield
            finally:
                for draws in self._draws:
                    draws.close()
                self._draws.clear()


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
    missing = "texts in place of tokens" if server.candidates else f"no probabilities, {_pace(server)}"
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


def _pace(server: TextServer) -> str:
    """The number of texts that *server* draws side by side, for people."""
    number = max(server.at_once, server.parallel)
    return f"{number} texts at once" if number > 1 else "one text at a time"
