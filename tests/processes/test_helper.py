"""A helper process: its end is noticed when it comes, also if nobody asks for anything again."""

from __future__ import annotations

import os
import signal
import sys

import psutil
import pytest

from fimlsp.processes.helper import HelperEndedError, HelperProcess

from ..lsp_server.waiting import block_until

ECHO = "import sys, pickle\nwhile True: pickle.dump(pickle.load(sys.stdin.buffer), sys.stdout.buffer)"
ANSWERS = "import os, sys, pickle\npickle.dump(os.getpid(), sys.stdout.buffer)\nsys.stdout.flush()\n"

# the rest of a program that has answered by its number, and its exit status
ENDS = [
    ("", 0),
    ("sys.exit(3)", 3),
    ("os.close(1); sys.stdin.read()", -signal.SIGTERM),
    ("os.kill(os.getpid(), 9)", -9),
    ("raise SystemError", 1),
]


def program(code):
    return sys.executable, "-c", code


def is_gone(pid):
    """True if the system has forgotten a process: it has ended, and its end was taken note of."""
    return not psutil.pid_exists(pid)


@pytest.mark.skipif(sys.platform == "win32", reason="ended processes stay on POSIX systems alone")
@pytest.mark.parametrize(("rest", "status"), ENDS)
def test_an_ended_process_is_collected_though_nobody_asks(rest, status):
    process = HelperProcess(program(ANSWERS + rest), {**os.environ, "PYTHONFAULTHANDLER": ""})
    process.send("a question")
    pid = process.receive()
    if status == -signal.SIGTERM:
        process.kill()
    block_until(lambda: is_gone(pid))
    assert not process.is_running()
    with pytest.raises(HelperEndedError):
        process.receive()
    assert process.end() == status


def test_the_next_question_starts_another_process():
    process = HelperProcess(program(ANSWERS))
    numbers = []
    for _ in range(3):
        process.send("a question")
        numbers.append(process.receive())
        block_until(lambda: not process.is_running())
    assert len({*numbers}) == 3
    process.end()


def test_a_process_ends_with_its_pipes():
    process = HelperProcess(program(ECHO))
    process.send(7)
    assert process.receive() == 7
    assert process.is_running()
    assert process.end() == 1, "it reads no further question"
    assert (process.is_running(), process.end()) == (False, 0)


def test_a_process_that_stays_is_terminated(monkeypatch):
    monkeypatch.setattr("fimlsp.processes.helper.GRACE_S", 0.05)
    process = HelperProcess(program(ANSWERS + "import threading\nthreading.Event().wait()"))
    process.send("a question")
    process.receive()
    assert process.end() != 0
