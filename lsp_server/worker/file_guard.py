"""Runs the analysis of names in a process that may open only the files that the settings allow.

The library that analyses a workspace opens files itself, so the rules of `WorkspaceFiles` are enforced by
Python's audit events, which no library can avoid. The process may not write files, start programs or connect,
nor list folders outside of the workspace. On Linux, Landlock refuses all but the reading once more.
"""

from __future__ import annotations

import os
import stat
import sys
import sysconfig
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fimlsp.languages.python.names.known_names import Question
from fimlsp.languages.python.names.process import serve
from fimlsp.lexing.automata.cached_files import cache_folder
from fimlsp.lsp_server.workspace_files import (
    LARGEST_FILE,
    TYPESCRIPT_SUFFIXES,
    WorkspaceFiles,
    workspace_files,
)
from fimlsp.processes.confinement import forbid_effects
from fimlsp.processes.helper import command_of

if TYPE_CHECKING:
    from fimlsp.languages.type_checker.process import CheckedPlace

GUARDED_COMMAND = command_of("fimlsp.lsp_server.worker.file_guard", "main")

_FORBIDDEN = ("os.", "socket.", "subprocess.", "shutil.", "pty.", "fcntl.", "ctypes.dlopen", "ctypes.dlsym")
"""The beginnings of forbidden events."""

_LISTING = frozenset(["os.listdir", "os.scandir"])
_HARMLESS = frozenset(["os.walk", "os.fwalk", "os.getxattr", "os.listxattr"])
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class FileGuard:
    """Raises an `OSError` for every forbidden operation.

    Args:
        trusted: Folders whose files may be read and run, such as the standard library.
        scratch: The only folder in which folders may be made; files there may be neither read nor written.
    """

    def __init__(self, trusted: tuple[Path, ...], scratch: Path) -> None:
        self._scratch = os.path.realpath(scratch) + os.sep
        self._trusted = tuple(os.path.realpath(folder) + os.sep for folder in trusted)
        self._files = WorkspaceFiles()
        self._rules: tuple[tuple[Path, ...], tuple[str, ...]] = (), ()

    def follow(self, question: Question) -> None:
        """Enforce the rules of *question* from now on."""
        rules = question.folders, question.excluded
        if rules != self._rules:
            self._rules = rules
            self._files = workspace_files(tuple(map(str, question.folders)), question.excluded)

    def check(self, event: str, arguments: tuple[object, ...]) -> None:
        """Check an audit event.

        Raises:
            PermissionError: The operation is forbidden.
            FileNotFoundError: The file may not be read.
        """
        if event in _LISTING:
            self._check_listing(arguments[0])
        elif event.startswith(_FORBIDDEN) and event not in _HARMLESS:
            if event != "os.mkdir" or not self._is_scratch(arguments[0]):
                raise PermissionError(f"the analysis may not use {event}")
        elif event == "open":
            self._check_open(*arguments[:3])
        elif event == "import" and isinstance(arguments[1], str):
            self._check_run(arguments[1])
        elif event == "exec":
            self._check_run(getattr(arguments[0], "co_filename", ""))

    def _check_open(self, path: object, _: object, flags: object) -> None:
        if not isinstance(path, str | bytes):  # an open descriptor
            return
        name = os.fsdecode(path)
        if isinstance(flags, int) and flags & _WRITING and name != os.devnull:
            raise PermissionError(f"{name} may not be written")
        if name != os.devnull and not self._is_trusted(name) and not self._may_be_read(Path(name)):
            raise FileNotFoundError(f"{name} may not be read")  # libraries handle this error

    def _check_listing(self, path: object) -> None:
        name = os.fsdecode(path) if isinstance(path, str | bytes) else os.curdir
        if not self._is_trusted(name) and not self._files.has(Path(name).resolve()):
            raise FileNotFoundError(f"{name} may not be listed")

    def _may_be_read(self, path: Path) -> bool:
        real = self._files.permitted(path)
        if real is None:
            return False
        state = real.stat()
        return stat.S_ISREG(state.st_mode) and state.st_size <= LARGEST_FILE

    def _check_run(self, name: str) -> None:
        if Path(name).is_absolute() and not self._is_trusted(name):
            raise PermissionError(f"{name} may not be run")

    def _is_scratch(self, name: object) -> bool:
        return isinstance(name, str) and os.path.realpath(name).startswith(self._scratch)

    def _is_trusted(self, name: str) -> bool:
        return (os.path.realpath(name) + os.sep).startswith(self._trusted)


def trusted_folders() -> tuple[Path, ...]:
    """The folders of this Python, its packages and fimlsp. In a clone, those of fimlsp are links."""
    paths = sysconfig.get_paths()
    installed = [Path(paths[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    package = Path(__file__).parents[2]
    own = [package, *(path for path in package.iterdir() if path.is_dir())]
    return *installed, *(Path(entry) for entry in sys.path if entry), *own


def scratch_folder() -> Path:
    """An existing folder: in the cache folder, or else among temporary files.

    jedi finds no names if it cannot make a folder for its parse trees, even though it may not write there.
    """
    try:
        folder = cache_folder() / "names"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # it is not writable, or there is no home
        return Path(tempfile.mkdtemp(prefix="fimlsp-names-"))
    return folder


def main() -> None:
    """Run the analysis under the guard."""
    scratch = scratch_folder()
    forbid_effects((str(scratch),))
    guard = FileGuard(trusted_folders(), scratch)
    sys.addaudithook(guard.check)
    serve(guard.follow, scratch)


CHECKER_COMMAND = command_of("fimlsp.lsp_server.worker.file_guard", "serve_checker")


def serve_checker() -> None:
    """Run ty, the type checker of Python. It gets copies of the files that the settings allow, no others."""
    from ty import find_ty_bin

    from fimlsp.languages.python.checker.ty import PythonProjects
    from fimlsp.languages.type_checker.process import serve

    def reader(place: CheckedPlace) -> Callable[[Path], bytes | None]:
        return workspace_files(tuple(map(str, place.folders)), place.excluded).read

    serve(PythonProjects(find_ty_bin()), reader)


LARGEST_DECLARATIONS = 2_000_000

TYPESCRIPT_CHECKER_COMMAND = command_of("fimlsp.lsp_server.worker.file_guard", "serve_typescript_checker")


def serve_typescript_checker() -> None:
    """As `serve_checker`, for TypeScript and its own compiler. Declarations of packages may be large."""
    from fimlsp.languages.type_checker.process import serve
    from fimlsp.languages.typescript.checker.compiler import TypeScriptProjects

    def reader(place: CheckedPlace) -> Callable[[Path], bytes | None]:
        files = workspace_files(tuple(map(str, place.folders)), place.excluded)
        return replace(files, suffixes=TYPESCRIPT_SUFFIXES, largest=LARGEST_DECLARATIONS).read

    serve(TypeScriptProjects(), reader)
