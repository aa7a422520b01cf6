"""The state before a script, and after each byte of it."""

from __future__ import annotations

from fimlsp.languages.slua.incremental.environment import Environment
from fimlsp.languages.slua.incremental.machine import Machine
from fimlsp.languages.slua.incremental.statements import Block, ScriptEnd, ScriptStatements
from fimlsp.languages.slua.interface import Interface, UnknownRootError
from fimlsp.languages.typed.state import TextState


class ScriptState(TextState[Machine]):
    """The state after the first bytes of a script."""


def begin(interface: Interface, root: str | None = None) -> ScriptState:
    """The state before a script that is given *interface*.

    With *root* it has to be a script of that kind; otherwise it may be of any kind, or of none.

    Raises:
        UnknownRootError: the kind is unknown, or no script can be of it.
    """
    endings, environment = interface.endings(root), Environment.of(interface)
    if root is not None and not environment.inhabitants.has(interface.roots[root].type):
        raise UnknownRootError(
            f"no script can be of the kind `{root}`: no value of {interface.roots[root].type} can be made"
        )
    statements = ScriptStatements(must_return=root is not None, endings=tuple(sorted(endings)))
    return ScriptState(Machine(None, environment, Block).push(statements, ScriptEnd()))
