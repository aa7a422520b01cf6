"""Reads scripts and interface files into syntax trees; faults are reported with their position."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, cast

from lark import Lark, Token, UnexpectedCharacters, UnexpectedInput, UnexpectedToken, v_args
from lark.tree import Meta
from lark.visitors import Transformer_NonRecursive

from fimlsp.languages.slua import syntax
from fimlsp.languages.slua.syntax import Position


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """A fault in a script or an interface file.

    Attributes:
        at: its line and column, both from 1.
        message: the fault, with the expected or the known alternatives.
    """

    at: Position
    message: str

    def __str__(self) -> str:
        return f"{self.at[0]}:{self.at[1]}: {self.message}"


class ScriptSyntaxError(ValueError):
    """A text is not a sentence of the grammar; `fault` is the first error."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(str(fault))
        self.fault = fault


_EXPECTED = {
    "NAME": "a name",
    "DOCUMENTATION": "a line of documentation",
    "KIND": "interface, object",
    "MODIFIER": "mutable, optional",
    "$END": "the end of the file",
}
_GROUPS = {
    "a statement": ("LOCAL", "NAME", "BREAK", "DO", "FOR", "IF", "INTERFACE", "RETURN", "WHILE"),
    "a value": ("NUMBER", "NAME", "STRING", "TRUE", "FALSE", "FUNCTION", "NOT", "MINUS", "LPAR", "LBRACE"),
    "an operator": ("OR", "AND", "COMPARISON", "CONCATENATION", "PLUS", "MINUS", "TIMES", "POWER"),
}
"""Groups of terminals that a message names in one word; the first of each stands for the group."""

_LACKING = frozenset(("goto", "in", "nil", "repeat", "until"))
"""Keywords of Lua that scripts do not have."""


def parse_script(text: str) -> syntax.Block:
    """The tree of a script.

    Raises:
        ScriptSyntaxError: the text is not a script.
    """
    return cast(syntax.Block, _parse("script.lark", text))


Declaration = syntax.TableSyntax | syntax.GlobalSyntax | syntax.RootSyntax


def parse_interface(text: str) -> tuple[Declaration, ...]:
    """The declarations of an interface file, in their order.

    Raises:
        ScriptSyntaxError: the text is not an interface file.
    """
    return cast("tuple[Declaration, ...]", _parse("interface.lark", text))


def _parse(grammar: str, text: str) -> object:
    parser = _parser(grammar)
    try:
        return _Builder().transform(parser.parse(text))
    except UnexpectedInput as error:
        raise ScriptSyntaxError(_fault(parser, text, error)) from None


@cache
def _parser(grammar: str) -> Lark:
    folder = files(__package__)
    text = "\n".join(folder.joinpath(name).read_text("utf-8") for name in (grammar, "shared.lark"))
    return Lark(text, parser="lalr", propagate_positions=True, maybe_placeholders=False)


def _fault(parser: Lark, text: str, error: UnexpectedInput) -> Fault:
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        lines = text.rstrip("\r\n").split("\n")
        wanted = "a `;` is missing" if "SEMICOLON" in error.accepts else _expectation(parser, error.accepts)
        return Fault((len(lines), len(lines[-1]) + 1), f"unexpected end; {wanted}")
    at = (error.line, error.column)
    if isinstance(error, UnexpectedToken):
        if "SEMICOLON" in error.accepts and re.match("[A-Za-z]", error.token):
            return Fault(at, f"a `;` is missing before `{error.token}`")
        if error.token == ":" and "DOT" in error.accepts:
            return Fault(at, "unexpected `:`; fields are reached with `.`")
        return Fault(at, f"unexpected `{error.token}`; {_expectation(parser, error.accepts)}")
    rest = text[error.pos_in_stream or 0 :]
    accepted = error.allowed if isinstance(error, UnexpectedCharacters) else None
    if rest.startswith("--"):
        return Fault(at, "scripts have no comments")
    if rest.startswith('"'):
        return Fault(at, 'this string has no closing ", or an escape other than \\n \\t \\" \\\\')
    word = re.match(r"\w+|.", rest, re.DOTALL)
    if word and word[0] in _LACKING:
        return Fault(at, f"scripts have no `{word[0]}`")
    return Fault(at, f"unexpected `{word[0] if word else ''}`; {_expectation(parser, accepted)}")


def _expectation(parser: Lark, names: Any) -> str:  # noqa: ANN401 -- lark types it as a set of str or as None
    """The expected terminals, in words."""
    left, groups = set(names or ()) - {"BLANK", "COMMENT"}, list[str]()
    for group, (first, *others) in _GROUPS.items():
        if first in left:
            left, groups = left - {first, *others}, [*groups, group]
    texts = {terminal.name: terminal.pattern.raw or terminal.pattern.value for terminal in parser.terminals}
    expected = [*groups, *sorted(_EXPECTED.get(name, texts.get(name, name).strip('"')) for name in left)]
    return f"expected {' or '.join(expected)}" if expected else "nothing is allowed here"


def _at(meta: Meta) -> syntax.Position:
    return (meta.line, meta.column) if not meta.empty else (1, 1)


def _documentation(tokens: list[Any]) -> str:
    return "\n".join(str(token)[3:].strip() for token in tokens if _is(token, "DOCUMENTATION"))


def _is(child: object, kind: str) -> bool:
    return isinstance(child, Token) and child.type == kind


def _name_of(children: list[Any]) -> Token:
    return cast(Token, next(child for child in children if _is(child, "NAME")))


def _token_at(token: Token) -> syntax.Position:
    return cast(int, token.line), cast(int, token.column)


@v_args(meta=True)
class _Builder(Transformer_NonRecursive[Token, Any]):
    """Builds the nodes of `syntax.py` from Lark's tree; a method is called as its rule."""

    def start(self, _: Meta, children: list[Any]) -> object:
        return children[0] if children and isinstance(children[0], syntax.Block) else tuple(children)

    def block(self, meta: Meta, children: list[Any]) -> syntax.Block:
        return syntax.Block(_at(meta), tuple(children))

    # types

    def named_type(self, meta: Meta, children: list[Any]) -> syntax.NamedType:
        return syntax.NamedType(_at(meta), str(children[0]))

    def parameter_type(self, _: Meta, children: list[Any]) -> object:
        return children[-1]

    def function_type(self, meta: Meta, children: list[Any]) -> syntax.FunctionType:
        *parameters, result = children
        return syntax.FunctionType(
            _at(meta), tuple(parameters), syntax.NamedType(_token_at(result), str(result))
        )

    def field(self, _: Meta, children: list[Any]) -> syntax.FieldSyntax:
        name = _name_of(children)
        modifiers = frozenset(str(child) for child in children if _is(child, "MODIFIER"))
        return syntax.FieldSyntax(
            _token_at(name), str(name), children[-1], modifiers, _documentation(children)
        )

    def table_type(self, _: Meta, children: list[Any]) -> syntax.TableSyntax:
        name = _name_of(children)
        fields = tuple(child for child in children if isinstance(child, syntax.FieldSyntax))
        is_object = any(_is(child, "KIND") and child == "object" for child in children)
        return syntax.TableSyntax(_token_at(name), str(name), fields, is_object, _documentation(children))

    def global_(self, _: Meta, children: list[Any]) -> syntax.GlobalSyntax:
        name = _name_of(children)
        return syntax.GlobalSyntax(_token_at(name), str(name), children[-1], _documentation(children))

    def open_type(self, _: Meta, children: list[Any]) -> syntax.TableSyntax:
        name = _name_of(children)
        return syntax.TableSyntax(_token_at(name), str(name), (), False, _documentation(children), True)

    def root(self, _: Meta, children: list[Any]) -> syntax.RootSyntax:
        name, function, type_, *offered = (child for child in children if not _is(child, "DOCUMENTATION"))
        offers = (offered[0], offered[1]) if offered else None
        return syntax.RootSyntax(
            _token_at(name), str(name), str(function), type_, offers, _documentation(children)
        )

    # expressions

    def number(self, meta: Meta, children: list[Any]) -> syntax.Number:
        return syntax.Number(_at(meta), str(children[0]))

    def string(self, meta: Meta, children: list[Any]) -> syntax.String:
        return syntax.String(_at(meta), str(children[0]))

    def true(self, meta: Meta, _: list[Any]) -> syntax.Boolean:
        return syntax.Boolean(_at(meta), True)

    def false(self, meta: Meta, _: list[Any]) -> syntax.Boolean:
        return syntax.Boolean(_at(meta), False)

    def name(self, meta: Meta, children: list[Any]) -> syntax.Name:
        return syntax.Name(_at(meta), str(children[0]))

    def member(self, _: Meta, children: list[Any]) -> syntax.Member:
        return syntax.Member(_token_at(children[1]), children[0], str(children[1]))

    def call(self, meta: Meta, children: list[Any]) -> syntax.Call:
        return syntax.Call(_at(meta), children[0], tuple(children[1:]))

    def unary(self, meta: Meta, children: list[Any]) -> syntax.Unary:
        return syntax.Unary(_at(meta), str(children[0]), children[1])

    def chain(self, _: Meta, children: list[Any]) -> syntax.Chain:
        first, *rest = children
        operations = tuple(
            syntax.Operation(_token_at(operator), str(operator), operand)
            for operator, operand in zip(rest[::2], rest[1::2], strict=True)
        )
        return syntax.Chain(operations[-1].at, first, operations)

    def entry(self, meta: Meta, children: list[Any]) -> syntax.Entry:
        return syntax.Entry(_at(meta), str(children[0]), children[1])

    def constructor(self, meta: Meta, children: list[Any]) -> syntax.Constructor:
        return syntax.Constructor(_at(meta), tuple(children))

    def function(self, meta: Meta, children: list[Any]) -> syntax.FunctionLiteral:
        *names, body = children
        parameters = tuple(syntax.Name(_token_at(name), str(name)) for name in names)
        return syntax.FunctionLiteral(_at(meta), parameters, body)

    # statements

    def local(self, _: Meta, children: list[Any]) -> syntax.Local:
        name, type_, value = children
        return syntax.Local(_token_at(name), str(name), type_, value)

    def assignment(self, meta: Meta, children: list[Any]) -> syntax.Assignment:
        return syntax.Assignment(_at(meta), *children)

    def call_statement(self, meta: Meta, children: list[Any]) -> syntax.CallStatement:
        return syntax.CallStatement(_at(meta), children[0])

    def do(self, meta: Meta, children: list[Any]) -> syntax.Do:
        return syntax.Do(_at(meta), children[0])

    def elseif(self, _: Meta, children: list[Any]) -> tuple[syntax.Expression, syntax.Block]:
        return children[0], children[1]

    def if_(self, meta: Meta, children: list[Any]) -> syntax.If:
        condition, body, *rest = children
        otherwise = rest.pop() if rest and isinstance(rest[-1], syntax.Block) else None
        return syntax.If(_at(meta), ((condition, body), *rest), otherwise)

    def for_(self, _: Meta, children: list[Any]) -> syntax.For:
        name, *rest = children
        return syntax.For(_token_at(name), str(name), *rest)

    def while_(self, meta: Meta, children: list[Any]) -> syntax.While:
        return syntax.While(_at(meta), *children)

    def return_(self, meta: Meta, children: list[Any]) -> syntax.Return:
        return syntax.Return(_at(meta), children[0] if children else None)

    def break_(self, meta: Meta, _: list[Any]) -> syntax.Break:
        return syntax.Break(_at(meta))
