"""How often a model server is looked for that has failed."""

from __future__ import annotations

from typing import ClassVar

from fimlsp.lsp_server.messages import Load
from fimlsp.lsp_server.worker import worker as worker_module
from fimlsp.lsp_server.worker.worker import ServerWatch


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
        watch.start(Load("http://127.0.0.1:1"), served_well=served_well)
    assert EndedWhenAsked.waits == [1, 2, 4, 1, 2, 4, 8, 16, 30, 30]
