"""What the worker does while nobody asks: pieces of work after a pause, garbage in silence."""

from __future__ import annotations

import io

import pytest
from fimlsp.lsp_server import worker
from fimlsp.lsp_server.messages import Close, DocumentId
from fimlsp.lsp_server.worker import PAUSE_S, SILENCE_S, Worker

MESSAGE = Close(DocumentId(1, "a"))
WAIT, LOOK, LISTEN, SLEEP = (f"wait {seconds}" for seconds in (PAUSE_S, 0, SILENCE_S, None))


class EnoughError(Exception):
    pass


class Day:
    """An inbox and a backend: messages come after so many looks, and there is so much to prepare."""

    def __init__(self, messages, pieces):
        self.messages, self.pieces = messages, pieces
        self.done = []

    def next(self, seconds=None):
        self.done.append(f"wait {seconds}")
        if not self.messages:
            raise EnoughError
        return self.messages.pop(0)

    def prepare(self):
        self.done.append("prepare")
        self.pieces -= 1
        return self.pieces >= 0

    def close(self, _):
        self.done.append("close")


DAYS = [
    ([MESSAGE], 9, [WAIT, "close", WAIT]),
    ([None, MESSAGE], 9, [WAIT, "prepare", LOOK, "close", WAIT]),
    ([None, None, MESSAGE], 1, [WAIT, "prepare", LOOK, "prepare", LISTEN, "close", WAIT]),
    ([None, None], 0, [WAIT, "prepare", LISTEN, "garbage", SLEEP]),
    ([None, None, MESSAGE], 0, [WAIT, "prepare", LISTEN, "garbage", SLEEP, "close", WAIT]),
]


@pytest.mark.parametrize(("messages", "pieces", "done"), DAYS)
def test_idle_time(messages, pieces, done, monkeypatch):
    day = Day([*messages], pieces)
    monkeypatch.setattr(worker, "collect_garbage", lambda: day.done.append("garbage"))
    with pytest.raises(EnoughError):
        Worker(day, day, io.BytesIO()).run()
    assert day.done == done
