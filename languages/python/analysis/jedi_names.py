"""Asks jedi which names are known in a line. The only module that imports it.

Nothing of the user's code is run: jedi reads source, and imports compiled modules of the standard library
alone, as that is all that the environment given to it has. Third-party packages are read as source.
"""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from inspect import Parameter
from pathlib import Path

import jedi
from jedi.api.environment import InterpreterEnvironment

from fimlsp.languages.python.analysis.questions import Finding, Question
from fimlsp.languages.python.analysis.search_path import search_path
from fimlsp.languages.python.names.known_names import Kind, Wanted

_LEAVES_OPEN = re.compile(
    rb"^[ \t]*from[ \t]+\S+[ \t]+import[ \t]+\*|\b(?:exec|globals|vars|locals)[ \t]*\(", re.M
)
_STUB: dict[Kind, bytes] = {
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
        """Where compiled modules may be imported from."""
        paths = sysconfig.get_paths()
        return [paths["stdlib"], paths["platstdlib"], str(Path(paths["platstdlib"]) / "lib-dynload")]


_ENVIRONMENT = _StandardLibrary()


def read_builtins(trees: Path | None = None) -> None:
    """Read what each look-up needs, which takes longer than one may.

    Args:
        trees: where parse trees are kept; None: where jedi keeps them.

    Raises:
        RuntimeError: jedi does not find even these, as where it may not make a folder for its parse trees.
    """
    if trees is not None:
        jedi.settings.cache_directory = str(trees)
    found = jedi.Script("le", environment=_ENVIRONMENT).complete(1, 2)
    if "len" not in [each.name for each in found]:
        raise RuntimeError("jedi does not find the built-in names.")


def find_names(
    question: Question, limited: Callable[[Wanted], AbstractContextManager[None]]
) -> Iterator[Finding]:
    """The answers to *question*; what cannot be known is left out.

    Each look-up is made within *limited*, which may give it up and goes on behind it.
    """
    script = None
    for number, wanted in enumerate(question.wanted):
        found: list[_Found] | None = None
        with limited(wanted), suppress(Exception):  # jedi fails in many ways on what it did not foresee
            script = script or _Script(question)
            found = script.names(number, wanted[0])
        if found:
            names = tuple(each.encode() for each, _ in found)
            functions = tuple(each.encode() for each, is_function in found if is_function)
            yield Finding(wanted, names, functions)


_Found = tuple[str, bool]
"""A name, and whether it is that of a function."""


class _Script:
    """The file with a line for each look-up in place of the cursor's, so that it is read but once."""

    def __init__(self, question: Question) -> None:
        above, below = question.above, question.below
        self._is_open = any(_LEAVES_OPEN.search(part) is not None for part in (above, below))
        self._lines = [
            question.indentation + _STUB[kind].replace(b"%b", name) for kind, name in question.wanted
        ]
        self._first = above.count(b"\n") + 1
        # where only blanks end a block, jedi is not in it: a statement behind the place keeps it there
        lines = [
            line + b"pass" * (kind == "visible")
            for line, (kind, _) in zip(self._lines, question.wanted, strict=True)
        ]
        code = b"\n".join([above + b"\n".join(lines), below])
        places = search_path(question.path, question.folders)
        project = jedi.Project(places[0], smart_sys_path=False, added_sys_path=places)
        self._script = jedi.Script(
            code.decode(errors="replace"), path=question.path, project=project, environment=_ENVIRONMENT
        )

    def names(self, number: int, kind: Kind) -> list[_Found] | None:
        """The names for the line *number*; None if they cannot be known."""
        place = self._first + number, len(self._lines[number].decode(errors="replace"))
        if kind == "visible" and self._is_open:
            return None
        if kind != "keywords":
            return [(each.name, _is_function(each)) for each in self._script.complete(*place)]
        parameters = [parameter for each in self._script.get_signatures(*place) for parameter in each.params]
        if any(each.kind is Parameter.VAR_KEYWORD for each in parameters):
            return None
        return [(each.name, False) for each in parameters if each.kind in _TAKES_A_KEYWORD]


def _is_function(name: object) -> bool:
    """Whether *name*, of jedi, is that of a function; imports are not followed, as that takes long."""
    return getattr(getattr(name, "_name", None), "api_type", "") == "function"
