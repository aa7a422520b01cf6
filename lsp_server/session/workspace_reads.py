"""Reads, in threads, the workspace files that completions depend on: Python versions and users' grammars.

The event loop opens no file of a workspace: its file system may be slow.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from threading import Thread
from types import MappingProxyType
from typing import Generic, TypeVar

from fimlsp.languages.python.versions import PythonVersion
from fimlsp.lsp_server.options import running_version, version_of
from fimlsp.lsp_server.workspace_files import path_of, read_regular_file
from fimlsp.quotient.grammar.cfg import GrammarError
from fimlsp.quotient.language.contract import Language

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ENVIRONMENTS = (".venv", "venv")

SLUA = "slua"
LARGEST_INTERFACE = 1_000_000
"""Bytes."""

LARGEST_VERSION_FILE = 100_000
"""Bytes."""

STATED_VERSIONS = ("project", "requires-python"), ("tool", "poetry", "dependencies", "python")
"""The keys of `pyproject.toml` that state the supported versions."""

_LOWER_BOUND = re.compile(r"(?:>=|~=|==|>|\^|~)[ \t]*(\d{1,9}\.\d{1,9})")
_ENVIRONMENT_VERSION = re.compile(r"^version(?:_info)?\s*=\s*(.*)$", re.MULTILINE | re.IGNORECASE)

ResultT = TypeVar("ResultT")

Languages = Mapping[str, Language | str]
"""The language of each identifier, or the reason that it cannot be used."""


MOST_READS = 2
"""Reads of one kind at once: one may wait for a slow file system."""


class BackgroundRead(Generic[ResultT]):
    """Runs functions in threads, and passes the result of the newest to *on_result* on the event loop.

    Of those that have to wait for a thread, only the newest is run.
    """

    def __init__(self, on_result: Callable[[ResultT], None]) -> None:
        self._on_result = on_result
        self._n_reads = 0
        self._running = 0
        self._waiting: Callable[[], ResultT] | None = None

    def start(self, read: Callable[[], ResultT]) -> None:
        """Call *read* in a thread; returns at once."""
        self._n_reads += 1
        if self._running == MOST_READS:
            self._waiting = read
            return
        self._running += 1
        loop = asyncio.get_running_loop()
        Thread(target=self._run, args=(read, self._n_reads, loop), daemon=True).start()

    def _run(self, read: Callable[[], ResultT], number: int, loop: asyncio.AbstractEventLoop) -> None:
        result = read()
        with contextlib.suppress(RuntimeError):  # the loop may be closed by now
            loop.call_soon_threadsafe(self._take, result, number)

    def _take(self, result: ResultT, number: int) -> None:
        self._running -= 1
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self.start(waiting)
        elif number == self._n_reads:
            self._on_result(result)


class WorkspaceFolders:
    """The open folders of one client, by URI, and the Python version of each.

    *on_change* is called if the versions turn out to differ from those assumed so far.
    """

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._folders: dict[str, Path] = {}
        self._versions: dict[Path | None, PythonVersion] = {}
        self._read = BackgroundRead(self._take)

    @property
    def paths(self) -> tuple[str, ...]:
        """The folders' absolute paths."""
        return tuple(map(str, self._folders.values()))

    def add(self, uris: Iterable[str]) -> None:
        """Add folders; those that are not on a disk of this machine are ignored."""
        self._folders.update({uri: path for uri in uris if (path := path_of(uri)) is not None})

    def remove(self, uris: Iterable[str]) -> None:
        """Remove folders."""
        for uri in uris:
            self._folders.pop(uri, None)

    def read(self) -> None:
        """Read the Python versions of the folders; returns at once, and `on_change` is called later."""
        folders = [None, *self._folders.values()]
        self._read.start(lambda: {folder: version_of_workspace(folder) for folder in folders})

    def python_of(self, uri: str) -> PythonVersion:
        """The Python version of the innermost folder around the document, as far as it is known."""
        return self._versions.get(self._folder_of(uri), running_version())

    def _take(self, versions: dict[Path | None, PythonVersion]) -> None:
        if versions != self._versions:
            self._versions = versions
            self._on_change()

    def _folder_of(self, uri: str) -> Path | None:
        path = path_of(uri)
        around = [
            folder for folder in self._folders.values() if path is not None and path.is_relative_to(folder)
        ]
        if path is None:  # a buffer without a file belongs to the only workspace folder, if there is just one
            around = [*self._folders.values()] if len(self._folders) == 1 else []
        return max(around, key=lambda folder: len(folder.parts), default=None)


def version_of_workspace(folder: Path | None, environment: Mapping[str, str] = os.environ) -> PythonVersion:
    """The Python version of the files in *folder*, or outside of any folder; this server's by default.

    It is the oldest that the project there supports, if the project states that. Reads up to five files, so
    it may block.
    """
    for text in _version_texts(folder, environment):
        version = version_of(text)
        if version is not None:
            return version
    return running_version()


def _version_texts(folder: Path | None, environment: Mapping[str, str]) -> Iterator[str]:
    """Texts that may start with a version, the most reliable first."""
    if folder is not None:
        yield oldest_supported(_content(folder / "pyproject.toml"))
        for name in ENVIRONMENTS:
            yield _environment_version(folder / name)
    if environment.get("VIRTUAL_ENV"):
        yield _environment_version(Path(environment["VIRTUAL_ENV"]))
    if folder is not None:
        yield _content(folder / ".python-version")


def oldest_supported(pyproject: str) -> str:
    """The oldest Python version that a project with this `pyproject.toml` supports; empty if unknown."""
    try:
        document = tomllib.loads(pyproject)
    except (tomllib.TOMLDecodeError, RecursionError):
        return ""
    for path in STATED_VERSIONS:
        stated: object = document
        for key in path:
            stated = stated.get(key) if isinstance(stated, dict) else None
        bounds: list[str] = _LOWER_BOUND.findall(stated) if isinstance(stated, str) else []
        if bounds:
            return max(bounds, key=lambda bound: tuple(map(int, bound.split("."))))
    return ""


def _environment_version(environment: Path) -> str:
    match = _ENVIRONMENT_VERSION.search(_content(environment / "pyvenv.cfg"))
    return match[1] if match else ""


def _content(file: Path) -> str:
    try:
        data = read_regular_file(file, LARGEST_VERSION_FILE)
    except (OSError, ValueError):
        return ""
    return (data or b"").decode(errors="replace")


class UserGrammars:
    """The languages that one client configures: the option `grammars`, and sLua with an interface.

    Grammars are compiled in the worker, when the first document of the language is opened. *on_change* is
    called if `languages` has changed after a read.
    """

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._read = BackgroundRead(self._take)
        self.languages: Languages = MappingProxyType({})

    def read(self, files: Mapping[str, str], folders: Sequence[str], interface: str = "") -> None:
        """Read the grammar *files*, by identifier, and the *interface* of sLua if given; returns at once.

        Relative names are resolved in the first of *folders*.
        """
        self._read.start(lambda: configured_languages(dict(files), tuple(folders), interface))

    def _take(self, languages: Languages) -> None:
        if languages != self.languages:
            self.languages = languages
            self._on_change()


def configured_languages(files: Mapping[str, str], folders: Sequence[str], interface: str) -> Languages:
    """The language of each grammar in *files*, and sLua with *interface* if given."""
    languages = {identifier: language_of(file, folders) for identifier, file in files.items()}
    if interface:
        languages.setdefault(SLUA, scripts_of(interface, folders))
    return languages


def language_of(file: str, folders: Sequence[str]) -> Language | str:
    """The language of the grammar in *file*, or the reason that it cannot be used."""
    from fimlsp.languages.custom.grammar_files import read_files  # 10 MB that most clients do not need
    from fimlsp.languages.custom.language import LarkLanguage

    path = _path(file, folders)
    if path is None:
        return (
            f"the grammar {file} has a relative path, but no folder is open; name it by its whole path "
            f"(option grammars)"
        )
    try:
        return LarkLanguage(read_files(path, read_regular_file))
    except GrammarError as error:
        return f"{error} (option grammars)"


def scripts_of(file: str, folders: Sequence[str]) -> Language | str:
    """The language sLua with the interface in *file*, or the reason that it cannot be used."""
    from fimlsp.languages.slua.interface import InterfaceError, read_interface
    from fimlsp.languages.slua.language import Slua

    path = _path(file, folders)
    if path is None:
        return (
            f"the interface {file} has a relative path, but no folder is open; name it by its whole path "
            f"(option interface)"
        )
    try:
        data = read_regular_file(path, LARGEST_INTERFACE)
        if data is None:
            return f"{file} is not a regular file of at most {LARGEST_INTERFACE:,} bytes (option interface)"
        interface = data.decode("utf-8")
        read_interface(interface, file)
    except OSError as error:
        return f"{file} cannot be read: {error.strerror} (option interface)"
    except UnicodeDecodeError:
        return f"{file} is not UTF-8 (option interface)"
    except InterfaceError as error:
        return f"{str(error).splitlines()[0]} (option interface)"
    return Slua(interface, tidy=True)


def _path(file: str, folders: Sequence[str]) -> Path | None:
    """The path of *file*; None if it is relative and there is no folder."""
    path = Path(file)
    if path.is_absolute():
        return path
    return Path(folders[0]) / path if folders else None


def compiler_of(folder: str, folders: Sequence[str]) -> Path | str:
    """The program of the TypeScript 7 in *folder*, or the reason that there is none."""
    from fimlsp.languages.typescript.checker.compiler import NoCompilerError, compiler_in

    try:
        path = _path(str(Path(folder).expanduser()), folders)
        if path is None:
            return (
                f"Cannot check types: {folder!r} is a relative path, but no folder is open. "
                f"Do give its whole path (option typescript)."
            )
        return compiler_in(path)
    except NoCompilerError as error:
        return f"{error} (option typescript)"
    except (OSError, RuntimeError, ValueError) as error:  # a circle of links, no home, not a path
        return (
            f"Cannot check types: {folder!r} is not a folder: {error}. Do give its path (option typescript)."
        )
