"""What users have of their own for languages: the grammars of the option `grammars`, and sLua's interface.

A thread reads their files: no file of a workspace is opened on the event loop. They are compiled in the
worker, when the first document of the language is opened. What reads them takes 10 MB, so it is imported
where there are any.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Thread
from types import MappingProxyType

from fimlsp.lsp_server.workspace.guarded_reading import read_regular_file
from fimlsp.quotient.grammar.cfg import GrammarError
from fimlsp.quotient.language.contract import Language

SLUA = "slua"
LARGEST_INTERFACE = 1_000_000
"""Bytes."""

Found = Mapping[str, Language | str]
"""The language of each identifier, or why there is none."""


class UserGrammars:
    """The grammars of one client, by language identifier.

    *on_change* is called when they have been read and differ from those known before.
    """

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._n_looks = 0
        self.found: Found = MappingProxyType({})

    def look(self, files: Mapping[str, str], folders: Sequence[str], interface: str = "") -> None:
        """Read the grammars in *files*, and the *interface* of sLua if one is named; returns at once.

        Names are relative to the first of *folders*.
        """
        self._n_looks += 1
        loop = asyncio.get_running_loop()
        arguments = (dict(files), tuple(folders), interface, self._n_looks, loop)
        Thread(target=self._look, args=arguments, daemon=True).start()

    def _look(
        self,
        files: Mapping[str, str],
        folders: Sequence[str],
        interface: str,
        look: int,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        found = {identifier: language_of(file, folders) for identifier, file in files.items()}
        if interface:
            found.setdefault(SLUA, scripts_of(interface, folders))
        with contextlib.suppress(RuntimeError):  # the loop may be closed by now
            loop.call_soon_threadsafe(self._take, found, look)

    def _take(self, found: Found, look: int) -> None:
        if look == self._n_looks and found != self.found:
            self.found = found
            self._on_change()


def language_of(file: str, folders: Sequence[str]) -> Language | str:
    """The language of the grammar in *file*, or why there is none."""
    from fimlsp.languages.custom.files import read_files
    from fimlsp.languages.custom.language import LarkLanguage

    path = _path(file, folders)
    if path is None:
        return f"the grammar {file} has no folder that it is in; name it by its whole path (option grammars)"
    try:
        return LarkLanguage(read_files(path, read_regular_file))
    except GrammarError as error:
        return f"{error} (option grammars)"


def scripts_of(file: str, folders: Sequence[str]) -> Language | str:
    """The language sLua of scripts that are given the interface in *file*, or why there is none."""
    from fimlsp.languages.slua.interface import InterfaceError, read_interface
    from fimlsp.languages.slua.language import Slua

    path = _path(file, folders)
    if path is None:
        return f"the interface {file} is in no folder; name it by its whole path (option interface)"
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
    """Where *file* is; None if its name is relative and there is no folder."""
    path = Path(file)
    if path.is_absolute():
        return path
    return Path(folders[0]) / path if folders else None
