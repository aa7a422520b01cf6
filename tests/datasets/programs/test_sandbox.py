"""Untrusted programs: those that pass, those that fail, the limits, and machines that contain less."""

import os
import sys

import pytest

from fimlsp.datasets.programs import sandbox
from fimlsp.datasets.programs.contained import NotPlainError, dump, load
from fimlsp.datasets.programs.sandbox import (
    Limits,
    NotContainedError,
    Trial,
    missing_layers,
    run_python,
    split_prompt,
)
from fimlsp.processes.confinement import LANDLOCK, MEMORY, NAMESPACES, SECCOMP

pytestmark = pytest.mark.skipif(os.name != "posix", reason="programs are only run where processes fork")

LIMITS = Limits(seconds=60)
ANY_MEMORY = pytest.mark.skipif(sys.platform == "darwin", reason="macOS does not limit memory")
F = "def f(x):\n    return "
VALUES = (None, True, 1 << 99, 1.5, "é", b"x", [1], (1, (2,)), {1: {2}}, 1j)

PASSING = [
    ("", "assert 1 + 1 == 2"),
    (f"{F}x + 1", "assert f(1) == 2"),
    (f"{F}x", f"for value in {VALUES}: assert f(value) == value"),
    (f"{F}x", "assert f(x=float('inf')) == float('inf')"),
    ("import collections\ndef f(x): return collections.Counter(x)", "assert f('aab') == {'a': 2, 'b': 1}"),
    ("open('a', 'w').write('x'); assert open('a').read() == 'x'", ""),
    ("import os; os.mkdir('b'); os.rename('b', 'c'); os.rmdir('c')", ""),
    ("import threading; t = threading.Thread(target=print); t.start(); t.join()", ""),
    ("import math, heapq, collections, hashlib, typing, random, datetime, itertools", ""),
    ("assert __name__ == '__main__'", "x: int = 1\nassert __name__ == '__main__'"),
    ("def f(x): raise KeyError(x)", "try: f(1)\nexcept KeyError: pass\nelse: assert 0"),
    (
        "class E(Exception): pass\ndef f(x): raise E(x)",
        "try: f(1)\nexcept RuntimeError: pass\nelse: assert 0",
    ),
]
FAILING = [
    ("", "assert 1 == 2, 'no'", "AssertionError: no"),
    ("assert 1 == 2, 'no'", "", "AssertionError: no"),
    (f"{F}x", "assert f(1) == 2", "AssertionError"),
    ("x = ", "", "SyntaxError"),
    ("import sys; sys.exit(0)", "", "exit status 0 before the end of the test"),
    ("import os; os._exit(0)", "", "exit status 0 before the end of the test"),
    ("import os; os._exit(1)", "", "exit status 1 before the end of the test"),
    ("def f(x): return object()", "f(1)", "a value of type object is not plain data"),
    (f"{F}x", "f(print)", "a value of type builtin_function_or_method is not plain data"),
    ("def f(x):\n    x = []; x.append(x); return x", "f(1)", "nested too deeply or refers to itself"),
    ("", "missing(1)", "KeyError"),
    ("x = 1", "x(1)", "TypeError"),
    ("f = open('a', 'wb')\nfor _ in range(9): f.write(bytes(1 << 20))", "", "File too large"),
    ("fs = [open('/dev/null') for _ in range(99)]", "", "Too many open files"),
]


def run(program, test="", limits=LIMITS, prompt=""):
    """These tests are about verdicts; `test_ways_out.py` is about containment."""
    return run_python(Trial(program, test, prompt), limits, whole=not missing_layers())


@pytest.mark.parametrize(("program", "test"), PASSING)
def test_a_program_passes_if_its_test_comes_to_its_end(program, test):
    ran = run(program, test)
    assert (ran.outcome, ran.reason) == ("passed", "")


@pytest.mark.parametrize(("program", "test", "reason"), FAILING)
def test_a_program_fails_otherwise(program, test, reason):
    ran = run(program, test)
    assert ran.outcome == "failed"
    assert reason in ran.reason


@ANY_MEMORY
def test_a_program_has_so_much_memory():
    assert "MemoryError" in run("x = bytearray(4 << 30)").reason


def test_a_program_that_does_not_end_is_ended():
    one = Limits(seconds=1)
    for program in ("while True: pass", "import time; time.sleep(600)", "def f(x):\n    while True: pass"):
        assert run(program, "f(1)", one).outcome == "timed out"
    assert run("", "while True: pass", one).outcome == "timed out"


def test_the_helpers_of_the_prompt_are_the_tests_own():
    """HumanEval/32 tests with a function of its prompt; a program that replaces it gains nothing."""
    prompt = 'def twice(x):\n    return 2 * x\n\ndef half(x):\n    """Half of x."""\n'
    test = "def check(candidate):\n    assert twice(candidate(4)) == 4\ncheck(half)"
    assert run(f"{prompt}    return x / 2\n", test, prompt=prompt).outcome == "passed"
    forged = f"{prompt}    return 1\ndef twice(x): return 4\n"
    assert run(forged, test, prompt=prompt).outcome == "failed"


def test_the_function_to_be_written_may_have_the_name_of_a_builtin():
    prompt = "def sum(x):\n"
    assert run(f"{prompt}    return 7\n", "assert sum([1]) == 7", prompt=prompt).outcome == "passed"


PROMPTS = [
    ('import math\ndef f(x):\n    """Text."""\n', ("import math", "f")),
    ("def f(x):\n", ("", "f")),
    ("def f(x):\n    return ", ("", "f")),
    ("class A:\n    pass\n", ("", "A")),
    ("def f(", ("", "")),
    ("", ("", "")),
]


@pytest.mark.parametrize(("prompt", "parts"), PROMPTS)
def test_the_parts_of_a_prompt(prompt, parts):
    assert split_prompt(prompt) == parts


NO_VALUES = [
    *(b"", b"[1]", b"{", b"{}", b'{"list": 1}', b'{"a": []}', b'{"bytes": "x"}', b'{"list": [], "set": []}'),
    *(b'{"set": [{"list": []}]}', b'{"list": [' * 90_000, b"1" * 5000),
]


@pytest.mark.parametrize("line", NO_VALUES, ids=range(len(NO_VALUES)))
def test_a_message_that_is_no_value(line):
    with pytest.raises(NotPlainError):
        load(line)


def test_values_arrive_as_they_were_sent():
    sent = [None, True, 0, -1.5, "\ud800", b"\xff", (), {}, set(), frozenset({(1, "a")}), {(): [1j]}]
    arrived = load(dump(sent))
    assert arrived == sent
    assert list(map(type, arrived)) == list(map(type, sent))


WITHOUT = {
    NAMESPACES: "def refuse(*_): raise OSError\ncontained.enter_namespaces = refuse",
    LANDLOCK: "contained.restrict_files = lambda *_: False",
    SECCOMP: "contained.filter_system_calls = lambda **_: False",
    MEMORY: "contained.limit_resources = lambda *_, **__: False",
}


@pytest.mark.parametrize(("layer", "change"), WITHOUT.items(), ids=WITHOUT)
def test_a_machine_that_contains_less_runs_nothing_unless_it_may(monkeypatch, layer, change):
    """The *layer* is taken away in the process itself."""
    module = "from fimlsp.datasets.programs import contained"
    start = sandbox.START.replace("main()", f"{module}\n{change}\nmain()")
    monkeypatch.setattr(sandbox, "START", start)
    missing_layers.cache_clear()
    try:
        assert layer in missing_layers()
    finally:
        missing_layers.cache_clear()
    trial = Trial("def f(x): return x", "assert f(1) == 1")
    with pytest.raises(NotContainedError):
        run_python(trial, LIMITS)
    assert run_python(trial, LIMITS, whole=False).outcome == "passed"


SLOW_END = """
import os, time
def end(status, exit=os._exit):
    os.closerange(3, 64)
    time.sleep(0.5)
    exit(status)
contained.os._exit = end
"""


def test_the_probe_of_a_busy_machine_says_the_same(monkeypatch):
    """The judge closes its pipes some time before it ends: nothing may be written to them any more."""
    expected = missing_layers()
    change = f"from fimlsp.datasets.programs import contained\n{SLOW_END}\nmain()"
    monkeypatch.setattr(sandbox, "START", sandbox.START.replace("main()", change))
    missing_layers.cache_clear()
    try:
        assert missing_layers() == expected
    finally:
        missing_layers.cache_clear()
