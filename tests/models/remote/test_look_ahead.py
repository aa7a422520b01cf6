"""Runs: the tokens that count, the start of the next run, and its length."""

import pytest

from fimlsp.models.protocols import Candidates
from fimlsp.models.remote.look_ahead import RUN_MAX, RUN_MIN, LookAhead, ServerStep, next_length
from fimlsp.models.remote.reading import ReadingMeter


class Counter:
    """A server that counts up from the last token of a text; it notes the runs, and how far each came."""

    token_bytes = (None, *(b"%d" % n for n in range(1, 200)))
    stops = frozenset({0})

    def __init__(self):
        self.runs = []

    def run(self, text, length):
        self.runs.append([tuple(text), length, 0])
        for token in range(text[-1] + 1, text[-1] + 1 + length):
            self.runs[-1][2] += 1
            yield ServerStep(token, Candidates([token, 0], [-0.1, -2.0], -2.0))


def test_what_the_server_wrote_costs_no_request():
    server = Counter()
    network = LookAhead(server)
    listed = [network.begin([1, 2]).tokens[0]]
    listed += [network.advance(token).tokens[0] for token in range(3, 3 + RUN_MIN)]
    assert listed == list(range(3, 4 + RUN_MIN))
    assert [run[:2] for run in server.runs] == [[(1, 2), RUN_MIN], [(1, 2, 3, 4, 5, 6), 2 * RUN_MIN]]


def test_another_token_ends_the_run_and_begins_one_behind_it():
    server = Counter()
    network = LookAhead(server)
    network.begin([1])
    network.advance(2)
    assert network.advance(100).tokens == [101, 0]
    assert server.runs[0] == [(1,), RUN_MIN, 2], "no more of it was requested"
    assert server.runs[1][0] == (1, 2, 100)


def test_a_text_begun_anew_is_asked_anew():
    server = Counter()
    network = LookAhead(server)
    network.begin([1])
    assert network.begin([1], [7]).tokens == [8, 0]
    assert [run[0] for run in server.runs] == [(1,), (1, 7)]


READ_AHEAD = {  # the meter's speed, texts read before, a text; is it read?
    "its speed is unknown": (None, [], [1, 2, 3], True),
    "it is slow": (4.0, [], [1, 2, 3], True),
    "it is quick": (1000.0, [], [1, 2, 3], False),
    "all of it is read already": (None, [[1, 2, 3]], [1, 2, 3], False),
    "a beginning of another text": (None, [[1, 2, 3, 4]], [1, 2], False),
    "the rest is short": (8.0, [[1, 2]], [1, 2, 3], False),
    "the rest is long": (2.0, [[1, 2]], [1, 2, 3], True),
}


@pytest.mark.parametrize("case", READ_AHEAD)
def test_what_is_read_ahead(case):
    per_second, before, text, is_read = READ_AHEAD[case]
    server, meter = Counter(), ReadingMeter()
    network = LookAhead(server, meter)
    for known in before:
        network.begin(known)
    server.runs.clear()
    meter.per_second = per_second
    network.read_ahead(text)
    assert [run[:2] for run in server.runs] == ([[tuple(text), 1]] if is_read else [])


def test_nothing_is_read_ahead_where_the_server_forgets_it():
    server = Counter()
    LookAhead(server).read_ahead([1, 2, 3])
    assert not server.runs


LENGTHS = [(4, 4, 8), (16, 16, 32), (32, 32, 32), (32, 2, 17), (8, 1, 5), (5, 1, 4), (4, 0, 4)]


@pytest.mark.parametrize(("length", "used", "expected"), LENGTHS)
def test_the_length_follows_what_counted(length, used, expected):
    assert RUN_MIN <= next_length(length, used) == expected <= RUN_MAX
