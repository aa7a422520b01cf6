"""Interpreters of the versions that have a grammar here, as judges of text."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from fimlsp.languages.python.versions import PythonVersion, version_text

from .judging import Verdict, verdicts

RUNNING = sys.version_info[:2]
TESTS = Path(__file__).parents[1]
PYENV = Path.home() / ".pyenv" / "versions"


@cache
def interpreter(version: PythonVersion) -> str | None:
    """The newest one that pyenv has of a version, or the one on the path."""
    name = f"python{version_text(version)}"
    found = sorted(PYENV.glob(f"{version_text(version)}.*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


def judged(version: PythonVersion, **request: object) -> list[Verdict]:
    """The verdicts of the interpreter of *version* on the texts of a request to `judging.verdicts`."""
    if version == RUNNING:
        return verdicts(request)
    path = interpreter(version)
    assert path is not None
    answer = subprocess.run(
        [path, "-m", "quotient.judging"],
        input=json.dumps(request),
        capture_output=True,
        check=True,
        cwd=TESTS,
        text=True,
    )
    return [Verdict(*verdict) for verdict in json.loads(answer.stdout)]
