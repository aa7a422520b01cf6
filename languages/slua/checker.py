"""Checks a whole script: its expressions against their target types, its statements, names and results.

It is independent of the incremental parser, so that tests can compare the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from fimlsp.languages.slua import syntax
from fimlsp.languages.slua.interface import Interface, Root, filled
from fimlsp.languages.slua.parsing import Fault, ScriptSyntaxError, parse_script
from fimlsp.languages.slua.scopes import LOOP_SLOTS, Scope, Scopes, Variable, given_variables
from fimlsp.languages.slua.syntax import (
    MOST_HELD,
    MOST_LEVELS,
    MOST_NAMES,
    MOST_SLOTS,
    first_too_deep,
    values_at_once,
)
from fimlsp.languages.slua.types import (
    BOOLEAN,
    NUMBER,
    SIMPLE,
    STRING,
    VOID,
    Function,
    Report,
    Simple,
    Table,
    Type,
    TypeResolver,
    holds_functions,
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


LONGEST_NAME = 50


@dataclass(frozen=True, slots=True)
class Checked:
    """The result of checking a script.

    Attributes:
        script: its tree; None if there is none.
        faults: in the order of the text.
        presences: its expressions, by `id`, that are not booleans and stand for one.
        interface: the interface that it was given, with the fields of the open types that it has filled.
    """

    script: syntax.Block | None
    faults: tuple[Fault, ...]
    presences: frozenset[int] = frozenset()
    interface: Interface = field(default_factory=Interface)


def check_script(text: str, interface: Interface, root: str | None = None) -> Checked:
    """Check the script *text*, which is given *interface*. O(length), times the names in scope.

    With *root* it has to be a script of that kind; otherwise it may be of any kind, or of none.

    Raises:
        UnknownRootError: the kind is unknown.
    """
    endings = interface.endings(root)
    try:
        script = parse_script(text)
    except ScriptSyntaxError as error:
        return Checked(None, (error.fault,))
    deepest = first_too_deep(script)
    if deepest is not None:
        return Checked(None, (Fault(deepest, f"nested deeper than {MOST_LEVELS} levels"),))
    checker = _StatementChecker(interface, endings, has_to_end=root is not None)
    checker.check(script)
    faults = tuple(sorted(set(checker.faults)))
    return Checked(script, faults, frozenset(checker.expressions.presences), checker.interface)


class _StatementChecker:
    def __init__(self, interface: Interface, endings: Mapping[str, Root], *, has_to_end: bool) -> None:
        self.interface = interface
        self._endings = endings
        self._has_to_end = has_to_end
        self.scopes = Scopes(interface.types, given_variables(interface))
        self.faults: list[Fault] = []
        self.expressions = ExpressionChecker(self.scopes, self._report, self._check_function)
        self._resolver = TypeResolver(self._report, self.scopes.types)

    def _report(self, at: syntax.Position, message: str) -> None:
        self.faults.append(Fault(at, message))

    def check(self, script: syntax.Block) -> None:
        """Check all of *script*."""
        statements = script.statements
        ending = self._ending(statements[-1]) if statements else None
        is_first = True
        for statement in statements[:-1] if ending else statements:
            if isinstance(statement, syntax.TableSyntax) and statement.name in self.interface.open_types:
                self._fill_open_type(statement, is_first=is_first)
            else:
                is_first = False
                self._check_statement(statement, self.scopes.innermost)
        if ending is not None:
            call, root = ending
            self._check_ending(call, root.function)
        elif self._has_to_end:
            at = statements[-1].at if statements else script.at
            self._report(at, f"the script has to end with a call of {' or '.join(sorted(self._endings))}")

    def _ending(self, statement: syntax.Statement) -> tuple[syntax.Call, Root] | None:
        """The call with which a script of some kind ends, if *statement* is one."""
        call = statement.call if isinstance(statement, syntax.CallStatement) else None
        if isinstance(call, syntax.Call) and isinstance(call.callee, syntax.Name):
            root = self._endings.get(call.callee.name)
            return None if root is None else (call, root)
        return None

    def _check_ending(self, call: syntax.Call, function: str) -> None:
        if len(call.arguments) != 1:
            self._report(call.at, f"expected 1 argument, got {len(call.arguments)}")
        for argument in call.arguments[:1]:
            self.expressions.check_whole(argument, self.interface.endings(None)[function].type)

    def _fill_open_type(self, written: syntax.TableSyntax, *, is_first: bool) -> None:
        if not is_first:
            self._report(written.at, f"`{written.name}` has to be declared before anything else")
            return
        table = self.scopes.innermost.types[written.name] = Table(written.name)
        self._resolver.fill(table, written)
        self._resolver.check_table(table, written)
        for declared in written.fields:
            if declared.name in table.fields and holds_functions(table.fields[declared.name].type):
                self._report(declared.at, f"`{declared.name}` holds functions, which {table} does not allow")
        self.interface = filled(self.interface, written.name, tuple(table.fields.values()))
        self.scopes.begin(self.interface.types, given_variables(self.interface))

    def check_block(self, block: syntax.Block, scope: Scope) -> None:
        """Check the statements of *block*, whose names are declared in *scope*, the innermost one."""
        for number, statement in enumerate(block.statements, 1):
            self._check_statement(statement, scope)
            if isinstance(statement, syntax.Return) and number < len(block.statements):
                self._report(statement.at, "`return` must be the last statement of its block")

    def _check_statement(self, statement: syntax.Statement, scope: Scope) -> None:
        match statement:
            case syntax.Local():
                self._check_local(statement, scope)
            case syntax.Assignment():
                self._check_assignment(statement)
            case syntax.CallStatement():
                self.expressions.check_call(statement.call)
            case syntax.Do():
                self._check_inner(statement.body)
            case syntax.If():
                self._check_if(statement)
            case syntax.For():
                self._check_for(statement)
            case syntax.While():
                self.expressions.check_whole(statement.condition, BOOLEAN)
                with self.scopes.loop():
                    self._check_inner(statement.body)
            case syntax.Return():
                self._check_return(statement)
            case syntax.Break():
                if not self.scopes.body.loops:
                    self._report(statement.at, "`break` outside of a loop of its function")
            case syntax.TableSyntax():
                self._declare_table(statement, scope)

    def _check_inner(self, block: syntax.Block) -> None:
        with self.scopes.block() as scope:
            self.check_block(block, scope)

    def _check_local(self, local: syntax.Local, scope: Scope) -> None:
        type_ = self._resolver.script_type(local.type)
        if type_ is not None:
            self.expressions.check_whole(local.value, type_)
            fixed = f"`{local.name}` holds functions, so it never changes" if holds_functions(type_) else ""
            self._declare(scope, local.at, Variable(local.name, type_, fixed))

    def _check_assignment(self, assignment: syntax.Assignment) -> None:
        assigned = self.expressions.target(assignment.target)
        if assigned is not None and assigned.fixed:
            self._report(assignment.at, f"cannot assign: {assigned.fixed}")
        elif assigned is not None:
            self.expressions.check_whole(assignment.value, assigned.type)

    def _check_if(self, statement: syntax.If) -> None:
        for condition, body in statement.branches:
            self.expressions.check_whole(condition, BOOLEAN)
            self._check_inner(body)
        if statement.otherwise is not None:
            self._check_inner(statement.otherwise)

    def _check_for(self, loop: syntax.For) -> None:
        self.expressions.check_whole(loop.first, NUMBER)
        self.expressions.check_whole(loop.last, NUMBER)
        with self.scopes.loop(LOOP_SLOTS), self.scopes.block() as scope:
            self._declare(scope, loop.at, Variable(loop.name, NUMBER, f"`{loop.name}` counts the loop"))
            self.check_block(loop.body, scope)

    def _check_return(self, statement: syntax.Return) -> None:
        result = self.scopes.body.result
        if result is None:
            self._report(statement.at, "`return` outside of a function")
        elif result is VOID:
            if statement.value is not None:
                self._report(statement.value.at, "this function returns no value")
        elif statement.value is None:
            self._report(statement.at, f"this function has to return {result}")
        else:
            self.expressions.check_whole(statement.value, result)

    def _check_function(self, function: syntax.FunctionLiteral, target: Function) -> None:
        given, wanted = len(function.parameters), len(target.parameters)
        if given != wanted:
            self._report(function.at, f"expected {wanted} parameters for {target}, got {given}")
            return
        with self.scopes.function(target.result), self.scopes.block() as scope:
            for name, type_ in zip(function.parameters, target.parameters, strict=True):
                self._declare(scope, name.at, Variable(name.name, type_))
            self.check_block(function.body, scope)
        if target.result is not VOID and not always_returns(function.body):
            self._report(function.at, f"this function has to return {target.result} on every path")

    def _declare_table(self, written: syntax.TableSyntax, scope: Scope) -> None:
        if written.name in SIMPLE or written.name in self.scopes.types():
            self._report(written.at, f"type `{written.name}` is already declared")
            return
        self._check_name(written.at, written.name)
        scope.types[written.name] = table = Table(written.name)
        self._resolver.fill(table, written)
        self._resolver.check_table(table, written)

    def _declare(self, scope: Scope, at: syntax.Position, variable: Variable) -> None:
        self._check_name(at, variable.name)
        if self.scopes.variable(variable.name) is not None:
            self._report(at, f"`{variable.name}` is already declared")
        scope.variables[variable.name] = variable
        self.scopes.body.slots += 1
        if self.scopes.body.slots > MOST_SLOTS:
            self._report(at, f"a function has at most {MOST_SLOTS} variables at once")
        elif sum(body.slots for body in self.scopes.bodies) > MOST_NAMES:
            self._report(at, f"functions inside each other have at most {MOST_NAMES} variables at once")

    def _check_name(self, at: syntax.Position, name: str) -> None:
        if len(name) > LONGEST_NAME:
            self._report(at, f"a name has at most {LONGEST_NAME} characters")


def always_returns(block: syntax.Block) -> bool:
    """True if every way through *block* ends with `return`. Loops do not count, as they may not run."""
    if not block.statements:
        return False
    match block.statements[-1]:
        case syntax.Return():
            return True
        case syntax.Do(body=body):
            return always_returns(body)
        case syntax.If(branches=branches, otherwise=otherwise) if otherwise is not None:
            return always_returns(otherwise) and all(always_returns(body) for _, body in branches)
        case _:
            return False
