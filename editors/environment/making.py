"""Makes the environment: a new virtual environment each time, which counts only once it is complete.

After an interruption the last complete environment stays in use. The next attempt continues with the
downloads in pip's cache. The package index is queried for the server's dependencies only, in the locked
versions. The server itself is a wheel or a folder.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

from folder import Environment, Folder, identity_of
from pip_output import explain, step_of

PYTORCH_FOR_CPU = "https://download.pytorch.org/whl/cpu"
NOT_INSTALLED = (
    ".*",
    "*.egg-info",
    "__pycache__",
    "build",
    "dist",
    "node_modules",
    "tests",
    "vscode-extension",
)
PIP = ("-I", "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--progress-bar", "off")


class MakingError(Exception):
    """The environment cannot be made; the message is for the user."""


@dataclass(frozen=True)
class Wanted:
    """The packages to install: *source*, a wheel or folder of fimlsp, with *extras*, locked by *constraints*.

    With a *wheelhouse*, a folder of wheels, nothing is downloaded. *cpu_only*: PyTorch comes without its
    gigabytes for graphics cards.
    """

    source: Path
    constraints: Path
    extras: tuple[str, ...] = ()
    wheelhouse: Path | None = None
    cpu_only: bool = False

    def pip_calls(self) -> list[list[str]]:
        """The arguments of each call of the environment's Python, in order."""
        common = [*PIP, "--prefer-binary", "-c", str(self.constraints)]
        if self.wheelhouse is not None:
            common += ["--no-index", "--find-links", str(self.wheelhouse)]
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        calls = [[*common, f"{self.source}{extras}"]]
        if self.cpu_only and "checkpoints" in self.extras and self.wheelhouse is None:
            calls.insert(0, [*common, "torch", "--index-url", PYTORCH_FOR_CPU])
        return calls


def main(arguments: Sequence[str]) -> int:
    """Make the environment that *arguments* ask for, and tell about it; the exit status."""
    options = parse(arguments)
    wanted = Wanted(
        options.source, options.constraints, tuple(options.extra), options.wheelhouse, options.cpu_only
    )
    signal.signal(signal.SIGTERM, _end)
    try:
        tell(python=str(make(Folder(options.folder), wanted)))
    except (MakingError, OSError) as error:
        tell(error=str(error) if isinstance(error, MakingError) else _explain_system(error, options.folder))
        return 1
    return 0


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="environment", description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="where environments of the editor lie")
    parser.add_argument("--source", type=Path, required=True, help="a wheel or a folder of fimlsp")
    parser.add_argument("--constraints", type=Path, required=True, help="the locked versions")
    parser.add_argument(
        "--extra", action="append", default=[], help="an extra to install, such as checkpoints"
    )
    parser.add_argument(
        "--wheelhouse", type=Path, help="a folder of wheels to be used instead of the network"
    )
    parser.add_argument("--cpu-only", action="store_true", help="PyTorch without CUDA")
    return parser.parse_args(arguments)


def make(folder: Folder, wanted: Wanted) -> Path:
    """Make the environment, unless there is such a one that works; its interpreter.

    Raises:
        MakingError: it cannot be made.
        OSError: the folder cannot be written, or the disk is full.
    """
    for path in (wanted.source, wanted.constraints, *filter(None, [wanted.wheelhouse])):
        if not path.exists():
            raise MakingError(f"{path} is not there; name a folder or file that is.")
    identity = identity_of(wanted.source, wanted.constraints)
    with folder.locked(on_wait=lambda: tell(step="waiting for another window that installs")):
        there = folder.current()
        if there is not None and there.serves(identity, wanted.extras) and works(there.python):
            return there.python
        folder.remove_all_but_current()
        try:
            python = build(folder.new(), wanted)
            folder.publish(Environment(python, identity, wanted.extras, version_in(python)))
        except BaseException:
            folder.remove_all_but_current()
            raise
        return python


def build(folder: Path, wanted: Wanted) -> Path:
    """A new environment in *folder* with the wanted packages; returns its interpreter."""
    tell(step="making the environment")
    venv.EnvBuilder(symlinks=os.name != "nt").create(folder)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    add_pip(python, wanted)
    with as_wheel_or_copy(wanted.source) as source:
        for call in replace(wanted, source=source).pip_calls():
            run([str(python), *call], wanted)
    return python


def add_pip(python: Path, wanted: Wanted) -> None:
    """Give the environment of *python* the pip that came with Python."""
    run([str(python), "-I", "-m", "ensurepip", "--default-pip"], wanted, is_told=False)


@contextmanager
def as_wheel_or_copy(source: Path) -> Iterator[Path]:
    """*source*; a folder is copied without the files that are not installed, as a build writes into it."""
    if not source.is_dir():
        yield source
        return
    with TemporaryDirectory() as scratch:
        copy = Path(scratch) / "fimlsp"
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns(*NOT_INSTALLED))
        yield copy


def run(command: Sequence[str], wanted: Wanted, *, is_told: bool = True) -> None:
    """Run *command* to its end and tell its steps, unless not *is_told*; a failure is explained."""
    lines = []
    with running(command, environment_variables(wanted.constraints)) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip())
            print(json.dumps({"log": lines[-1]}), flush=True)
            step = step_of(line)
            if step is not None and is_told:
                tell(step=step)
    if process.returncode:
        raise MakingError(explain(lines, process.returncode, wanted.wheelhouse))


@contextmanager
def running(command: Sequence[str], variables: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A process that does not outlive this one, as far as that can be had."""
    process = subprocess.Popen(
        command,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    try:
        yield process
    except BaseException:
        process.kill()
        raise
    finally:
        process.wait()


def environment_variables(constraints: Path) -> dict[str, str]:
    """The user's, without those that would have pip install somewhere else.

    pip builds a folder of fimlsp in an environment of its own, whose packages *constraints* lock as well.
    Older versions of pip read the first variable, newer ones the second. An address has no blanks.
    """
    elsewhere = {"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_REQUIRE_VIRTUALENV", "PYTHONHOME", "PYTHONPATH"}
    kept = {name: value for name, value in os.environ.items() if name not in elsewhere}
    locks = dict.fromkeys(("PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT"), constraints.absolute().as_uri())
    return kept | locks | {"PIP_USER": "0", "PYTHONUTF8": "1"}


def works(python: Path) -> bool:
    """True if the server in the environment of *python* starts."""
    return bool(_version(python))


def version_in(python: Path) -> str:
    """The version of the server that was installed.

    Raises:
        MakingError: it cannot be started.
    """
    version = _version(python)
    if not version:
        raise MakingError(f"The server was installed, but {python} -m fimlsp --version fails; see the log.")
    return version


def _version(python: Path) -> str:
    try:
        command = [str(python), "-I", "-m", "fimlsp", "--version"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip().rpartition(" ")[2] if done.returncode == 0 else ""


def tell(**what: str) -> None:
    """Tell the editor."""
    print(json.dumps(what), flush=True)


def _explain_system(error: OSError, folder: Path) -> str:
    place = error.filename or folder
    return f"{place} cannot be written ({error.strerror}); make room there, or choose a folder that can be."


def _end(_signal: int, _frame: FrameType | None) -> None:
    raise SystemExit(143)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
