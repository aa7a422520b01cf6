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

Values of an `object` are made by the program alone, those of an `interface` by scripts too. What kinds of
scripts there are, and what each brings those after it, is said so:

    --- The parameters of an effect: each script says what they are.
    open interface Parameters;

    --- What others may do with an effect.
    object EffectKind { Apply: (to: Actor, with: Parameters) -> void; };

    --- All effects, by name.
    object Effects { };
    global g_effects: Effects;

    --- A script that brings an effect.
    root effect: NewEffect(Effect) as EffectKind in Effects;

A script of the kind `effect` ends with a call of `NewEffect`, which can be called nowhere else. After a
script with the name `poison` an `EffectKind` with its own `Parameters` is found at `g_effects.poison`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fimlsp.errors import UserError
from fimlsp.languages.slua import syntax
from fimlsp.languages.slua.declaring import Declarer, suggest
from fimlsp.languages.slua.faults import Fault, ScriptSyntaxError
from fimlsp.languages.slua.parsing import Declaration, parse_interface
from fimlsp.languages.slua.types import SIMPLE, Function, Table, Type, parts


class InterfaceError(UserError, ValueError):
    """An interface file cannot be used; `faults` has all that is wrong with it."""

    def __init__(self, name: str, faults: tuple[Fault, ...]) -> None:
        super().__init__("\n".join(f"{name}:{fault}" for fault in faults))
        self.faults = faults


class UnknownRootError(UserError, ValueError):
    """An interface has no such kind of scripts."""


@dataclass(frozen=True, slots=True)
class Root:
    """A kind of scripts.

    Attributes:
        name: of the kind.
        function: a script of it ends with a call of this, and nothing else calls it.
        type: of the argument.
        offered: what later scripts are given of such a script; None if nothing.
        among: the type of the object that has it, under the name of the script.
        documentation: what it is for, told to readers.
    """

    name: str
    function: str
    type: Table
    offered: Table | None = None
    among: Table | None = None
    documentation: str = ""


@dataclass(frozen=True, eq=False, slots=True)
class Interface:
    """What scripts are given.

    Attributes:
        types: tables by name.
        globals: the types of variables that every script has, by name.
        documentation: of the globals, by name.
        roots: the kinds of scripts, by name.
        open_types: names of those types whose fields each script says itself, before all else.
    """

    types: Mapping[str, Table] = field(default_factory=dict)
    globals: Mapping[str, Type] = field(default_factory=dict)
    documentation: Mapping[str, str] = field(default_factory=dict)
    roots: Mapping[str, Root] = field(default_factory=dict)
    open_types: frozenset[str] = frozenset()

    def endings(self, root: str | None) -> Mapping[str, Root]:
        """The calls that a script may end with, by the names of their functions.

        A script of the kind *root* has to end with that of its own; where that is None, it may end with any.

        Raises:
            UnknownRootError: there is no such kind of scripts.
        """
        if root is not None and root not in self.roots:
            raise UnknownRootError(f"there is no kind of scripts `{root}`{suggest(root, sorted(self.roots))}")
        return {each.function: each for each in self.roots.values() if root in (None, each.name)}


def read_interface(text: str, name: str = "interface") -> Interface:
    """The interface that *text* declares; *name* is that of its file, for messages.

    Raises:
        InterfaceError: it is not one.
    """
    try:
        declarations = parse_interface(text)
    except ScriptSyntaxError as error:
        raise InterfaceError(name, (error.fault,)) from None
    reader = _Reader()
    found = reader.read(declarations)
    if reader.faults:
        raise InterfaceError(name, tuple(sorted(reader.faults)))
    return found


class _Reader:
    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self._types: dict[str, Table] = {}
        self._declarer = Declarer(self._report, lambda: self._types)

    def _report(self, at: syntax.Place, message: str) -> None:
        self.faults.append(Fault(at, message))

    def read(self, declarations: Sequence[Declaration]) -> Interface:
        """The interface; it is of use only if there are no faults."""
        tables = [each for each in declarations if isinstance(each, syntax.TableSyntax)]
        self._read_tables(tables)
        found: dict[str, Type] = {}
        documentation: dict[str, str] = {}
        for each in declarations:
            if isinstance(each, syntax.GlobalSyntax):
                type_ = self._declarer.value_type(each.type)
                if each.name in found:
                    self._report(each.at, f"there is already a global `{each.name}`")
                if type_ is not None:
                    self._declarer.check_given_value(each.at, type_)
                    found[each.name] = type_
                    documentation[each.name] = each.documentation
        roots = [each for each in declarations if isinstance(each, syntax.RootSyntax)]
        left_open = frozenset(each.name for each in tables if each.is_left_open)
        return Interface(self._types, found, documentation, self._roots(roots, found, left_open), left_open)

    def _read_tables(self, tables: Sequence[syntax.TableSyntax]) -> None:
        types = self._types
        for written in tables:
            if written.name in SIMPLE or written.name in types:
                self._report(written.at, f"there is already a type `{written.name}`")
            types[written.name] = Table(written.name, written.is_object, documentation=written.documentation)
        for written in tables:
            self._declarer.fill(types[written.name], written)
        for written in tables:
            self._declarer.check_table(types[written.name], written)

    def _check_ending(self, root: syntax.RootSyntax, type_: Table | None, left_open: frozenset[str]) -> None:
        """Tell if a script could say such fields of an open type that no value of *type_* can be made."""
        for part in () if type_ is None else parts(type_):
            made = part.result if isinstance(part, Function) else part
            if any(isinstance(each, Table) and each.name in left_open for each in parts(made)):
                self._report(root.at, f"{type_} may not hold or give a value of a type that is left open")
                return

    def _roots(
        self, written: Sequence[syntax.RootSyntax], taken: Mapping[str, Type], left_open: frozenset[str]
    ) -> dict[str, Root]:
        roots: dict[str, Root] = {}
        functions = set(taken)
        for each in written:
            if each.name in roots:
                self._report(each.at, f"there is already a kind of scripts `{each.name}`")
            if each.function in functions:
                self._report(each.at, f"there is already a global `{each.function}`")
            functions.add(each.function)
            type_ = self._table(each.type, is_object=False)
            self._check_ending(each, type_, left_open)
            offered, among = (self._table(part, is_object=True) for part in each.offered or (None, None))
            if type_ is not None:
                roots[each.name] = Root(each.name, each.function, type_, offered, among, each.documentation)
        return roots

    def _table(self, written: syntax.TypeSyntax | None, *, is_object: bool) -> Table | None:
        found = None if written is None else self._declarer.resolve(written)
        if isinstance(found, Table) and found.is_object is is_object:
            return found
        if written is not None and found is not None:
            self._report(written.at, f"{'an object' if is_object else 'an interface'} is wanted here")
        return None
