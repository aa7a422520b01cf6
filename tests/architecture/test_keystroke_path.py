"""The numbered path of a keystroke in ARCHITECTURE.md is the one that it takes, and it stays short."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from .numbered_paths import REFERENCE, section, steps

ROOT = Path(__file__).parents[2]


MOST_MODULES = {
    "edit, server": 11,
    "edit, worker": 12,
    "request, server": 11,
    "answer, worker": 95,
    "reply, server": 10,
}


@pytest.fixture(scope="module")
def printed():
    """The output of the benchmark."""
    command = [sys.executable, "benchmarks/keystroke_path.py", "--show"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stdout


def test_a_keystroke_passes_few_modules(printed):
    found = re.findall(r"^│ ([a-z, ]+?) +│ +(\d+) ", printed, re.MULTILINE)
    modules = {stage: int(n) for stage, n in found}
    assert modules.keys() == MOST_MODULES.keys()
    assert [stage for stage, n in modules.items() if n > MOST_MODULES[stage]] == []


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code has no names with classes before Python 3.11")
def test_a_keystroke_takes_every_step_of_the_path(printed):
    ran = set(re.findall(r"^ *\d+  (\S+) (\S+)$", printed, re.MULTILINE))
    document = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    path = steps(section(document, "From a keystroke to what is shown"))
    expected = [REFERENCE.match(step.text).groups() for step in path]
    assert len(expected) > 15
    assert [each for each in expected if each not in ran] == []
