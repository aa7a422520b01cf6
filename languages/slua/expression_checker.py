"""Checks expressions against their target types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fimlsp.languages.slua import syntax
from fimlsp.languages.slua.scopes import Scopes
from fimlsp.languages.slua.sizes import MOST_HELD, values_at_once
from fimlsp.languages.slua.types import (
    BOOLEAN,
    NUMBER,
    STRING,
    VOID,
    Function,
    Report,
    Simple,
    Table,
    Type,
    suggest,
)

ORDERS = ("<", "<=", ">", ">=")
EQUALITIES = ("==", "~=")
TOO_MANY_VALUES = (
    f"this expression and the variables of its function hold more than {MOST_HELD} values at once; split it"
)


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
        self._pending: list[tuple[syntax.Expression, Type]] = []
        self.presences: set[int] = set()

    def check_whole(self, expression: syntax.Expression, target: Type) -> None:
        """Report the faults of *expression*, whose target type is *target*, and of its parts."""
        if self._is_small(expression):
            self._check(expression, target)
            self._check_pending()

    def check_call(self, call: syntax.Path) -> None:
        """Report the faults of a call that is a statement."""
        if self._is_small(call):
            self.target(call)

    def target(self, path: syntax.Path) -> PathValue | None:
        """The value that *path* leads to; None after a fault. All faults are reported."""
        value = self._path(path)
        self._check_pending()
        return value

    def _is_small(self, expression: syntax.Expression) -> bool:
        """True if Lua can hold all values of *expression* at once; otherwise a fault is reported."""
        is_small = self._scopes.body.slots + values_at_once(expression) <= MOST_HELD
        if not is_small:
            self._report(expression.at, TOO_MANY_VALUES)
        return is_small

    def _check_pending(self) -> None:
        """Check the parts of an expression, one after the other rather than within each other."""
        parts, self._pending = self._pending, []
        while parts:
            self._check(*parts.pop())
            parts += self._pending
            self._pending = []

    def _later(self, expression: syntax.Expression, target: Type) -> None:
        """Check *expression* with the other parts of the whole; nothing around it depends on its faults."""
        self._pending.append((expression, target))

    def _check(self, expression: syntax.Expression, target: Type) -> None:
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
            inferred = self._infer(expression)
            if inferred is not None and inferred != target:
                self._report(expression.at, f"expected {_a(target)}, got {_a(inferred)}")

    def _infer(self, expression: syntax.Expression) -> Type | None:
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
                self._later(expression.operand, NUMBER)
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

    def _path(self, path: syntax.Path) -> PathValue | None:
        """The value that *path* leads to; None after a fault, which is reported."""
        steps = list[syntax.Member | syntax.Call]()
        while not isinstance(path, syntax.Name):
            steps.append(path)
            path = path.owner if isinstance(path, syntax.Member) else path.callee
        value = self._variable(path)
        before: syntax.Path = path
        for step in reversed(steps):
            if value is None:
                return None
            type_ = self._used(before, value)
            value = self._member(step, type_) if isinstance(step, syntax.Member) else self._call(step, type_)
            before = step
        return value

    def _variable(self, name: syntax.Name) -> PathValue | None:
        variable = self._scopes.variable(name.name)
        if variable is None:
            known = suggest(name.name, self._scopes.names())
            self._report(name.at, f"unknown variable `{name.name}`{known}")
            return None
        if variable.type is VOID:
            self._report(name.at, f"`{name.name}` can only be called as the last statement of a script")
            return None
        return PathValue(variable.type, variable.fixed)

    def _value(self, path: syntax.Path) -> Type | None:
        value = self._path(path)
        return None if value is None else self._used(path, value)

    def _used(self, path: syntax.Path, value: PathValue) -> Type | None:
        """The type of the *value* of *path*, which is used; None after a fault."""
        if value.type is VOID:
            self._report(path.at, "this function returns no value")
            return None
        if value.optional:
            self._report(path.at, "this field may be absent; it can only be tested, or assigned to")
            return None
        return value.type

    def _member(self, path: syntax.Member, owner: Type | None) -> PathValue | None:
        """The field at the end of *path*; None after a fault, which is reported."""
        if not isinstance(owner, Table):
            if owner is not None:
                self._report(path.at, f"{_a(owner)} has no fields")
            return None
        field = owner.fields.get(path.field)
        if field is None:
            known = suggest(path.field, list(owner.fields))
            self._report(path.at, f"{owner} has no field `{path.field}`{known}")
            return None
        fixed = "" if field.mutable else f"the field `{path.field}` is not mutable"
        return PathValue(field.type, fixed, field.optional)

    def _call(self, call: syntax.Call, callee: Type | None) -> PathValue | None:
        if not isinstance(callee, Function):
            if callee is not None:
                self._report(call.at, f"{_a(callee)} cannot be called")
            return None
        given, wanted = len(call.arguments), len(callee.parameters)
        if given != wanted:
            self._report(call.at, f"expected {wanted} arguments for {callee}, got {given}")
        for argument, parameter in zip(call.arguments, callee.parameters, strict=False):
            self._later(argument, parameter)
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
                self._later(entry.value, field.type)
            given.add(entry.key)
        missing = [name for name, field in target.fields.items() if not field.optional and name not in given]
        if missing:
            self._report(table.at, f"{target} needs {', '.join(f'`{name}`' for name in missing)} too")

    def _check_boolean(self, expression: syntax.Expression) -> None:
        match expression:
            case syntax.Unary(operator="not"):
                self._later(expression.operand, BOOLEAN)
            case syntax.Chain(operator="and" | "or"):
                for operand in expression.operands:
                    self._later(operand, BOOLEAN)
            case syntax.Name() | syntax.Member() | syntax.Call():
                value = self._path(expression)
                if value is None:
                    return
                if value.type is VOID:
                    self._report(expression.at, "this function returns no value")
                elif value.type is not BOOLEAN or value.optional:
                    self.presences.add(id(expression))
            case _:
                if self._infer(expression) not in (BOOLEAN, None):
                    self.presences.add(id(expression))

    def _infer_chain(self, chain: syntax.Chain) -> Type:
        operator = chain.operator
        if operator in ("and", "or"):
            self._check_boolean(chain)
            return BOOLEAN
        if operator in ORDERS or operator in EQUALITIES:
            left = self._infer(chain.first)
            for comparison in chain.operations:
                self._check_comparison(left, comparison)
                left = BOOLEAN
            return BOOLEAN
        target = STRING if operator == ".." else NUMBER
        for operand in chain.operands:
            self._later(operand, target)
        return target

    def _check_comparison(self, left: Type | None, comparison: syntax.Operation) -> None:
        operator, operand = comparison.operator, comparison.operand
        if left is None:
            return
        if isinstance(left, Function) or (operator in ORDERS and left not in (NUMBER, STRING)):
            self._report(comparison.at, f"{_a(left)} cannot be compared with `{operator}`")
        elif left is BOOLEAN:
            right = self._infer(operand)
            if right not in (BOOLEAN, None):
                self._report(operand.at, f"expected a boolean, got {_a(right)}")
        else:
            self._later(operand, left)


def _a(type_: Type | None) -> str:
    if isinstance(type_, Function):
        return f"a function {type_}"
    article = "an" if isinstance(type_, Table) and type_.name[0] in "AEIOUaeiou" else "a"
    return f"{article} {type_}" if not isinstance(type_, Simple) or type_ is not VOID else "nothing"
