"""The grammars of the user's own that the option `grammars` names.

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

    def look(self, files: Mapping[str, str], folders: Sequence[str]) -> None:
        """Read the grammars in *files*, relative to the first of *folders*; returns at once."""
        self._n_looks += 1
        loop = asyncio.get_running_loop()
        arguments = (dict(files), tuple(folders), self._n_looks, loop)
        Thread(target=self._look, args=arguments, daemon=True).start()

    def _look(
        self, files: Mapping[str, str], folders: Sequence[str], look: int, loop: asyncio.AbstractEventLoop
    ) -> None:
        found = {identifier: language_of(file, folders) for identifier, file in files.items()}
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

    path = Path(file)
    if not path.is_absolute():
        if not folders:
            return (
                f"the grammar {file} has no folder that it is in; name it by its whole path (option grammars)"
            )
        path = Path(folders[0]) / path
    try:
        return LarkLanguage(read_files(path, read_regular_file))
    except GrammarError as error:
        return f"{error} (option grammars)"
