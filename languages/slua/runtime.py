"""Runs checked scripts: translation to Lua 5.4, and the sandbox in which Lua runs them.

Each statement becomes a line of its own, and the lines of the script are kept, so that Lua's messages can
name them. Types are dropped. The translation leaves no way to fail at run time:

- every round of a loop starts with `_round()`, which ends all loops once the rounds of a run are used up;
- `..` becomes `_join`, which cuts texts at a bound;
- `%` becomes that of floats, for which zero is no error;
- a value that stands for a boolean is compared with nil.

Names that start with `_` are not names of scripts, so scripts cannot reach or hide these.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from types import MethodType
from typing import Any

from fimlsp.errors import UserError
from fimlsp.extras import install_command
from fimlsp.languages.slua import syntax
from fimlsp.languages.slua.checker import Checked
from fimlsp.languages.slua.interface import Interface
from fimlsp.languages.slua.syntax import COMPARISON, OR, SUM, UNARY, operands, strength

END_LOOP = "if not _round() then break end;"
JOIN = "_join"


@dataclass(frozen=True, slots=True)
class Translation:
    """A script in Lua.

    Attributes:
        text: the Lua chunk.
        lines: for each of its lines, from the first, the line of the script that it comes from.
    """

    text: str
    lines: tuple[int, ...]


def translate(checked: Checked) -> Translation:
    """The script in Lua.

    Raises:
        ValueError: the script has faults.
    """
    if checked.script is None or checked.faults:
        raise ValueError("cannot translate a script with faults")
    text, lines, at = "", [], 1
    for line in _Translator(checked.presences).block(checked.script).split("\n")[:-1]:
        marked = line.rpartition(_MARK)
        at = int(marked[0].rpartition(_MARK)[2] or at)
        lines.append(at)
        text += f"{marked[2]}\n"
    return Translation(text, tuple(lines))


_MARK = "\x00"  # no text of a script holds it


def _lua_line(text: str, at: syntax.Position) -> str:
    """A line of Lua, marked with the line of the script that it comes from."""
    return f"{_MARK}{at[0]}{_MARK}{text}\n"


class _Translator:
    def __init__(self, presences: frozenset[int]) -> None:
        self._presences = presences

    def block(self, block: syntax.Block) -> str:
        """The statements of *block*, each in lines of its own."""
        return "".join(map(self._statement, block.statements))

    def _statement(self, statement: syntax.Statement) -> str:
        at = statement.at
        match statement:
            case syntax.Local():
                return _lua_line(f"local {statement.name} = {self._text(statement.value)};", at)
            case syntax.Assignment():
                return _lua_line(f"{self._text(statement.target)} = {self._text(statement.value)};", at)
            case syntax.CallStatement():
                return _lua_line(f"{self._text(statement.call)};", at)
            case syntax.Do():
                return self._enclosed("do", statement.body, at)
            case syntax.If():
                return self._if(statement)
            case syntax.For():
                bounds = f"{self._text(statement.first)}, {self._text(statement.last)}"
                opener = f"for {statement.name} = {bounds} do {END_LOOP}"
                return self._enclosed(opener, statement.body, at)
            case syntax.While():
                opener = f"while {self._text(statement.condition)} do {END_LOOP}"
                return self._enclosed(opener, statement.body, at)
            case syntax.Return(value=None):
                return _lua_line("return;", at)
            case syntax.Return(value=value) if value is not None:
                return _lua_line(f"return {self._text(value)};", at)
            case syntax.Break():
                return _lua_line("break;", at)
            case _:  # a type, which Lua does not have
                return ""

    def _enclosed(self, opener: str, body: syntax.Block, at: syntax.Position) -> str:
        return f"{_lua_line(opener, at)}{self.block(body)}{_lua_line('end;', at)}"

    def _if(self, statement: syntax.If) -> str:
        text, opener = "", "if"
        for condition, body in statement.branches:
            text += _lua_line(f"{opener} {self._text(condition)} then", condition.at) + self.block(body)
            opener = "elseif"
        if statement.otherwise is not None:
            text += _lua_line("else", statement.otherwise.at) + self.block(statement.otherwise)
        return text + _lua_line("end;", statement.at)

    def _text(self, expression: syntax.Expression, least: int = OR) -> str:
        """*expression*, in brackets if it binds less strongly than *least* demands: Lua counts brackets."""
        text, binds = self._plain(expression), strength(expression)
        if id(expression) in self._presences:
            text, binds = f"({text}) ~= nil" if binds <= COMPARISON else f"{text} ~= nil", COMPARISON
        return f"({text})" if binds < least else text

    def _plain(self, expression: syntax.Expression) -> str:
        match expression:
            case syntax.Number() | syntax.String():
                return expression.text
            case syntax.Boolean():
                return "true" if expression.value else "false"
            case syntax.Name() | syntax.Member() | syntax.Call():
                return self._path(expression)
            case syntax.Unary():
                return f"{expression.operator} {self._text(expression.operand, UNARY)}"
            case syntax.Chain():
                return self._chain(expression)
            case syntax.Constructor():
                entries = [f"{entry.key} = {self._text(entry.value)}" for entry in expression.entries]
                return f"{{{', '.join(entries)}}}"
            case syntax.FunctionLiteral():
                parameters = ", ".join(parameter.name for parameter in expression.parameters)
                body = self.block(expression.body)
                return f"function({parameters})\n{body}{_MARK}{expression.at[0]}{_MARK}end"

    def _path(self, path: syntax.Path) -> str:
        """A path of any length, read from its end."""
        parts = list[str]()
        while not isinstance(path, syntax.Name):
            if isinstance(path, syntax.Member):
                parts.append(f".{path.field}")
                path = path.owner
            else:
                parts.append(f"({', '.join([self._text(argument) for argument in path.arguments])})")
                path = path.callee
        return path.name + "".join(reversed(parts))

    def _chain(self, chain: syntax.Chain) -> str:
        if chain.operator == "..":
            return f"{JOIN}({', '.join([self._text(operand) for operand in chain.operands])})"
        (first, least), *others = operands(chain)
        text, is_float = self._text(first, least), False
        for operation, (operand, least) in zip(chain.operations, others, strict=True):
            if operation.operator == "%" and not is_float:
                right, is_float = f"({self._text(operand, SUM)} + 0.0)", True  # so is all that follows
            else:
                right = self._text(operand, least)
            text += f" {operation.operator} {right}"
        return text


INSTRUCTIONS = 10_000_000
ROUNDS = 10_000
TEXT_BYTES = 10_000
MEMORY_BYTES = 64_000_000

_PLACE = re.compile(r'\[string "(?P<name>[^"]*)"\]:(?P<line>\d+): (?P<message>.*)', re.DOTALL)


class LuaMissingError(UserError, RuntimeError):
    """The package that contains Lua is not installed."""


class ScriptError(UserError, RuntimeError):
    """A script was stopped; the message has its name and line, unless memory ran out."""


class Sandbox:
    """A Lua 5.4 that runs scripts for one *interface*; they reach nothing else.

    Functions in *given* are Python's, and take their declared parameters. Values of an `object` are
    Python objects, of which scripts reach the declared fields alone.

    Args:
        interface: the interface that scripts are given.
        given: the values of its globals, and of the functions that scripts end with.
        rounds: limit for all loops of one call together. After it the loops end.
        instructions: limit for one call. After it the call is stopped with a `ScriptError`. Calls that
            keep doubling reach it, and loops with thousands of statements or terms.
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
            raise ValueError(f"missing values for {', '.join(missing)}")
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
            raise ScriptError(self._located(chunk))
        self.call(chunk)

    def table(self, fields: Mapping[str, object]) -> object:
        """A value of an `interface`, as scripts make them, that the program can pass to scripts."""
        return self._table(fields)

    def call(self, function: Callable[..., Any], *arguments: object) -> object:
        """Call *function*, which a script handed to the program, and return its result.

        Raises:
            ScriptError: it was stopped.
        """
        try:
            return self._call(function, *arguments)
        except self._error as error:
            raise ScriptError(self._located(str(error))) from None
        except MemoryError:
            raise ScriptError("script stopped: memory limit exceeded") from None

    def _located(self, message: str) -> str:
        place = _PLACE.match(message)
        if place is None or place["name"] not in self._lines:
            return (message if place is None else place["message"]).partition("\n")[0]
        lines = self._lines[place["name"]]
        line = lines[min(int(place["line"]), len(lines)) - 1] if lines else 1
        return f"{place['name']}:{line}: {place['message'].partition(chr(10))[0]}"

    def _get(self, owner: object, name: object) -> object:
        if name not in self._fields:
            raise AttributeError(f"scripts cannot reach field {name!r}")
        value = getattr(owner, str(name))
        # lupa drops the first argument of a method if it is the object itself, as in `a:Is()` of Lua
        return partial(value) if isinstance(value, MethodType) else value

    def _set(self, owner: object, name: object, value: object) -> None:
        if not self._fields.get(str(name)):
            raise AttributeError(f"scripts cannot assign to field {name!r}")
        setattr(owner, str(name), value)


def _lua(memory: int, handlers: tuple[Callable[..., Any], Callable[..., Any]]) -> tuple[Any, type[Exception]]:
    try:
        from lupa.lua54 import LuaError, LuaRuntime
    except ImportError as error:
        raise LuaMissingError(
            f"Cannot run scripts: lupa is not installed. Install it: {install_command('slua')}"
        ) from error
    runtime = LuaRuntime(
        unpack_returned_tuples=True,
        register_eval=False,
        register_builtins=False,
        attribute_handlers=handlers,
        max_memory=memory,
    )
    return runtime, LuaError


def _fields_of_objects(interface: Interface) -> dict[str, bool]:
    """The fields that scripts see of the program's values; True for the mutable ones."""
    mutable: dict[str, bool] = {}
    for table in interface.types.values():
        for field in table.fields.values():
            mutable[field.name] = mutable.get(field.name, False) or field.mutable
    return mutable
