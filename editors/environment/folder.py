"""The folder of an editor's environments: which one is in use, and who is making a new one."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

CURRENT = "current.json"
LOCK = "lock"
HEARTBEAT_S = 2.0
DEAD_AFTER_S = 15.0
WAITS_S = (0.01, 0.05, 0.2, 0.5)


@dataclass(frozen=True)
class Environment:
    """A complete environment: its interpreter, a digest of its sources, its extras, the server's version."""

    python: Path
    identity: str
    extras: tuple[str, ...]
    version: str

    def serves(self, identity: str, extras: Sequence[str]) -> bool:
        """True if it was made of the same files and has these extras."""
        return self.identity == identity and set(extras) <= set(self.extras)


class Folder:
    """See the module. `current.json` names the environment in use; it is replaced at one stroke."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()

    def current(self) -> Environment | None:
        """The environment in use, if there is one."""
        try:
            told = json.loads((self.path / CURRENT).read_text(encoding="utf-8"))
            return Environment(Path(told["python"]), told["identity"], tuple(told["extras"]), told["version"])
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def new(self) -> Path:
        """An empty folder for an environment."""
        return Path(mkdtemp(prefix="environment-", dir=self.path))

    def publish(self, environment: Environment) -> None:
        """From now on *environment* is the one in use."""
        told = {
            "python": str(environment.python),
            "identity": environment.identity,
            "extras": environment.extras,
            "version": environment.version,
        }
        fresh = self.path / f"{CURRENT}.new"
        fresh.write_text(json.dumps(told), encoding="utf-8")
        replace_file(fresh, self.path / CURRENT)

    def remove_all_but_current(self) -> None:
        """Remove remains of interruptions, and environments that are no longer in use."""
        current = self.current()
        for each in self.path.glob("environment-*"):
            if current is None or each not in current.python.parents:
                shutil.rmtree(each, ignore_errors=True)

    @contextmanager
    def locked(self, on_wait: Callable[[], None]) -> Iterator[None]:
        """Have the folder for oneself; wait for another process that has it, unless that has died."""
        self.path.mkdir(parents=True, exist_ok=True)
        lock = self.path / LOCK
        has_told = False
        while not _take(lock):
            if not has_told:
                on_wait()
                has_told = True
            time.sleep(0.2)
        done = threading.Event()
        threading.Thread(target=_beat, args=(lock, done), daemon=True).start()
        try:
            yield
        finally:
            done.set()
            lock.unlink(missing_ok=True)


def replace_file(fresh: Path, path: Path) -> None:
    """Put *fresh* in the place of *path*.

    On Windows another window that reads the old file, or a scanner of viruses, prevents that for a moment.

    Raises:
        OSError: it is prevented for longer, or by something else.
    """
    for seconds in WAITS_S:
        with suppress(PermissionError):
            fresh.replace(path)
            return
        time.sleep(seconds)
    fresh.replace(path)


def identity_of(source: Path, constraints: Path) -> str:
    """A digest of an environment's source: of a wheel, or of names, sizes and times in a folder."""
    digest = hashlib.sha256()
    if source.is_dir():
        for path in sorted(source.rglob("*.py")):
            told = path.stat()
            digest.update(f"{path.relative_to(source)} {told.st_size} {told.st_mtime_ns}\n".encode())
    else:
        digest.update(source.read_bytes())
    digest.update(constraints.read_bytes())
    return digest.hexdigest()


def _take(lock: Path) -> bool:
    with suppress(FileNotFoundError, PermissionError):  # the second on Windows, if another one removes it
        if time.time() - lock.stat().st_mtime > DEAD_AFTER_S:
            lock.unlink()
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return False
    return True


def _beat(lock: Path, done: threading.Event) -> None:
    while not done.wait(HEARTBEAT_S):
        with suppress(OSError):
            os.utime(lock)
