"""Runs scripts: their registrations, and their hooks, which the game calls on events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from engine.given_values import Table
from engine.library import Library, Script
from fimlsp.languages.slua.runtime import Sandbox, ScriptError
from fimlsp.languages.slua.types import BOOLEAN, NUMBER, STRING, Type

MOST_NESTED = 3
"""Hooks that may run within each other: harm in a hook calls hooks, whose harm calls hooks."""

MOST_BODIES = 500
"""Calls of bodies, for actors and places, in one hook and all that it triggers."""

Hook = Callable[..., Any]

SIMPLE_VALUES: Mapping[Type, object] = {NUMBER: 2, STRING: "something", BOOLEAN: True}
ROUNDS, INSTRUCTIONS = 100, 200_000


class Scripting:
    """A sandbox for the scripts of *library*, given the *values* of its interface's globals.

    *stopped* is called with the reason when a hook is stopped.
    """

    def __init__(
        self, library: Library, values: Mapping[str, object], stopped: Callable[[str], None]
    ) -> None:
        self._library = library
        self._nested = 0
        self._bodies = 0
        self._stopped = stopped
        self._registered: list[Table] = []
        endings = dict.fromkeys(library.interface.endings(None), self._registered.append)
        self._sandbox = Sandbox(
            library.interface, {**values, **endings}, rounds=ROUNDS, instructions=INSTRUCTIONS
        )

    def run_all(self, register: Callable[[Script, Table], None]) -> None:
        """Run the scripts; *register* is called with each, and with the table that it has registered."""
        for script in self._library.scripts:
            self._bodies = MOST_BODIES
            try:
                self._sandbox.run(script.lua, script.name)
            except ScriptError as error:
                self._stopped(str(error))
            for registered in self._registered:
                register(script, registered)
            self._registered.clear()

    def settings(self, effect: str) -> Table | None:
        """Settings of the effect *effect*, for the game to apply it; None if they are not simple."""
        fields = self._library.interface.types[f"{effect}_Settings"].fields.values()
        if not all(field.type in SIMPLE_VALUES for field in fields):
            return None
        return self._sandbox.table({field.name: SIMPLE_VALUES[field.type] for field in fields})

    def call(self, hook: Hook | None, *arguments: object, otherwise: object = None) -> Any:  # noqa: ANN401 - as the interface says
        """The result of *hook*; *otherwise* if there is none, too many run already, or it was stopped."""
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
        """Call *body*, which a script handed over, with each of *values*, up to the limit."""
        for value in values:
            if self._bodies <= 0:
                return
            self._bodies -= 1
            self._sandbox.call(body, value)
