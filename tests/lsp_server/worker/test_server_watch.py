"""How often a model server is looked for that has failed."""

from __future__ import annotations

from typing import ClassVar

import pytest

from fimlsp.lsp_server.messages import Load
from fimlsp.lsp_server.worker import worker as worker_module
from fimlsp.lsp_server.worker.worker import ServerWatch
from fimlsp.models.remote.errors import ManyModelsError


class EndedWhenAsked:
    """An event that notes for how long it is waited for, and is set then."""

    waits: ClassVar[list[float]] = []

    def wait(self, seconds):
        self.waits.append(seconds)
        return True

    def set(self):
        pass


class ThreadAtOnce:
    def __init__(self, target, daemon):
        assert daemon
        self.start = target


def test_pauses_grow_from_failure_to_failure_until_the_server_has_served_well(monkeypatch):
    monkeypatch.setattr(worker_module, "Event", EndedWhenAsked)
    monkeypatch.setattr(worker_module, "Thread", ThreadAtOnce)
    monkeypatch.setattr(EndedWhenAsked, "waits", [])
    watch = ServerWatch(lambda _: False, lambda _: None)
    for served_well in (False, False, False, True, False, False, False, False, False, False):
        watch.start(Load("http://127.0.0.1:1"), "gone", served_well=served_well)
    assert EndedWhenAsked.waits == [1, 2, 4, 1, 2, 4, 8, 16, 30, 30]


class WaitsForThree:
    """An event that is set after three waits."""

    def __init__(self):
        self.left = 3

    def wait(self, _):
        self.left -= 1
        return self.left < 0

    def is_set(self):
        return self.left < 0

    def set(self):
        self.left = 0


ANSWERS = [
    ([False, False, True], "gone", 3),
    ([False, ManyModelsError("it has a, b"), False], "gone", 2),
    ([ManyModelsError("it has a, b")] * 3, "it has a, b", None),
    ([False] * 3, "gone", None),
]


@pytest.mark.parametrize(("answers", "problem", "returned"), ANSWERS)
def test_a_server_that_is_back_or_another_one_in_its_place_is_noticed_once(
    answers, problem, returned, monkeypatch
):
    monkeypatch.setattr(worker_module, "Event", WaitsForThree)
    monkeypatch.setattr(worker_module, "Thread", ThreadAtOnce)
    asked, returns = [], []

    def is_there(load):
        asked.append(load)
        answer = answers[len(asked) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer

    ServerWatch(is_there, lambda _: returns.append(len(asked))).start(Load("x"), problem, served_well=True)
    assert returns == ([] if returned is None else [returned])
