"""A process with bounds: whatever a question does, the answer is its result, its error or the bound."""

from __future__ import annotations

import socket
import sys
import time
from pathlib import Path

import psutil
import pytest

from fimlsp.datasets.programs.sandbox import missing_layers
from fimlsp.processes import bounded as bounded_module
from fimlsp.processes.bounded import BoundedProcess, BoundExceededError, Bounds
from fimlsp.processes.confinement import LANDLOCK
from fimlsp.processes.helper import command_of

from ..lsp_server.waiting import block_until

HAS_TIMER = sys.platform != "win32"
HAS_LANDLOCK = sys.platform == "linux" and LANDLOCK not in missing_layers()


@pytest.fixture
def process(tmp_path):
    bounded = BoundedProcess(eval, Bounds(seconds=0.5, memory=1 << 29, writable=(str(tmp_path),)))
    yield bounded
    bounded.close()


ANSWERS = [
    ("1 + 1", 2),
    ("print('text of a library')", None),
    ("__import__('sys').stdin.read()", ""),
    ("__import__('os').environ['OPENBLAS_NUM_THREADS']", "1"),
    ("'' in __import__('sys').path", False),
]


@pytest.mark.parametrize(("question", "expected"), ANSWERS)
def test_answers(process, question, expected):
    assert process.ask(question) == expected
    assert process.ask("1 + 1") == 2


ERRORS = [
    ("1 / 0", ZeroDivisionError, "division by zero"),
    ("(", SyntaxError, "never closed"),
    ("[__import__('fimlsp.errors').errors.UserError('a')].pop().args[0] + 0", TypeError, "str"),
    ("(lambda f: f(f))(lambda f: f(f))", RecursionError, "maximum recursion"),
    ("(_ for _ in ()).throw(type('Own', (Exception,), {})('no class here'))", RuntimeError, "Own: no class"),
    ("lambda: 0", Exception, "pickle"),
]


@pytest.mark.parametrize(("question", "kind", "text"), ERRORS)
def test_errors_of_the_function_are_raised(process, question, kind, text):
    with pytest.raises(kind, match=text):
        process.ask(question)
    assert process.ask("1 + 1") == 2


EXCEEDED = [
    ("[0 for _ in iter(int, 1)]", "takes more than 0.5 s of processor time"),
    ("__import__('re').match('(a+)+$', 'a' * 60 + '!')", "takes more than 0.5 s of processor time"),
    ("bytes(1 << 40)", "needs more than 512 MB"),
    ("[*range(1 << 30)]", "needs more than 512 MB"),
    ("__import__('os')._exit(9)", "exit status 9"),
    ("__import__('os').kill(__import__('os').getpid(), 9)", "exit status -9"),
]


@pytest.mark.skipif(not HAS_TIMER, reason="this system has no timer of processor time")
@pytest.mark.parametrize(("question", "reason"), EXCEEDED)
def test_a_question_beyond_the_bounds_ends_its_process_alone(process, question, reason):
    with pytest.raises(BoundExceededError, match=reason):
        process.ask(question)
    assert process.ask("1 + 1") == 2


def test_a_question_that_waits_ends_its_process():
    bounded = BoundedProcess(time.sleep, Bounds(seconds=60, clock=0.1))
    with pytest.raises(BoundExceededError, match=r"takes more than 0\.1 s"):
        bounded.ask(1000)
    bounded.close()


WITHOUT = """
import os, signal, sys
del signal.setitimer, os.nice
sys.modules["resource"] = None
sys.platform = "win32"
"""


def test_on_windows_the_clock_counts(monkeypatch):
    """There are no timers of processor time, no limits and no priorities."""
    *python, code = command_of("fimlsp.processes.bounded", "main")
    monkeypatch.setattr(bounded_module, "command_of", lambda *_: (*python, WITHOUT + code))
    bounded = BoundedProcess(eval, Bounds(seconds=0.001, clock=2.0))
    assert bounded.ask("sum(range(1_000_000))") > 0
    with pytest.raises(BoundExceededError, match=r"takes more than 2 s"):
        bounded.ask("[0 for _ in iter(int, 1)]")
    bounded.close()


def test_a_process_that_does_not_start_is_no_timeout():
    with pytest.raises(BoundExceededError, match=r"ended the process that read it \(exit status 1\)"):
        BoundedProcess(test_a_process_that_does_not_start_is_no_timeout, Bounds(60)).ask(1)


@pytest.mark.skipif(not HAS_LANDLOCK, reason="Landlock is Linux's")
def test_all_but_reading_is_refused(process, tmp_path):
    outside, inside = tmp_path.parent / "outside", tmp_path / "inside"
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        refused = [
            f"open({str(outside)!r}, 'w')",
            f"__import__('os').remove({__file__!r})",
            "__import__('subprocess').run(['true'])",
            f"__import__('socket').create_connection(('127.0.0.1', {port}))",
        ]
        for question in refused:
            with pytest.raises(PermissionError):
                process.ask(question)
    assert process.ask(f"open({str(inside)!r}, 'w').write('a')") == 1
    assert process.ask(f"open({__file__!r}).read()") == Path(__file__).read_text(encoding="utf-8")
    assert not outside.exists()


def test_a_process_ends_without_questions(monkeypatch):
    monkeypatch.setattr("fimlsp.processes.bounded.IDLE_S", 0.01)
    bounded = BoundedProcess(eval, Bounds(60))
    pid = bounded.ask("__import__('os').getpid()")
    block_until(lambda: not psutil.pid_exists(pid))
