"""What is in scope at a place of a script that is being read. Immutable, as all that a state is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from fimlsp.languages.slua.checking.scopes import LOOP_SLOTS, Variable, given_variables
from fimlsp.languages.slua.incremental.inhabitants import Inhabitants, inhabitants
from fimlsp.languages.slua.interface import Interface
from fimlsp.languages.slua.types import VOID, Table, Type


@dataclass(frozen=True, eq=False)
class Environment:
    """Variables and types by name, and the function around the place.

    Attributes:
        interface: what the script is given.
        variables: all that are in scope.
        types: all tables that are in scope.
        result: what the function around has to give; None outside of functions.
        loops: how many loops of that function surround the place.
        slots: how many of Lua's local variables its function uses.
        outer_slots: how many the functions around that one use.
    """

    interface: Interface
    variables: Mapping[str, Variable]
    types: Mapping[str, Table]
    result: Type | None = None
    loops: int = 0
    slots: int = 0
    outer_slots: int = 0

    @staticmethod
    def of(interface: Interface) -> Environment:
        """What is in scope where a script begins."""
        return Environment(interface, given_variables(interface), dict(interface.types))

    @property
    def unfilled(self) -> frozenset[str]:
        """The types whose fields a script may say while it has declared no others."""
        begun = len(self.types) > len(self.interface.types)
        return frozenset() if begun else self.interface.open_types

    @cached_property
    def inhabitants(self) -> Inhabitants:
        """Which types have values here."""
        first: dict[Type, str] = {}
        for variable in self.variables.values():
            if variable.type is not VOID:
                first.setdefault(variable.type, variable.name)
        return inhabitants(tuple(first.items()), tuple(self.types.values()))

    def declare(self, variable: Variable) -> Environment:
        """With another variable."""
        return replace(self, variables={**self.variables, variable.name: variable}, slots=self.slots + 1)

    def declare_type(self, table: Table) -> Environment:
        """With another type."""
        return replace(self, types={**self.types, table.name: table})

    def in_loop(self) -> Environment:
        """Within a loop."""
        return replace(self, loops=self.loops + 1, slots=self.slots + LOOP_SLOTS)

    def in_function(self, result: Type) -> Environment:
        """Within a function."""
        return replace(self, result=result, loops=0, slots=0, outer_slots=self.outer_slots + self.slots)
