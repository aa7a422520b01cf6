"""Checks expressions against their target types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from fimlsp.languages.slua import syntax
from fimlsp.languages.slua.scopes import Scopes
from fimlsp.languages.slua.types import (
    BOOLEAN,
    NUMBER,
    STRING,
    VOID,
    Field,
    Function,
    Report,
    Simple,
    Table,
    Type,
    suggest,
)

ORDERS = ("<", "<=", ">", ">=")
EQUALITIES = ("==", "~=")
MOST_VALUES = 80
"""Values that an expression holds at once. A function of Lua 5.4 has 250 registers (`lparser.c`)."""

TOO_MANY_VALUES = (
    f"this expression needs more than {MOST_VALUES} values at once; put parts of it into variables"
)

Kind = TypeVar("Kind", Function, Table)


@dataclass(frozen=True, slots=True)
class PathValue:
    """The value that a path leads to.

    Attributes:
        type: of the value.
        fixed: the reason that forbids assignments to it; empty if they are allowed.
        optional: True if it may be absent.
    """

    type: Type
    fixed: str
    optional: bool = False


class ExpressionChecker:
    """Checks expressions in *scopes*; functions in them are passed to *check_function*.

    `presences` collects, by `id`, the expressions that are not booleans and stand for one. They are true,
    except optional fields that are absent.
    """

    def __init__(
        self,
        scopes: Scopes,
        report: Report,
        check_function: Callable[[syntax.FunctionLiteral, Function], None],
    ) -> None:
        self._scopes = scopes
        self._report = report
        self._check_function = check_function
        self.presences: set[int] = set()

    def check_whole(self, expression: syntax.Expression, target: Type) -> None:
        """As `check`, for an expression that is not part of another one; its size is checked as well."""
        if values_at_once(expression) > MOST_VALUES:
            self._report(expression.at, TOO_MANY_VALUES)
        else:
            self.check(expression, target)

    def check_call(self, call: syntax.Path) -> None:
        """Report the faults of a call that is a statement."""
        if values_at_once(call) > MOST_VALUES:
            self._report(call.at, TOO_MANY_VALUES)
        else:
            self.path(call)

    def check(self, expression: syntax.Expression, target: Type) -> None:
        """Report the faults of *expression*, whose target type is *target*."""
        if isinstance(expression, syntax.Constructor):
            self._check_constructor(expression, target)
        elif isinstance(expression, syntax.FunctionLiteral):
            if isinstance(target, Function):
                self._check_function(expression, target)
            else:
                self._report(expression.at, f"expected {_a(target)}, got a function")
        elif target is BOOLEAN:
            self._check_boolean(expression)
        else:
            inferred = self.infer(expression)
            if inferred is not None and inferred != target:
                self._report(expression.at, f"expected {_a(target)}, got {_a(inferred)}")

    def infer(self, expression: syntax.Expression) -> Type | None:
        """The type of *expression*; None after a fault, which is reported."""
        match expression:
            case syntax.Number():
                return NUMBER
            case syntax.String():
                return STRING
            case syntax.Boolean():
                return BOOLEAN
            case syntax.Name() | syntax.Member() | syntax.Call():
                return self._value(expression)
            case syntax.Unary(operator="-"):
                self.check(expression.operand, NUMBER)
                return NUMBER
            case syntax.Unary():
                self._check_boolean(expression)
                return BOOLEAN
            case syntax.Chain():
                return self._infer_chain(expression)
            case _:
                kind = "a table" if isinstance(expression, syntax.Constructor) else "a function"
                self._report(expression.at, f"{kind} is only allowed where its type is known")
                return None

    def path(self, path: syntax.Path) -> PathValue | None:
        """The value that *path* leads to; None after a fault, which is reported."""
        match path:
            case syntax.Name():
                variable = self._scopes.variable(path.name)
                if variable is None:
                    self._report(
                        path.at,
                        f"unknown variable `{path.name}`{suggest(path.name, self._scopes.names())}",
                    )
                    return None
                if variable.type is VOID:
                    self._report(
                        path.at, f"`{path.name}` can only be called as the last statement of a script"
                    )
                    return None
                return PathValue(variable.type, variable.fixed)
            case syntax.Member():
                return self._member(path)
            case syntax.Call():
                return self._call(path)

    def _value(self, path: syntax.Path) -> Type | None:
        value = self.path(path)
        if value is None:
            return None
        if value.type is VOID:
            self._report(path.at, "this function returns no value")
            return None
        if value.optional:
            self._report(path.at, "this field may be absent; it can only be tested, or assigned to")
            return None
        return value.type

    def _member(self, path: syntax.Member) -> PathValue | None:
        field = self.field(path)
        if field is None:
            return None
        fixed = "" if field.mutable else f"the field `{path.field}` is not mutable"
        return PathValue(field.type, fixed, field.optional)

    def field(self, path: syntax.Member) -> Field | None:
        """The field at the end of *path*; None after a fault, which is reported."""
        owner = self._kind(Table, path.owner, path.at, "{} has no fields")
        if owner is None:
            return None
        field = owner.fields.get(path.field)
        if field is None:
            self._report(
                path.at, f"{owner} has no field `{path.field}`{suggest(path.field, list(owner.fields))}"
            )
        return field

    def _kind(self, kind: type[Kind], path: syntax.Path, at: syntax.Position, wrong: str) -> Kind | None:
        """The type of *path* if it is of that *kind*; otherwise the message *wrong* is reported."""
        type_ = self._value(path)
        if isinstance(type_, kind):
            return type_
        if type_ is not None:
            self._report(at, wrong.format(_a(type_)))
        return None

    def _call(self, call: syntax.Call) -> PathValue | None:
        callee = self._kind(Function, call.callee, call.at, "{} cannot be called")
        if callee is None:
            return None
        given, wanted = len(call.arguments), len(callee.parameters)
        if given != wanted:
            self._report(call.at, f"expected {wanted} arguments for {callee}, got {given}")
        for argument, parameter in zip(call.arguments, callee.parameters, strict=False):
            self.check(argument, parameter)
        return PathValue(callee.result, "results of functions are not assignable")

    def _check_constructor(self, table: syntax.Constructor, target: Type) -> None:
        if not isinstance(target, Table):
            self._report(table.at, f"expected {_a(target)}, got a table")
            return
        if target.is_object:
            self._report(table.at, f"scripts cannot make {_a(target)}")
            return
        given: set[str] = set()
        for entry in table.entries:
            field = target.fields.get(entry.key)
            if field is None:
                known = suggest(entry.key, list(target.fields))
                self._report(entry.at, f"{target} has no field `{entry.key}`{known}")
            elif entry.key in given:
                self._report(entry.at, f"`{entry.key}` is given twice")
            else:
                self.check(entry.value, field.type)
            given.add(entry.key)
        missing = [name for name, field in target.fields.items() if not field.optional and name not in given]
        if missing:
            self._report(table.at, f"{target} needs {', '.join(f'`{name}`' for name in missing)} too")

    def _check_boolean(self, expression: syntax.Expression) -> None:
        match expression:
            case syntax.Unary(operator="not"):
                self.check(expression.operand, BOOLEAN)
            case syntax.Chain(operator="and" | "or"):
                for operand in expression.operands:
                    self.check(operand, BOOLEAN)
            case syntax.Name() | syntax.Member() | syntax.Call():
                value = self.path(expression)
                if value is None:
                    return
                if value.type is VOID:
                    self._report(expression.at, "this function returns no value")
                elif value.type is not BOOLEAN or value.optional:
                    self.presences.add(id(expression))
            case _:
                if self.infer(expression) not in (BOOLEAN, None):
                    self.presences.add(id(expression))

    def _infer_chain(self, chain: syntax.Chain) -> Type:
        operator = chain.operator
        if operator in ("and", "or"):
            self._check_boolean(chain)
            return BOOLEAN
        if operator in ORDERS or operator in EQUALITIES:
            left = self.infer(chain.first)
            for comparison in chain.operations:
                self._check_comparison(left, comparison)
                left = BOOLEAN
            return BOOLEAN
        target = STRING if operator == ".." else NUMBER
        for operand in chain.operands:
            self.check(operand, target)
        return target

    def _check_comparison(self, left: Type | None, comparison: syntax.Operation) -> None:
        operator, operand = comparison.operator, comparison.operand
        if left is None:
            return
        if isinstance(left, Function) or (operator in ORDERS and left not in (NUMBER, STRING)):
            self._report(comparison.at, f"{_a(left)} cannot be compared with `{operator}`")
        elif left is BOOLEAN:
            right = self.infer(operand)
            if right not in (BOOLEAN, None):
                self._report(operand.at, f"expected a boolean, got {_a(right)}")
        else:
            self.check(operand, left)


def _a(type_: Type | None) -> str:
    if isinstance(type_, Function):
        return f"a function {type_}"
    article = "an" if isinstance(type_, Table) and type_.name[0] in "AEIOUaeiou" else "a"
    return f"{article} {type_}" if not isinstance(type_, Simple) or type_ is not VOID else "nothing"


def values_at_once(expression: syntax.Expression) -> int:
    """Number of values that the evaluation of *expression* in Lua holds at once.

    A function is held with its arguments, and so are the parts of a joined text. An operator only holds the
    value on its left.
    """
    match expression:
        case syntax.Member():
            return values_at_once(expression.owner)
        case syntax.Call():
            parts: tuple[syntax.Expression, ...] = (expression.callee, *expression.arguments)
            return max(number + values_at_once(part) for number, part in enumerate(parts))
        case syntax.Unary():
            return values_at_once(expression.operand)
        case syntax.Chain(operator=".."):
            return max(1 + number + values_at_once(part) for number, part in enumerate(expression.operands))
        case syntax.Chain():
            held = max(values_at_once(operation.operand) for operation in expression.operations)
            return max(values_at_once(expression.first), 1 + held)
        case syntax.Constructor():
            return 1 + max((values_at_once(entry.value) for entry in expression.entries), default=0)
        case _:
            return 1
