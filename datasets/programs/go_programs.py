"""Builds and runs programs in Go, with the toolchain that the user has."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from fimlsp.datasets.languages.judges.go_judge import go_toolchain
from fimlsp.datasets.programs.sandbox import Limits, Ran, run_executable
from fimlsp.lexing.automata.cached_files import cache_folder

BUILD_SECONDS = 120
MEMORY = 8 << 30
"""Go reserves far more addresses than it uses."""


def run_go(program: str, limits: Limits) -> Ran:
    """Build *program* and run it contained; one with `func Test` is built as a test.

    The build fetches nothing: a module such as testify must be in the user's GOPATH.

    Raises:
        JudgeMissingError: there is no Go toolchain.
    """
    toolchain = go_toolchain()
    is_test = "func Test" in program
    with TemporaryDirectory(prefix="fimlsp-program-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        source = folder / ("main_test.go" if is_test else "main.go")
        source.write_text(program, encoding="utf-8")
        command = [toolchain, *(["test", "-c"] if is_test else ["build"]), "-o", "program", source.name]
        own = {
            "GOCACHE": str(cache_folder() / "go-build"),
            "GOTOOLCHAIN": "local",
            "GO111MODULE": "off",
            "GOPROXY": "off",
            "CGO_ENABLED": "0",
        }
        built = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **own},
            capture_output=True,
            timeout=BUILD_SECONDS,
            check=False,
        )
        if built.returncode:
            lines = (built.stderr or built.stdout).decode(errors="replace").strip().splitlines()
            return Ran("failed", f"does not build: {lines[-1][:200] if lines else built.returncode}")
        return run_executable(folder / "program", replace(limits, memory=max(limits.memory, MEMORY)))
