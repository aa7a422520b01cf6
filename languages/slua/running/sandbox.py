"""Runs translated scripts in a Lua 5.4 of their own, in which they reach only what they are given."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from importlib.resources import files
from types import MethodType
from typing import Any

from fimlsp.errors import UserError
from fimlsp.extras import install_command
from fimlsp.languages.slua.interface import Interface
from fimlsp.languages.slua.running.translation import Translation

INSTRUCTIONS = 10_000_000
ROUNDS = 10_000
TEXT_BYTES = 10_000
MEMORY_BYTES = 64_000_000

_PLACE = re.compile(r'\[string "(?P<name>[^"]*)"\]:(?P<line>\d+): (?P<message>.*)', re.DOTALL)


class LuaMissingError(UserError, RuntimeError):
    """The package that has Lua is not installed."""


class ScriptError(UserError, RuntimeError):
    """A script was stopped; the message has its name and line."""


class Sandbox:
    """A Lua that runs scripts for one *interface*.

    Args:
        interface: what scripts are given.
        given: the values of its globals, and of what scripts end with. Functions are Python's, and take what
            they are declared to take; values of an `object` are Python objects, of which scripts reach the
            declared fields alone.
        rounds: of all loops of one call together; then they end.
        instructions: of one call; then it is stopped with a `ScriptError`. Only calls that double and double
            can come to this.
        memory: bytes of this Lua.

    Raises:
        LuaMissingError: the package `lupa` is not installed.
        ValueError: a global of the interface has no value.
    """

    def __init__(
        self,
        interface: Interface,
        given: Mapping[str, object],
        *,
        rounds: int = ROUNDS,
        instructions: int = INSTRUCTIONS,
        memory: int = MEMORY_BYTES,
    ) -> None:
        names = (*interface.globals, *interface.endings(None))
        missing = sorted(set(names) - given.keys())
        if missing:
            raise ValueError(f"no value is given for {', '.join(missing)}")
        self._fields = _fields_of_objects(interface)
        self._failure: BaseException | None = None
        runtime, self._error = _lua(memory, (self._get, self._set))
        prepare = runtime.execute(files(__package__).joinpath("sandbox.lua").read_text("utf-8"))
        environment, self._load, self._call = prepare(rounds, instructions, TEXT_BYTES)
        self._table = runtime.table_from
        self._lines: dict[str, tuple[int, ...]] = {}
        for name in names:
            environment[name] = given[name]

    def run(self, script: Translation, name: str = "script") -> None:
        """Run the statements of *script*.

        Raises:
            ScriptError: it was stopped.
        """
        self._lines[name] = script.lines
        chunk = self._load(script.text, name)
        if isinstance(chunk, str):
            raise ScriptError(self._told(chunk))
        self.call(chunk)

    def table(self, fields: Mapping[str, object]) -> object:
        """A value of an `interface`, as scripts make them, for the program to give to scripts."""
        return self._table(fields)

    def call(self, function: Callable[..., Any], *arguments: object) -> object:
        """What *function* gives, which a script handed to the program.

        Raises:
            ScriptError: it was stopped.
        """
        try:
            return self._call(function, *arguments)
        except self._error as error:
            raise ScriptError(self._told(str(error))) from None
        except MemoryError:
            raise ScriptError("the script was stopped: it used too much memory") from None

    def _told(self, message: str) -> str:
        found = _PLACE.match(message)
        if found is None or found["name"] not in self._lines:
            return message.partition("\n")[0]
        lines = self._lines[found["name"]]
        line = lines[min(int(found["line"]), len(lines)) - 1] if lines else 1
        return f"{found['name']}:{line}: {found['message'].partition(chr(10))[0]}"

    def _get(self, owner: object, name: object) -> object:
        if name not in self._fields:
            raise AttributeError(f"scripts have no field {name!r}")
        value = getattr(owner, str(name))
        # lupa takes the first argument of a method away if it is the object itself, as in `a:Is()` of Lua
        return partial(value) if isinstance(value, MethodType) else value

    def _set(self, owner: object, name: object, value: object) -> None:
        if not self._fields.get(str(name)):
            raise AttributeError(f"scripts may not assign to {name!r}")
        setattr(owner, str(name), value)


def _lua(memory: int, handlers: tuple[Callable[..., Any], Callable[..., Any]]) -> tuple[Any, type[Exception]]:
    try:
        from lupa.lua54 import LuaError, LuaRuntime
    except ImportError as error:
        raise LuaMissingError(f"running scripts needs lupa; install it: {install_command('slua')}") from error
    runtime = LuaRuntime(
        unpack_returned_tuples=True,
        register_eval=False,
        register_builtins=False,
        attribute_handlers=handlers,
        max_memory=memory,
    )
    return runtime, LuaError


def _fields_of_objects(interface: Interface) -> dict[str, bool]:
    """The fields that values of the program have for scripts, each with whether they may assign to it."""
    found: dict[str, bool] = {}
    for table in interface.types.values():
        for field in table.fields.values():
            found[field.name] = found.get(field.name, False) or field.mutable
    return found
