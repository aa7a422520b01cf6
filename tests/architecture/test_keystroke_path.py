"""The numbered path of a keystroke in ARCHITECTURE.md is the one that a keystroke takes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from .numbered_paths import REFERENCE, section, steps

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="code has no names with classes before Python 3.11")
def test_a_keystroke_takes_every_step_of_the_path():
    command = [sys.executable, "benchmarks/keystroke_path.py", "--show"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    ran = set(re.findall(r"^ *\d+  (\S+) (\S+)$", done.stdout, re.MULTILINE))
    document = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    path = steps(section(document, "From a keystroke to what is shown"))
    expected = [REFERENCE.match(step.text).groups() for step in path]
    assert len(expected) > 15
    assert [each for each in expected if each not in ran] == []
