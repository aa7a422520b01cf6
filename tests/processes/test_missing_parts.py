"""A system without the parts of POSIX, as Windows: nothing that an editor needs depends on them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT_POSIX = Path(__file__).with_name("without_posix")


def run(*arguments, **environment):
    variables = {**os.environ, "PYTHONPATH": str(WITHOUT_POSIX), **environment}
    return subprocess.run(
        [sys.executable, *arguments], env=variables, capture_output=True, text=True, encoding="utf-8"
    )


def test_the_parts_are_gone():
    code = "import os, signal; print(hasattr(os, 'fork'), hasattr(signal, 'SIGPROF')); import resource"
    ended = run("-c", code)
    assert ended.stdout == "False False\n"
    assert "ModuleNotFoundError" in ended.stderr


@pytest.mark.slow
def test_engine_names_types_and_model_work_without_them(tmp_path):
    ended = run("-m", "fimlsp", "doctor", XDG_CACHE_HOME=str(tmp_path))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    lines = ended.stdout.splitlines()[2:]
    assert {line.split(maxsplit=1)[0] for line in lines} <= {"ok", "not"}, ended.stdout
    assert [line.split(":")[0].split()[-1] for line in lines if line.startswith("ok")][:4] == [
        "engine",
        "names",
        "types",
        "confinement",
    ]
