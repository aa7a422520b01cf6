"""Checks a whole script: its statements, its names, and the results of its functions.

It is independent of the incremental parser, so that tests can compare the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fimlsp.languages.slua import syntax
from fimlsp.languages.slua.expression_checker import ExpressionChecker
from fimlsp.languages.slua.interface import Interface, Root, filled
from fimlsp.languages.slua.parsing import Fault, ScriptSyntaxError, parse_script
from fimlsp.languages.slua.scopes import LOOP_SLOTS, Scope, Scopes, Variable, given_variables
from fimlsp.languages.slua.sizes import MOST_LEVELS, MOST_NAMES, MOST_SLOTS, first_too_deep
from fimlsp.languages.slua.types import (
    BOOLEAN,
    NUMBER,
    SIMPLE,
    VOID,
    Function,
    Table,
    TypeResolver,
    holds_functions,
)

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
