"""Runs scripts: what they register, and their hooks, which the game calls when something happens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fimlsp.languages.slua.running.sandbox import Sandbox, ScriptError

from engine.library import Library, Script

MOST_NESTED = 3
"""Hooks that may run within each other: harm that a hook does calls hooks, whose harm calls hooks."""

MOST_BODIES = 500
"""Bodies that one hook, with all that it sets off, is given to go through actors and places."""

ROUNDS, INSTRUCTIONS = 500, 200_000


class Scripting:
    """A sandbox with the scripts of *library*, given the *values* of its interface's globals.

    *register* is called with each script and what it registered; *stopped* with why a hook was stopped.
    """

    def __init__(
        self,
        library: Library,
        values: Mapping[str, object],
        register: Callable[[Script, Any], None],
        stopped: Callable[[str], None],
    ) -> None:
        self._nested = 0
        self._bodies = 0
        self._stopped = stopped
        registered: list[Any] = []
        endings = dict.fromkeys(library.interface.endings(None), registered.append)
        self._sandbox = Sandbox(
            library.interface, {**values, **endings}, rounds=ROUNDS, instructions=INSTRUCTIONS
        )
        for script in library.scripts:
            try:
                self._sandbox.run(script.lua, script.name)
            except ScriptError as error:
                stopped(str(error))
            for each in registered:
                register(script, each)
            registered.clear()

    def call(self, hook: Callable[..., Any] | None, *arguments: object, otherwise: Any = None) -> Any:  # noqa: ANN401
        """What *hook* gives; *otherwise* if there is none, if too many run already, or if it was stopped."""
        if hook is None or self._nested >= MOST_NESTED:
            return otherwise
        if not self._nested:
            self._bodies = MOST_BODIES
        self._nested += 1
        try:
            return self._sandbox.call(hook, *arguments)
        except ScriptError as error:
            self._stopped(str(error))
            return otherwise
        finally:
            self._nested -= 1

    def each(self, body: Callable[[Any], None], values: Iterable[object]) -> None:
        """Call *body*, which a script handed over, with each of *values*, until it was given enough."""
        for value in values:
            if self._bodies <= 0:
                return
            self._bodies -= 1
            self._sandbox.call(body, value)
