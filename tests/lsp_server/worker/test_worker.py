"""The worker in idle time, and with models that cannot be used."""

from __future__ import annotations

import io
import pickle
import threading
from dataclasses import replace

import pytest

from fimlsp.lexing.interruption import checkpoint
from fimlsp.lsp_server.messages import (
    Answer,
    Cancel,
    Close,
    Complete,
    Completion,
    DocumentId,
    Limits,
    Load,
    NotReady,
    Ready,
    Working,
    read_report,
)
from fimlsp.lsp_server.worker import worker as worker_module
from fimlsp.lsp_server.worker.worker import PAUSE_S, SILENCE_S, Inbox, Worker
from fimlsp.models.errors import ModelError, OutOfMemoryError
from fimlsp.models.remote.address import is_address
from fimlsp.models.remote.errors import ServerError
from fimlsp.quotient.states.shortest_completion import NoCompletionError

from ..waiting import HANG_GUARD_S, block_until

MESSAGE = Close(DocumentId(1, "a"))
WAIT, LOOK, LISTEN, SLEEP = (f"wait {seconds}" for seconds in (PAUSE_S, 0, SILENCE_S, None))


class EnoughError(Exception):
    pass


class Day:
    """An inbox and a backend: messages come after so many looks, and there is so much to prepare."""

    is_there = put = None

    def __init__(self, messages, pieces):
        self.messages, self.pieces = messages, pieces
        self.done = []

    def next(self, seconds=None):
        self.done.append(f"wait {seconds}")
        if not self.messages:
            raise EnoughError
        return self.messages.pop(0)

    def has_message(self):
        return False

    def prepare(self):
        self.done.append("prepare")
        self.pieces -= 1
        return self.pieces >= 0

    def reading(self):
        return None

    def close(self, _):
        self.done.append("close")


DAYS = [
    ([MESSAGE], 9, [WAIT, "close", WAIT]),
    ([None, MESSAGE], 9, [WAIT, "prepare", LOOK, "close", WAIT]),
    ([None, None, MESSAGE], 1, [WAIT, "prepare", LOOK, "prepare", "new", LISTEN, "close", WAIT]),
    ([None, None], 0, [WAIT, "prepare", "new", LISTEN, "garbage", SLEEP]),
    ([None, None, MESSAGE], 0, [WAIT, "prepare", "new", LISTEN, "garbage", SLEEP, "close", WAIT]),
]


@pytest.mark.parametrize(("messages", "pieces", "done"), DAYS)
def test_idle_time(messages, pieces, done, monkeypatch):
    day = Day([*messages], pieces)
    monkeypatch.setattr(worker_module, "collect_new_garbage", lambda: day.done.append("new"))
    monkeypatch.setattr(worker_module, "collect_garbage", lambda: day.done.append("garbage"))
    with pytest.raises(EnoughError):
        Worker(day, day, io.BytesIO()).run()
    assert day.done == done


def test_idle_work_is_given_up_for_a_message():
    day = Day([], 9)
    day.prepare = checkpoint
    idle = Worker(day, day, io.BytesIO())
    assert not idle.prepare()
    day.has_message = lambda: True
    assert idle.prepare(), "there is still work"


LARGE = Load("large", device="cuda", threads=2)
COMPLETE = Complete(7, DocumentId(1, "a"), 1, 0, Limits(), 0.0)


class Models:
    """A backend whose models cannot be loaded if they are named, and have no memory left."""

    def __init__(self, unusable):
        self.unusable = unusable
        self.loaded = []

    def is_there(self, load):
        return load.model not in self.unusable

    def load(self, load, _):
        if load.model in self.unusable:
            raise (ServerError if is_address(load.model or "") else ModelError)(f"no {load.model}.")
        self.loaded.append(load)
        return load.model or "bundled"

    def complete(self, *_):
        raise OutOfMemoryError("no memory; free some.")


def reports(unusable, *messages):
    """The reports of a worker, and the models that it loads."""
    backend, sink = Models(unusable), io.BytesIO()
    worker = Worker(backend, Inbox(), sink)
    for message in messages:
        worker.handle(message)
    sink.seek(0)
    return list(iter(lambda: read_report(sink), None)), backend.loaded


SERVER = "http://127.0.0.1:1"


class Fleeting(Models):
    """A backend whose server fails until it is there again; each model completes with its name."""

    def complete(self, *_):
        if self.loaded[-1].model == SERVER and SERVER in self.unusable:
            raise ServerError("it has gone; start it.")
        return Completion(texts=(self.loaded[-1].model or "bundled",))


def test_a_server_that_fails_is_replaced_and_comes_back(monkeypatch):
    monkeypatch.setattr(worker_module, "PAUSES_S", (0.01, 0.02))
    backend, inbox, sink = Fleeting([SERVER]), Inbox(), io.BytesIO()
    worker = Worker(backend, inbox, sink)
    load = Load(SERVER)
    worker.handle(load)
    assert inbox.next(0.1) is None, "it is not there yet"
    backend.unusable = []
    assert inbox.next(HANG_GUARD_S) == load
    worker.handle(load)
    backend.unusable = [SERVER]
    worker.handle(COMPLETE)
    backend.unusable = []
    assert inbox.next(HANG_GUARD_S) == load
    worker.handle(load)
    worker.handle(COMPLETE)
    sink.seek(0)
    told = list(iter(lambda: read_report(sink), None))
    assert [report.problem or report.model for report in told if isinstance(report, Ready)] == [
        f"no {SERVER}. {INSTEAD}",
        SERVER,
        f"it has gone; start it. {INSTEAD}",
        SERVER,
    ]
    assert [report.completion.text for report in told if isinstance(report, Answer)] == ["bundled", SERVER]


def test_a_server_is_not_waited_for_when_another_model_is_wanted(monkeypatch):
    monkeypatch.setattr(worker_module, "PAUSES_S", (0.05, 0.05))
    backend, inbox = Fleeting([SERVER]), Inbox()
    worker = Worker(backend, inbox, io.BytesIO())
    before = set(threading.enumerate())
    worker.handle(Load(SERVER))
    worker.handle(Load())
    backend.unusable = []
    block_until(lambda: set(threading.enumerate()) <= before, lambda: "it is still watched")
    assert inbox.next(0) is None


def test_the_bundled_model_stays_loaded_while_a_server_fails_again_and_again():
    load, instead = Load(SERVER), f"no {SERVER}. {INSTEAD}"
    told, loaded = reports([SERVER], load, load, load)
    assert told == 3 * [Ready("bundled", instead)]
    assert loaded == [Load()]


INSTEAD = "Until then the bundled model is used."
LOADS = [
    ((), Load(), [Ready("bundled")]),
    ((), LARGE, [Ready("large")]),
    (("large",), LARGE, [Ready("bundled", f"no large. {INSTEAD}")]),
    (("large", None), LARGE, [NotReady("no large.")]),
    ((None,), Load(), [NotReady("no None.")]),
    ((None,), Load(threads=3), [NotReady("no None.")]),
]


@pytest.mark.parametrize(("unusable", "load", "expected"), LOADS)
def test_instead_of_a_model_that_cannot_be_loaded_the_bundled_one_is(unusable, load, expected):
    assert reports(unusable, load)[0] == expected


def test_a_model_without_memory_is_given_up():
    (_, working, answer, ready), loaded = reports((), LARGE, COMPLETE)
    assert working == Working(COMPLETE.document)
    assert isinstance(answer, Answer)
    assert answer.completion.reason == "no memory; free some."
    assert ready == Ready("bundled", f"no memory; free some. {INSTEAD}")
    assert loaded == [LARGE, Load(threads=2)], "the limit of threads still holds"


def test_the_bundled_model_without_memory_is_told():
    (_, _, answer, last), _ = reports((), Load(), COMPLETE)
    assert isinstance(answer, Answer)
    assert last == NotReady("no memory; free some.")


class Faulty:
    """A backend in which a *fault* happens wherever it works."""

    is_there = None

    def __init__(self, fault):
        self.fault = fault

    def load(self, *_):
        raise self.fault

    def complete(self, *_):
        raise self.fault


FAULTS = [
    NoCompletionError("no completion of LexerState(state=3, stack=(1, 2))"),  # in a module of fimlsp
    KeyError("secret"),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: type(fault).__name__)
def test_a_fault_is_logged_whole_and_told_in_a_sentence(fault, caplog):
    sink = io.BytesIO()
    for message in (COMPLETE, Load()):
        Worker(Faulty(fault), Inbox(), sink).handle(message)
    sink.seek(0)
    _, answer, last = (read_report(sink) for _ in range(3))
    sentence = f"failed unexpectedly ({type(fault).__name__}); the log has the details"
    assert answer.completion.reason == f"completing {sentence}"
    assert last == NotReady(f"loading the model {sentence}")
    assert len(caplog.records) == 2
    assert all(record.exc_info[1] is fault and str(fault) in record.message for record in caplog.records)


def test_each_change_of_the_document_at_work_is_reported():
    other = replace(COMPLETE, id=8, document=DocumentId(1, "b"))
    told, _ = reports((), Load("any"), COMPLETE, COMPLETE, other, COMPLETE)
    working = [report.document.uri for report in told if isinstance(report, Working)]
    assert working == ["a", "b", "a"]


class Asking:
    """A backend whose answer is the result of `should_stop`."""

    is_there = None

    def complete(self, _, should_stop):
        return Completion(reason=str(should_stop()))

    def reading(self):
        return None


ENDS = {  # is it unhurried, is it cancelled, does another message wait?; does it end?
    "nothing happens": (False, False, False, False),
    "a key waits for its turn": (False, False, True, False),
    "it is cancelled": (False, True, False, True),
    "nobody waits for it": (True, False, False, False),
    "nobody waits for it, and a message comes": (True, False, True, True),
    "nobody waits for it, and it is cancelled": (True, True, False, True),
}


@pytest.mark.parametrize("case", ENDS)
def test_a_request_ends_for_a_message_only_if_nobody_waits_for_it(case):
    is_unhurried, is_cancelled, has_message, ends = ENDS[case]
    inbox, sink = Inbox(), io.BytesIO()
    worker = Worker(Asking(), inbox, sink)
    request = Complete(3, DocumentId(1, "a"), 1, 0, Limits(), 0.0, is_unhurried=is_unhurried)
    if has_message:
        inbox.put(MESSAGE)
    if is_cancelled:
        before_it_starts = iter([False])
        inbox.is_cancelled = lambda _: next(before_it_starts, True)
    worker.handle(request)
    sink.seek(0)
    answers = [report for report in iter(lambda: read_report(sink), None) if isinstance(report, Answer)]
    assert [answer.completion.reason for answer in answers] == [str(ends)]


def test_a_cancellation_that_comes_late_is_forgotten_with_the_next_answer(monkeypatch):
    monkeypatch.setattr(worker_module.os, "_exit", lambda _: None)
    inbox = Inbox()
    inbox.finish(1)
    inbox.fill(io.BytesIO(b"".join(pickle.dumps(Cancel(number)) for number in (1, 3, 4))))
    inbox.finish(3)
    assert [number for number in range(6) if inbox.is_cancelled(number)] == [4]
