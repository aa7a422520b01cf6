"""The speed and the progress of reading, by the server's reports or by the clock, and signs of life."""

import pytest

from fimlsp.lexing.interruption import Interrupted
from fimlsp.models.remote import http_client, reading
from fimlsp.models.remote.address import Address
from fimlsp.models.remote.errors import ServerError
from fimlsp.models.remote.llama_server import LearnedBytes, LlamaServer
from fimlsp.models.remote.reading import SILENT_S, ReadingMeter


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is moved."""

    class Clock:
        now = 100.0

        @staticmethod
        def monotonic():
            return Clock.now

    monkeypatch.setattr(reading, "time", Clock)
    return Clock


def progress(processed, cache=0, total=1000, time_ms=1000):
    return {"total": total, "cache": cache, "processed": processed, "time_ms": time_ms}


REPORTS = [
    (progress(0, time_ms=0), 0.0, None),
    (progress(500), 0.5, 500.0),
    (progress(1000, cache=800, time_ms=4000), 1.0, 50.0),
    (progress(810, cache=800), 0.81, None),
    (progress(2000), 1.0, 2000.0),
    (progress(-5), 0.0, None),
    (progress(500, total=0), 0.0, 500.0),
    (progress("many"), 0.0, None),
    (None, 0.0, None),
    ([1], 0.0, None),
]


@pytest.mark.parametrize(("report", "share", "per_second"), REPORTS)
def test_what_the_server_reports(report, share, per_second):
    meter = ReadingMeter()
    assert meter.share is None
    with meter.measured(1000):
        assert meter.share == 0.0
        meter.report(report)
        assert meter.share == pytest.approx(share)
        assert meter.per_second == per_second
    assert meter.share is None


def test_more_is_read_by_each_report_but_a_repeated_one():
    meter = ReadingMeter()
    reports = [progress(100), progress(200), progress(200), progress(50), progress("x"), progress(300)]
    for _ in range(2):
        with meter.measured(1000):
            assert [meter.report(report) for report in reports] == [True, True, False, False, False, True]


class Reporting:
    """A client whose server reports *progress* before its only token; a renewed deadline is counted."""

    def __init__(self, reports):
        self.address, self.kind, self.renewed = Address.parse("http://127.0.0.1:1"), None, 0
        self.reports = reports

    def events(self, _path, _body):
        yield from ({"prompt_progress": report} for report in self.reports)
        top = [{"id": 1, "bytes": [97], "logprob": -0.5}]
        listed = [{"id": 1, "bytes": [97], "top_logprobs": top}]
        yield {"tokens_predicted": 1, "completion_probabilities": listed}

    def renew(self):
        self.renewed += 1


@pytest.mark.parametrize(("read", "renewed"), [((100, 200, 300), 4), ((100, 100, 100), 2), ((), 1)])
def test_a_server_that_reads_or_writes_on_may_take_as_long_again(read, renewed):
    client = Reporting([progress(each) for each in read])
    server = LlamaServer(client, LearnedBytes(client.address, 4), frozenset([3]))
    with server.meter.measured(1000):
        assert [step.token for step in server.run([1, 2], 1)] == [1]
    assert client.renewed == renewed


def test_a_renewed_deadline_starts_again(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(http_client.time, "monotonic", lambda: now[0])
    deadline = http_client.Deadline.of(lambda: False, 60.0)
    address = Address.parse("http://127.0.0.1:1")
    now[0] = 59.0
    deadline.renew()
    now[0] = 118.0
    deadline.check(address)
    now[0] = 120.0
    with pytest.raises(ServerError, match="no answer in 60 s"):
        deadline.check(address)


def read(meter, clock, tokens, seconds, *, is_cancelled=False):
    try:
        with meter.measured(tokens):
            clock.now += seconds
            if is_cancelled:
                raise Interrupted
    except Interrupted:
        pass


WITHOUT_REPORTS = {  # texts in a row: tokens, seconds, is it cancelled?; the speed
    "a text": ([(400, 4.0, False)], 100.0),
    "the newest counts": ([(400, 4.0, False), (100, 5.0, False)], 20.0),
    "a short text says little": ([(400, 4.0, False), (5, 5.0, False)], 100.0),
    "a cancelled one is not measured": ([(400, 4.0, True)], None),
    "nor is the rest of it": ([(400, 4.0, True), (400, 0.1, False)], None),
    "but the next": ([(400, 4.0, True), (400, 0.1, False), (400, 8.0, False)], 50.0),
}


@pytest.mark.parametrize("case", WITHOUT_REPORTS)
def test_the_speed_of_a_server_that_reports_nothing(case, clock):
    texts, per_second = WITHOUT_REPORTS[case]
    meter = ReadingMeter()
    for tokens, seconds, is_cancelled in texts:
        read(meter, clock, tokens, seconds, is_cancelled=is_cancelled)
    assert meter.per_second == (None if per_second is None else pytest.approx(per_second))


def test_a_server_is_dead_after_a_long_silence_while_it_is_waited_for(clock):
    meter = ReadingMeter()
    clock.now += 10 * SILENT_S
    assert meter.is_alive, "nobody has waited"
    read(meter, clock, 100, SILENT_S - 1, is_cancelled=True)
    assert meter.is_alive
    read(meter, clock, 100, 2.0, is_cancelled=True)
    assert not meter.is_alive
    with meter.measured(100):
        meter.report(progress(0))
        assert meter.is_alive, "it is at work"
    clock.now += 10 * SILENT_S
    assert meter.is_alive, "it has answered"


WRITTEN = {  # seconds for each token, and the tokens a second after them
    "nothing": ([], None),
    "even": ([0.1, 0.1, 0.1], 10.0),
    "the newest counts a fifth": ([0.1, 0.6], 5.0),
    "in no time": ([0.0], 1e6),
}


@pytest.mark.parametrize("case", WRITTEN)
def test_the_speed_of_writing(case):
    seconds, per_second = WRITTEN[case]
    meter = ReadingMeter()
    for token in seconds:
        meter.wrote(token)
    assert meter.written_per_second == (None if per_second is None else pytest.approx(per_second))
