"""The progress bar of slow steps."""

from __future__ import annotations

import io
import sys
from threading import Event

import pytest

from fimlsp.lsp_server.command_line import terminal

from ..waiting import HANG_GUARD_S


class StandardError(io.StringIO):
    """A standard error that is a terminal, or none; *shows_step* is set when the step is on it."""

    def __init__(self, *, real: bool) -> None:
        super().__init__()
        self.real = real
        self.shows_step = Event()

    def isatty(self) -> bool:
        return self.real

    def write(self, text: str) -> int:
        length = super().write(text)
        if "reading a.py" in self.getvalue():
            self.shows_step.set()
        return length


@pytest.mark.parametrize(
    ("real", "slow_after", "is_shown"), [(True, 0.0, True), (True, 3600.0, False), (False, 0.0, False)]
)
def test_a_slow_step_is_shown_on_a_terminal(monkeypatch, real, slow_after, is_shown):
    stream = StandardError(real=real)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(terminal, "SLOW_STEP_S", slow_after)
    with terminal.progress_if_slow() as report:
        report("reading a.py")
        if is_shown:
            assert stream.shows_step.wait(HANG_GUARD_S)
    assert stream.shows_step.is_set() is is_shown
