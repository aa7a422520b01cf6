"""Translates a checked script to Lua 5.4.

Each statement stands in a line of its own, and the lines of the script are kept, so that what Lua says of a
line can be told of the script. Types are dropped. What could go wrong at run time is made so that it cannot:

- every round of a loop asks `_round()` first, which ends all loops when the rounds of a run are used up;
- `..` goes through `_join`, which cuts texts at a bound;
- `%` is that of floats, for which zero is no error;
- where a value stands for a truth value, it is asked whether it is there.

Names that begin with `_` are not names of scripts, so these cannot be reached or hidden.
"""

from __future__ import annotations

from dataclasses import dataclass

from fimlsp.languages.slua import syntax
from fimlsp.languages.slua.checking.checker import Checked

ROUND = "_round"
JOIN = "_join"


@dataclass(frozen=True, slots=True)
class Translation:
    """A script in Lua.

    Attributes:
        text: what Lua loads.
        lines: for each line of it, from the first, the line of the script that it comes from.
    """

    text: str
    lines: tuple[int, ...]


def translate(checked: Checked) -> Translation:
    """The script in Lua.

    Raises:
        ValueError: the script has faults.
    """
    if checked.script is None or checked.faults:
        raise ValueError("a script with faults cannot be translated")
    text, lines, at = "", [], 1
    for line in _Translator(checked.presences).block(checked.script).splitlines():
        marked = line.rpartition(_MARK)
        at = int(marked[0].rpartition(_MARK)[2] or at)
        lines.append(at)
        text += f"{marked[2]}\n"
    return Translation(text, tuple(lines))


_MARK = "\x00"  # no text of a script holds it


def _line(text: str, at: syntax.Place) -> str:
    """A line of Lua that tells where it comes from."""
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
                return _line(f"local {statement.name} = {self._text(statement.value)};", at)
            case syntax.Assignment():
                return _line(f"{self._text(statement.target)} = {self._text(statement.value)};", at)
            case syntax.CallStatement():
                return _line(f"{self._text(statement.call)};", at)
            case syntax.Do():
                return self._enclosed("do", statement.body, at)
            case syntax.If():
                return self._if(statement)
            case syntax.For():
                bounds = f"{self._text(statement.first)}, {self._text(statement.last)}"
                opener = f"for {statement.name} = {bounds} do if not {ROUND}() then break end;"
                return self._enclosed(opener, statement.body, at)
            case syntax.While():
                opener = f"while {ROUND}() and {self._text(statement.condition)} do"
                return self._enclosed(opener, statement.body, at)
            case syntax.Return(value=None):
                return _line("return;", at)
            case syntax.Return(value=value) if value is not None:
                return _line(f"return {self._text(value)};", at)
            case syntax.Break():
                return _line("break;", at)
            case _:  # a type, of which nothing remains
                return ""

    def _enclosed(self, opener: str, body: syntax.Block, at: syntax.Place) -> str:
        return f"{_line(opener, at)}{self.block(body)}{_line('end;', at)}"

    def _if(self, statement: syntax.If) -> str:
        text, opener = "", "if"
        for condition, body in statement.branches:
            text += _line(f"{opener} {self._text(condition)} then", condition.at) + self.block(body)
            opener = "elseif"
        if statement.otherwise is not None:
            text += _line("else", statement.otherwise.at) + self.block(statement.otherwise)
        return text + _line("end;", statement.at)

    def _text(self, expression: syntax.Expression) -> str:
        text = self._plain(expression)
        return f"({text} ~= nil)" if id(expression) in self._presences else text

    def _plain(self, expression: syntax.Expression) -> str:
        match expression:
            case syntax.Number() | syntax.String():
                return expression.text
            case syntax.Boolean():
                return "true" if expression.value else "false"
            case syntax.Name():
                return expression.name
            case syntax.Member():
                return f"{self._text(expression.owner)}.{expression.field}"
            case syntax.Call():
                return f"{self._text(expression.callee)}({', '.join(map(self._text, expression.arguments))})"
            case syntax.Unary():
                return f"({expression.operator} {self._text(expression.operand)})"
            case syntax.Binary():
                return self._binary(expression)
            case syntax.Constructor():
                entries = (f"{entry.key} = {self._text(entry.value)}" for entry in expression.entries)
                return f"{{{', '.join(entries)}}}"
            case syntax.FunctionLiteral():
                parameters = ", ".join(parameter.name for parameter in expression.parameters)
                body = self.block(expression.body)
                return f"function({parameters})\n{body}{_MARK}{expression.at[0]}{_MARK}end"

    def _binary(self, expression: syntax.Binary) -> str:
        left, right = self._text(expression.left), self._text(expression.right)
        if expression.operator == "..":
            return f"{JOIN}({left}, {right})"
        if expression.operator == "%":
            return f"(({left} + 0.0) % {right})"
        return f"({left} {expression.operator} {right})"
