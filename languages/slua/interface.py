"""A scripting interface: what a program gives the scripts that it runs, read from a file of declarations.

For example:

    --- Somebody who acts.
    object Actor {
        --- What it is called.
        name: string;
        --- What it has left to live.
        mutable health: number;
        Hit: (amount: number, by: Actor) -> void;
    };

    --- Calls *body* with the one who stands there, if there is one.
    global WithActorAt: (x: number, y: number, body: (Actor) -> void) -> void;

Values of an `object` are made by the program alone, those of an `interface` by scripts too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fimlsp.languages.slua import syntax
from fimlsp.languages.slua.declaring import Declarer
from fimlsp.languages.slua.faults import Fault, ScriptSyntaxError
from fimlsp.languages.slua.parsing import parse_interface
from fimlsp.languages.slua.types import SIMPLE, Table, Type

from fimlsp.errors import UserError


class InterfaceError(UserError, ValueError):
    """An interface file cannot be used; `faults` has all that is wrong with it."""

    def __init__(self, name: str, faults: tuple[Fault, ...]) -> None:
        super().__init__("\n".join(f"{name}:{fault}" for fault in faults))
        self.faults = faults


@dataclass(frozen=True, eq=False, slots=True)
class Interface:
    """What scripts are given.

    Attributes:
        types: tables by name.
        globals: the types of variables that every script has, by name.
        documentation: of the globals, by name.
    """

    types: Mapping[str, Table] = field(default_factory=dict)
    globals: Mapping[str, Type] = field(default_factory=dict)
    documentation: Mapping[str, str] = field(default_factory=dict)


def read_interface(text: str, name: str = "interface") -> Interface:
    """The interface that *text* declares; *name* is that of its file, for messages.

    Raises:
        InterfaceError: it is not one.
    """
    try:
        declarations = parse_interface(text)
    except ScriptSyntaxError as error:
        raise InterfaceError(name, (error.fault,)) from None
    faults: list[Fault] = []
    types: dict[str, Table] = {}
    declarer = Declarer(lambda at, message: faults.append(Fault(at, message)), lambda: types)
    tables = [each for each in declarations if isinstance(each, syntax.TableSyntax)]
    for written in tables:
        if written.name in SIMPLE or written.name in types:
            faults.append(Fault(written.at, f"there is already a type `{written.name}`"))
        types[written.name] = Table(written.name, written.is_object, documentation=written.documentation)
    for written in tables:
        declarer.fill(types[written.name], written)
    for written in tables:
        declarer.check_table(types[written.name], written)
    found: dict[str, Type] = {}
    documentation: dict[str, str] = {}
    for each in declarations:
        if isinstance(each, syntax.GlobalSyntax):
            type_ = declarer.value_type(each.type)
            if each.name in found:
                faults.append(Fault(each.at, f"there is already a global `{each.name}`"))
            if type_ is not None:
                declarer.check_given_value(each.at, type_)
                found[each.name] = type_
                documentation[each.name] = each.documentation
    if faults:
        raise InterfaceError(name, tuple(sorted(faults)))
    return Interface(types, found, documentation)
