"""A launched network works while the loop does other work."""

from dataclasses import dataclass
from functools import partial

import pytest

from fimlsp.models.decoding.loop import decode_middle
from fimlsp.models.decoding.multi_candidate import decode_many
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.loading import load_model
from fimlsp.models.prompts.prompt import Prompt

from .. import tiny_checkpoints as c
from ..scripted import END, Brackets, ScriptedModel

PROMPT = Prompt((7,), room=100)
SCRIPT = [[b"a"], [b")", b"("], [b"b"], [END]]


class Launched(ScriptedModel):
    """The same on a device of its own; records its calls."""

    def __init__(self, events, *steps):
        super().__init__(*steps)
        self.events = events

    def begin(self, tokens, written=()):
        self.events.append("begin")
        return super().begin(tokens, written)

    def advance(self, _token):
        raise AssertionError("never waited for at once")

    def launch(self, token):
        self.events.append(f"launch {self.token_bytes[token].decode()}")
        return partial(self._wait, token)

    def _wait(self, token):
        self.events.append("wait")
        return super().advance(token)


@dataclass(frozen=True)
class Watched:
    """A constraint that records its calls."""

    events: list
    state: Brackets

    def feed(self, data):
        state = self.state.feed(data)
        self.events.append(f"{'feed' if state else 'refuse'} {data.decode()}")
        return Watched(self.events, state) if state else None

    @property
    def complete(self):
        self.events.append("complete")
        return self.state.complete

    @property
    def shortest_completion(self):
        return self.state.shortest_completion


def events_of(*steps, **limits):
    events = []
    model, settings = Launched(events, *steps), DecodeSettings(**limits)
    middle = decode_middle(
        model, PROMPT, Watched(events, Brackets()), settings, lambda: events.append("poll")
    )
    return middle, events


def test_the_order_of_things():
    _, events = events_of(*SCRIPT, steer=False)
    turns = " ".join(events).split("wait")
    assert "launch a" in turns[0]
    for turn in turns[:-1]:
        launched = turn.index("launch")
        assert "feed" in turn[:launched], "what decides comes before"
        assert "refuse" not in turn[launched:]
        assert turn[launched:].split()[2:] == ["poll"], "what does not comes after"


def test_refused_candidates_launch_nothing():
    _, events = events_of(*SCRIPT, steer=False)
    assert "refuse )" in events
    assert "launch )" not in events


def test_the_end_of_a_line_launches_nothing():
    _, events = events_of([b"a"], [b"\n"], [b"b"])
    assert [event for event in events if event.startswith("launch")] == ["launch a"]


def test_what_repeats_itself_is_looked_at_while_the_network_works(monkeypatch):
    events = []
    monkeypatch.setattr("fimlsp.models.decoding.loop.n_repeated", lambda _: events.append("look") or 0)
    model = Launched(events, *SCRIPT)
    decode_middle(model, PROMPT, Brackets(), DecodeSettings(steer=False, lines=None), lambda: False)
    assert events[:4] == ["begin", "launch a", "look", "wait"]


@pytest.mark.parametrize("limits", [{}, {"candidates": 3}, {"tokens": 2}, {"stop_rule": "best"}])
def test_the_texts_are_those_of_a_network_that_is_waited_for(limits):
    def texts(model):
        settings = DecodeSettings(**limits)
        return [m.text for m in decode_many(model, PROMPT, Brackets(), settings, lambda: False)]

    assert texts(Launched([], *SCRIPT)) == texts(ScriptedModel(*SCRIPT))


def test_a_launch_that_nobody_waits_for_is_read(tmp_path, monkeypatch):
    network = load_model(str(c.make(tmp_path, c.santacoder, c.SANTACODER))).network
    expected = network.begin([5, 6, 7, 8]).tokens
    network.begin([5, 6, 7])
    monkeypatch.setattr(network, "is_asynchronous", True)
    network.launch(8)
    waiting = network.launch(9)
    assert waiting().tokens == network.begin([5, 6, 7, 8, 9]).tokens
    assert network.begin([5, 6, 7, 8]).tokens == expected


def test_on_the_cpu_a_launch_that_nobody_waits_for_costs_nothing(tmp_path, monkeypatch):
    network = load_model(str(c.make(tmp_path, c.santacoder, c.SANTACODER))).network
    network.begin([5, 6, 7])
    monkeypatch.setattr(network, "read_on", lambda _: pytest.fail("was read"))
    network.launch(8)


def test_whether_the_middle_may_end_is_asked_only_where_that_decides():
    _, events = events_of(*SCRIPT, steer=False)
    assert events.index("complete") > events.index("launch b")
