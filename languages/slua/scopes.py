"""The scopes around a place of a script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from fimlsp.languages.slua.interface import Interface
from fimlsp.languages.slua.types import VOID, Table, Type

LOOP_SLOTS = 3
"""Local variables of Lua that a loop with a counter takes for itself."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A name with a value.

    Attributes:
        name: its name.
        type: of its value; `VOID` for a name that is reserved for the call that ends scripts.
        fixed: the reason that forbids assignments to it; empty if they are allowed.
    """

    name: str
    type: Type
    fixed: str = ""


@dataclass(slots=True)
class Scope:
    """The names that one block declares."""

    variables: dict[str, Variable] = field(default_factory=dict)
    types: dict[str, Table] = field(default_factory=dict)


def given_variables(interface: Interface) -> dict[str, Variable]:
    """The variables that every script has."""
    variables = {
        name: Variable(name, type_, f"`{name}` is given by the program")
        for name, type_ in interface.globals.items()
    }
    endings = interface.endings(None)
    return variables | {name: Variable(name, VOID, f"`{name}` ends scripts") for name in endings}


@dataclass(slots=True)
class Body:
    """A function, or the script itself.

    Attributes:
        result: the type to return; None for a script, which never returns.
        loops: number of its loops that surround the place.
        slots: number of Lua's local variables in use at the place.
    """

    result: Type | None
    loops: int = 0
    slots: int = 0


class Scopes:
    """All scopes around a place, the innermost last."""

    def __init__(self, types: Mapping[str, Table], variables: Mapping[str, Variable]) -> None:
        self.bodies = [Body(None)]
        self.begin(types, variables)

    def begin(self, types: Mapping[str, Table], variables: Mapping[str, Variable]) -> None:
        """Reset to the start of a script that is given *types* and *variables*."""
        self._scopes = [Scope(dict(variables), dict(types)), Scope()]

    @property
    def body(self) -> Body:
        """The function around the place."""
        return self.bodies[-1]

    @property
    def innermost(self) -> Scope:
        """The scope of the block around the place."""
        return self._scopes[-1]

    def variable(self, name: str) -> Variable | None:
        """The variable called *name* here."""
        return next(
            (scope.variables[name] for scope in reversed(self._scopes) if name in scope.variables), None
        )

    def types(self) -> Mapping[str, Table]:
        """All types that can be named here."""
        return {name: table for scope in self._scopes for name, table in scope.types.items()}

    def names(self) -> list[str]:
        """All variables that can be named here, the nearest first."""
        return list(
            dict.fromkeys(name for scope in reversed(self._scopes) for name in reversed(scope.variables))
        )

    @contextmanager
    def block(self) -> Iterator[Scope]:
        """Within a block."""
        slots = self.body.slots
        self._scopes.append(Scope())
        yield self._scopes[-1]
        self._scopes.pop()
        self.body.slots = slots

    @contextmanager
    def loop(self, slots: int = 0) -> Iterator[None]:
        """Within a loop, which takes so many *slots* of Lua's variables for itself."""
        self.body.loops += 1
        self.body.slots += slots
        yield
        self.body.slots -= slots
        self.body.loops -= 1

    @contextmanager
    def function(self, result: Type) -> Iterator[None]:
        """Within a function."""
        self.bodies.append(Body(result))
        yield
        self.bodies.pop()
