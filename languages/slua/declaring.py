"""From types as they are written to types; and the laws that they keep, so that every script ends.

A script ends because no function can come to call itself. Functions are in scope only after their statement;
so one that calls itself would have to be put where another can find it, and every way there is closed:

- what may change (a `mutable` field, a variable) never holds functions that a script made;
- a function that a script makes takes and gives nothing that holds functions;
- the program that runs scripts takes such values (callbacks, tables with hooks) and never gives one back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fimlsp.languages.slua import syntax
from fimlsp.languages.slua.types import SIMPLE, VOID, Field, Function, Table, Type, holds_functions

MOST_PARAMETERS = 20
Report = Callable[[syntax.Place, str], None]


class Declarer:
    """Makes types from what is written, and tells what is wrong with it."""

    def __init__(self, report: Report, known: Callable[[], Mapping[str, Table]]) -> None:
        self._report = report
        self._known = known

    def resolve(self, written: syntax.TypeSyntax) -> Type | None:
        """The type; None if it names one that there is not, which is told."""
        if isinstance(written, syntax.NamedType):
            return self._named(written)
        if len(written.parameters) > MOST_PARAMETERS:
            self._report(written.at, f"a function has at most {MOST_PARAMETERS} parameters")
            return None
        found = [self.resolve(parameter) for parameter in written.parameters]
        for parameter, type_ in zip(written.parameters, found, strict=True):
            if type_ is VOID:
                self._report(parameter.at, "`void` is no type of values; it only stands behind `->`")
        result = self._named(written.result)
        if result is None:
            return None
        parameters = tuple(type_ for type_ in found if type_ is not None)
        return Function(parameters, result) if len(parameters) == len(found) else None

    def value_type(self, written: syntax.TypeSyntax) -> Type | None:
        """As `resolve`, of something that has a value."""
        found = self.resolve(written)
        if found is VOID:
            self._report(written.at, "`void` is no type of values; it only stands behind `->`")
            return None
        return found

    def script_type(self, written: syntax.TypeSyntax) -> Type | None:
        """As `value_type`, of a value that scripts make."""
        found = self.value_type(written)
        if isinstance(found, Function):
            self.check_own_function(written.at, found)
        return found

    def check_own_function(self, at: syntax.Place, function: Function) -> None:
        """Tell if *function*, which a script may make, takes or gives what holds functions."""
        for part in (*function.parameters, function.result):
            if holds_functions(part):
                self._report(
                    at, f"a function of a script takes and gives nothing with functions in it: {part}"
                )

    def check_given_function(self, at: syntax.Place, function: Function) -> None:
        """Tell if *function*, which the program gives its scripts, gives back what holds functions."""
        for parameter in function.parameters:
            if isinstance(parameter, Function):
                self.check_own_function(at, parameter)
        if holds_functions(function.result):
            self._report(
                at, f"a function may take what holds functions, and never give it back: {function.result}"
            )

    def check_given_value(self, at: syntax.Place, type_: Type) -> None:
        """Tell if scripts may not be given a value of *type_*."""
        if isinstance(type_, Function):
            self.check_given_function(at, type_)
        elif holds_functions(type_):
            self._report(at, f"a script may not be given a table with functions that a script made: {type_}")

    def fill(self, table: Table, written: syntax.TableSyntax) -> None:
        """Give *table* its fields."""
        fields: dict[str, Field] = {}
        for each in written.fields:
            if each.name in fields:
                self._report(each.at, f"{table} already has a field `{each.name}`")
            type_ = self.value_type(each.type)
            if type_ is not None:
                mutable, optional = "mutable" in each.modifiers, "optional" in each.modifiers
                fields[each.name] = Field(each.name, type_, mutable, optional, each.documentation)
        table.fields = fields

    def check_table(self, table: Table, written: syntax.TableSyntax) -> None:
        """Tell what is wrong with the fields of *table*, once all tables have theirs."""
        for each in written.fields:
            field = table.fields.get(each.name)
            if field is None:
                continue
            if field.mutable and holds_functions(field.type):
                self._report(each.at, f"`{each.name}` holds functions, so it cannot be mutable")
            if table.is_object:
                self.check_given_value(each.type.at, field.type)
            elif isinstance(field.type, Function):
                self.check_own_function(each.type.at, field.type)
        if not table.is_object and _needs_itself(table):
            self._report(
                written.at, f"no value of {table} can be made, as it must hold another; make a field optional"
            )

    def _named(self, written: syntax.NamedType) -> Type | None:
        simple = SIMPLE.get(written.name)
        if simple is not None:
            return simple
        known = self._known()
        if written.name not in known:
            names = sorted([*known, *(name for name in SIMPLE if name != VOID.name)])
            self._report(written.at, f"there is no type `{written.name}`{suggest(written.name, names)}")
        return known.get(written.name)


def suggest(name: str, names: Sequence[str]) -> str:
    """What somebody who wrote *name* may have meant, as the end of a sentence."""
    from difflib import get_close_matches

    close = get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean `{close[0]}`?"
    listed = ", ".join(f"`{each}`" for each in names[:8])
    more = f" and {len(names) - 8} others" if len(names) > 8 else ""
    return f"; there are {listed}{more}" if listed else ""


def _needs_itself(table: Table) -> bool:
    """Whether a value of *table* must hold, through fields that it may not lack, another of the same type."""
    waiting, seen = [table], set[int]()
    while waiting:
        for field in waiting.pop().fields.values():
            part = field.type
            if isinstance(part, Table) and not part.is_object and not field.optional:
                if part is table:
                    return True
                if id(part) not in seen:
                    seen.add(id(part))
                    waiting.append(part)
    return False
