"""Finds the names that are known in a line with jedi. The only module that imports it.

The user's code is never run. jedi reads source, also of third-party packages. It imports only compiled
modules of the standard library, as the environment given to it has no others.
"""

from __future__ import annotations

import re
import sys
import sysconfig
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from inspect import Parameter
from pathlib import Path

import jedi
from jedi.api.environment import InterpreterEnvironment

from fimlsp.languages.python.checker.modules import installed_packages, source_folders
from fimlsp.languages.python.names.code_state import state_at_end
from fimlsp.languages.python.names.known_names import Finding, NameKind, NameQuery, NothingFound, Question

_LEAVES_OPEN = re.compile(
    rb"^[ \t]*from[ \t]+\S+[ \t]+import[ \t]+\*|\b(?:exec|globals|vars|locals)[ \t]*\(", re.M
)
_STUB: dict[NameKind, bytes] = {
    "visible": b"%b",
    "attributes": b"%b.",
    "keywords": b"%b(",
    "imports": b"from %b import ",
}
_TAKES_A_KEYWORD = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)

jedi.settings.auto_import_modules = []
jedi.settings.dynamic_params = False
jedi.settings.dynamic_params_for_other_modules = False


class _StandardLibrary(InterpreterEnvironment):  # type: ignore[misc]  # jedi has no types
    """This interpreter without the packages that are installed in it."""

    def get_sys_path(self) -> list[str]:
        """The folders from which compiled modules may be imported."""
        paths = sysconfig.get_paths()
        return [paths["stdlib"], paths["platstdlib"], str(Path(paths["platstdlib"]) / "lib-dynload")]


_ENVIRONMENT = _StandardLibrary()


def read_builtins(trees: Path | None = None) -> None:
    """Read the built-in names, which each look-up needs. It takes longer than a look-up may.

    Args:
        trees: the folder of parse trees; None for jedi's own.

    Raises:
        RuntimeError: jedi does not find the built-in names, for example as it cannot make that folder.
    """
    if trees is not None:
        jedi.settings.cache_directory = str(trees)
    completions = jedi.Script("le", environment=_ENVIRONMENT).complete(1, 2)
    if "len" not in [completion.name for completion in completions]:
        raise RuntimeError("jedi does not find the built-in names.")


def find_names(
    question: Question, limited: Callable[[NameQuery], AbstractContextManager[None]]
) -> Iterator[Finding | NothingFound]:
    """The answers to *question*. Look-ups that were given up have none.

    Each look-up is made within *limited*, which may give it up; the next one follows.
    """
    script = None
    for number, query in enumerate(question.queries):
        names, has_ended = list[_FoundName](), False
        with limited(query):
            with suppress(Exception):  # jedi raises many errors for unusual code
                script = script or _Script(question)
                names = script.names(number, query[0]) or []
            has_ended = True
        if has_ended and not names:
            yield NothingFound(query)
        elif names:
            functions = tuple(name.encode() for name, is_function in names if is_function)
            yield Finding(query, tuple(name.encode() for name, _ in names), functions)


_FoundName = tuple[str, bool]
"""A name, and True if it is that of a function."""


class _Script:
    """The file with a line for each look-up in place of the cursor's, so that it is read only once."""

    def __init__(self, question: Question) -> None:
        above, below = question.above, question.below
        self._is_open = any(_LEAVES_OPEN.search(part) is not None for part in (above, below))
        # within brackets an operand may stand above, after which only a sign lets a name follow
        sign = b"+" * bool(state_at_end(above).brackets)
        stubs = {**_STUB, "visible": sign + _STUB["visible"]}
        self._lines = [
            question.indentation + stubs[kind].replace(b"%b", name) for kind, name in question.queries
        ]
        self._first = above.count(b"\n") + 1
        # jedi takes a blank line at the end of a block for one outside it; a statement keeps it inside
        lines = [
            line + b"pass" * (kind == "visible")
            for line, (kind, _) in zip(self._lines, question.queries, strict=True)
        ]
        code = b"\n".join([above + b"\n".join(lines), below])
        places = search_path(question.path, question.folders)
        project = jedi.Project(places[0], smart_sys_path=False, added_sys_path=places)
        self._script = jedi.Script(
            code.decode(errors="replace"), path=question.path, project=project, environment=_ENVIRONMENT
        )

    def names(self, number: int, kind: NameKind) -> list[_FoundName] | None:
        """The names for the line *number*; None if there may be others."""
        position = self._first + number, len(self._lines[number].decode(errors="replace"))
        if kind == "visible" and self._is_open:
            return None
        if kind != "keywords":
            return [(name.name, _is_function(name)) for name in self._script.complete(*position)]
        signatures = self._script.get_signatures(*position)
        parameters = [parameter for signature in signatures for parameter in signature.params]
        if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters):
            return None
        return [(parameter.name, False) for parameter in parameters if parameter.kind in _TAKES_A_KEYWORD]


def _is_function(name: object) -> bool:
    """True if *name*, a completion of jedi, is a function. Imports are not followed, as that takes long."""
    return getattr(getattr(name, "_name", None), "api_type", "") == "function"


def search_path(path: Path | None, folders: Sequence[Path]) -> list[Path]:
    """The folders in which to search a module that the file at *path* imports, in order.

    These are folders of sources. Then come the packages of the environments in them, or else of this Python.
    No file in them is read.
    """
    sources = source_folders(path, folders)
    installed = [packages for folder in folders for packages in installed_packages(folder)]
    return [*dict.fromkeys([*sources, *(installed or [Path(entry) for entry in sys.path if entry])])]
