"""The texts that a model elsewhere reads in pauses, and the reports on it."""

from __future__ import annotations

import io
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from fimlsp.lexing.interruption import Interrupted, interruptible, is_interrupted
from fimlsp.lsp_server.messages import (
    Answer,
    Complete,
    Completion,
    DocumentId,
    Edit,
    Limits,
    Read,
    Reading,
    Rest,
    Working,
    read_report,
)
from fimlsp.lsp_server.worker import reading_reports
from fimlsp.lsp_server.worker.reading_ahead import ReadingAhead
from fimlsp.lsp_server.worker.worker import Inbox, Worker
from fimlsp.models.remote.errors import ServerError

A, B = DocumentId(1, "a"), DocumentId(1, "b")
LIMITS = Limits()
COMPLETE = Complete(7, A, 1, 5, LIMITS, 0.0)
ANSWERED = Complete(8, A, 1, 5, LIMITS, 0.0)
CANCELLED = Complete(9, A, 1, 5, LIMITS, 0.0)


class Network:
    """A network elsewhere; `fault` is raised instead of reading."""

    token_bytes, stops = (), frozenset()
    begin = advance = print

    def __init__(self, is_own=True, keeps_read_part=True):
        self.is_own, self.keeps_read_part = is_own, keeps_read_part
        self.meter = SimpleNamespace(share=None, is_alive=True, per_second=None, written_per_second=None)
        self.read, self.fault = [], None

    @contextmanager
    def cancellable(self, should_stop):
        self.should_stop = should_stop
        yield

    def read_ahead(self, tokens):
        if self.should_stop():
            raise Interrupted
        if self.fault is not None:
            raise self.fault
        self.read.append(tuple(tokens))


def offset_of(place):
    return (place.offset,)


def at(document, offset, version=1):
    return Rest(document, version, offset, LIMITS)


def same(place):
    return place


PLACES = {  # events, and the offset of the text that is read then, if any
    "nothing": ([], None),
    "the cursor rests": ([at(A, 3)], 3),
    "and elsewhere": ([at(A, 3), at(B, 8)], 8),
    "a request had too little time": ([COMPLETE], 5),
    "it is answered then": ([COMPLETE, ANSWERED], None),
    "a request is cancelled before its text is read": ([at(A, 3), CANCELLED], 5),
    "and another is answered then": ([CANCELLED, ANSWERED], None),
    "a request is answered": ([at(A, 3), ANSWERED], None),
    "one in another text is": ([at(B, 3), ANSWERED], 3),
}


def happen(ahead, events):
    for event in events:
        if isinstance(event, Rest):
            ahead.rest(event)
        else:
            place = ahead.request(event)
            ahead.answer(place, is_read=event is ANSWERED, is_cancelled=event is CANCELLED)


@pytest.mark.parametrize("case", PLACES)
def test_the_place_that_is_read(case):
    events, offset = PLACES[case]
    network = Network()
    ahead = ReadingAhead.of(network)
    happen(ahead, events)
    ahead.read(same, offset_of)
    ahead.read(same, offset_of)
    assert network.read == ([] if offset is None else [(offset,)]), "once"


# Is it on this machine, does it keep a part? Then: is a place of rest read, a late request, a cancelled one?
KINDS = {
    "llama.cpp": (True, True, True, True, True),
    "a llama-server of a team": (False, True, False, True, False),
    "a hosted service": (False, False, False, False, False),
}


@pytest.mark.parametrize("kind", KINDS)
def test_only_a_server_on_this_machine_reads_what_nobody_requested(kind):
    is_own, keeps_read_part, *expected = KINDS[kind]
    for event, is_read in zip((at(A, 3), COMPLETE, CANCELLED), expected, strict=True):
        network = Network(is_own, keeps_read_part)
        ahead = ReadingAhead.of(network)
        happen(ahead, [event])
        ahead.read(same, offset_of)
        assert bool(network.read) is is_read


def test_a_message_stops_it_and_it_is_taken_up_again():
    network = Network()
    ahead = ReadingAhead.of(network)
    ahead.rest(at(A, 3))
    with pytest.raises(Interrupted), interruptible(lambda: True):
        ahead.read(same, offset_of)
    ahead.read(same, offset_of)
    assert network.read == [(3,)]


def nothing(_):
    return None


NOT_READ = {
    "the server has gone": (ServerError("Cannot reach a model server. Start it."), same, offset_of),
    "the document is closed": (None, nothing, offset_of),
    "there is no prompt": (None, same, nothing),
}


@pytest.mark.parametrize("case", NOT_READ)
def test_what_cannot_be_read_is_left(case):
    network = Network()
    network.fault, current, prompt_at = NOT_READ[case]
    ahead = ReadingAhead.of(network)
    ahead.rest(at(A, 3))
    ahead.read(current, prompt_at)
    assert ahead.place is None
    assert not network.read


SPEEDS = {  # speeds measured in a row, and the sizes of the prompts then
    "unknown": ([None], [512]),
    "slow": ([20.0], [512]),
    "quick": ([1e6], [8192]),
    "in between": ([200.0], [1024]),
    "it changes a little": ([200.0, 230.0, 110.0, 300.0], [1024] * 4),
    "it changes": ([200.0, 330.0, 200.0, 90.0], [1024, 2048, 1024, 512]),
}


@pytest.mark.parametrize("case", SPEEDS)
def test_a_prompt_is_as_long_as_the_network_can_read_in_good_time(case):
    speeds, sizes = SPEEDS[case]
    network = Network()
    ahead = ReadingAhead.of(network)
    found = []
    for network.meter.per_second in speeds:
        found.append(ahead.prompt_tokens(None))
        assert ahead.prompt_tokens(300) == 300, "the model wants no more"
    assert found == sizes


def test_the_speed_does_not_count_where_what_was_read_is_forgotten():
    network = Network(is_own=False, keeps_read_part=False)
    network.meter.per_second = 20.0
    assert ReadingAhead.of(network).prompt_tokens(None) is None


def test_a_longer_prompt_is_read_as_soon_as_the_speed_is_known():
    network = Network()
    ahead = ReadingAhead.of(network)

    def prompt_at(_):
        return range(ahead.prompt_tokens(None))

    def read_ahead(tokens):
        network.read.append(len(tokens))
        network.meter.per_second = 200.0

    network.read_ahead = read_ahead
    ahead.rest(at(A, 3))
    ahead.read(same, prompt_at)
    assert network.read == [512, 1024]


def test_a_network_in_this_process_has_nothing_to_read_ahead():
    assert ReadingAhead.of(SimpleNamespace(token_bytes=(), stops=(), begin=print, advance=print)) is None


class Clock:
    now = 100.0

    @classmethod
    def monotonic(cls):
        return cls.now


class Reader:
    """A backend that reads: in each step the clock moves on, and it has read the next share of the text.

    `later` are the answers of requests; `steps` are pieces of idle work, each with its shares.
    """

    is_there = None

    def __init__(self, later=(), steps=()):
        self.later, self.steps, self.now, self.version = [*later], [*steps], None, 1

    def read(self, place, shares, should_stop):
        for share in shares:
            Clock.now += 0.4
            self.now = place, share
            should_stop()
        self.now = None

    def complete(self, request, should_stop):
        is_later, shares = self.later.pop(0)
        self.read(at(request.document, request.offset, request.version), shares, should_stop)
        return Completion(later=is_later)

    def prepare(self):
        if self.steps:
            self.read(at(A, 5, self.version), self.steps.pop(0), is_interrupted)
        return bool(self.steps)

    def reading(self):
        return self.now

    def edit(self, _, version, __):
        self.version = version


ALL = (0.0, 0.2, 0.4, 0.6, 0.8)
EDIT = Edit(A, 2, None)
WORK = {  # answers, idle work, messages and pauses; reports
    "reading for a moment": ([(False, ALL[:3])], [], [COMPLETE, None], ["answer"]),
    "reading for long": ([(False, ALL)], [], [COMPLETE, None], [60, 80, "answer", "read"]),
    "reading goes on after the answer": (
        [(True, ALL[:3])],
        [ALL[3:]],
        [COMPLETE, None],
        ["answer", 60, 80, "read", "read"],
    ),
    "the work for a later answer is done": ([(True, [])], [()], [COMPLETE, None], ["answer", "read"]),
    "no answer is waited for": ([(False, [])], [()], [COMPLETE, None], ["answer"]),
    "an edit ends it": ([(False, ALL)], [ALL[:1]], [COMPLETE, EDIT, None], [60, 80, "answer", "read"]),
    "reading ahead is told as well": ([], [ALL], [None], [60, 80, "read"]),
    "in pieces it is one reading": ([], [ALL[:2], ALL[2:]], [None, None], [60, 80, "read"]),
    "it never goes back": ([], [(0.2, 0.2, 0.2, 0.6, 0.3, 0.7)], [None], [60, 70, "read"]),
}


@pytest.mark.parametrize("case", WORK)
def test_what_is_told_of_reading(case, monkeypatch):
    later, steps, messages, expected = WORK[case]
    monkeypatch.setattr(reading_reports, "time", Clock)
    sink = io.BytesIO()
    worker = Worker(Reader(later, steps), Inbox(), sink)
    for message in messages:
        if message is None:
            worker.prepare()
        else:
            worker.handle(message)
    sink.seek(0)
    told = []
    for report in iter(lambda: read_report(sink), None):
        match report:
            case Reading(document, percent):
                assert document == A
                told.append(percent)
            case Read(document):
                assert document == A
                told.append("read")
            case Answer():
                told.append("answer")
            case Working():
                pass
    assert told == expected
