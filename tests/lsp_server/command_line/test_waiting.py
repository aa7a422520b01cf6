"""What a terminal shows while a command is at work."""

from __future__ import annotations

import io
import sys
import time

import pytest

from fimlsp.lsp_server.command_line import waiting


class Terminal(io.StringIO):
    """A standard error that is a terminal, or none."""

    def __init__(self, *, real: bool) -> None:
        super().__init__()
        self.real = real

    def isatty(self) -> bool:
        return self.real


@pytest.mark.parametrize(
    ("real", "moment", "is_shown"), [(True, 0.0, True), (True, 60.0, False), (False, 0.0, False)]
)
def test_a_step_is_shown_on_a_terminal_once_it_takes_a_moment(monkeypatch, real, moment, is_shown):
    terminal = Terminal(real=real)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(waiting, "MOMENT_S", moment)
    with waiting.shown_if_slow() as tell:
        tell("reading a.py")
        until = time.monotonic() + 10
        while is_shown and "reading a.py" not in terminal.getvalue() and time.monotonic() < until:
            time.sleep(0.01)
    assert ("reading a.py" in terminal.getvalue()) is is_shown
