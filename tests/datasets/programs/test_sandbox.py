"""Untrusted programs: those that pass, those that are refused, and the limits."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fimlsp.datasets.programs.sandbox import Limits, run_python

pytestmark = pytest.mark.skipif(
    os.name != "posix", reason="programs are only run where they can be contained"
)

LIMITS = Limits(seconds=60)
IS_FILTERED = sys.platform.startswith("linux") and os.uname().machine in ("x86_64", "aarch64")

PASSING = [
    "assert 1 + 1 == 2",
    "open('a', 'w').write('x'); assert open('a').read() == 'x'",
    "import os; os.mkdir('b'); os.rename('b', 'c'); os.rmdir('c')",
    "import threading; t = threading.Thread(target=print); t.start(); t.join()",
    "import math, heapq, collections, hashlib, typing",
    "assert __name__ == '__main__'",
]
FAILING = [
    ("assert 1 == 2, 'no'", "AssertionError: no"),
    ("x = ", "SyntaxError"),
    ("import sys; sys.exit(0)", "before the end of the test"),
    ("import os; os._exit(0)", "before the end of the test"),
    ("import socket; socket.socket()", "is refused"),
    ("import _socket; _socket.socket()", "is refused"),
    ("import os; os.fork()", "is refused"),
    ("import subprocess; subprocess.run(['ls'])", "is refused"),
    ("import os; os.system('true')", "is refused"),
    ("import os; os.kill(os.getppid(), 9)", "is refused"),
    ("import os; os.execv('/bin/true', ['true'])", "is refused"),
    ("import ctypes; ctypes.CDLL(None)", "is refused"),
    ("x = bytearray(4 << 30)", "MemoryError"),
    ("f = open('a', 'wb')\nfor _ in range(9): f.write(bytes(1 << 20))", "File too large"),
    ("fs = [open('/dev/null') for _ in range(99)]", "Too many open files"),
]


@pytest.mark.parametrize("program", PASSING)
def test_a_program_that_comes_to_its_end_passes(program):
    assert run_python(program, LIMITS).outcome == "passed"


@pytest.mark.parametrize(("program", "reason"), FAILING)
def test_a_program_that_does_not_come_to_its_end_fails(program, reason):
    ran = run_python(program, LIMITS)
    assert ran.outcome == "failed"
    assert reason in ran.reason


def test_only_its_own_folder_can_be_written_to(tmp_path):
    ours = tmp_path / "ours"
    ours.write_text("ours", encoding="utf-8")
    for change in (f"open({str(ours)!r}, 'w')", f"import os; os.remove({str(ours)!r})", "open('../b', 'w')"):
        assert "only its own folder may be" in run_python(change, LIMITS).reason
    assert ours.read_text(encoding="utf-8") == "ours"


def test_its_folder_is_new_and_gone_afterwards():
    ran = run_python("import os; assert sorted(os.listdir()) == ['errors'], 1; assert 0, os.getcwd()", LIMITS)
    assert not Path(ran.reason.removeprefix("AssertionError: ")).exists()


def test_a_program_that_does_not_end_is_ended():
    assert run_python("while True: pass", Limits(seconds=1)).outcome == "timed out"
    assert run_python("import time; time.sleep(600)", Limits(seconds=1)).outcome == "timed out"


@pytest.mark.skipif(not IS_FILTERED, reason="the system calls of this machine are not filtered")
def test_the_kernel_refuses_calls_without_audit_events():
    program = (
        "import os, socket, sys\n"
        "from fimlsp.datasets.programs.contained import filter_system_calls\n"
        "assert filter_system_calls()\n"
        "for refused in (socket.socket, os.fork, lambda: os.execv(sys.executable, [sys.executable])):\n"
        "    try: refused()\n"
        "    except PermissionError: continue\n"
        "    sys.exit(f'{refused} went through')\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
