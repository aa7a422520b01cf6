"""Loads grammars written in Lark's EBNF (https://lark-parser.readthedocs.io/en/stable/grammar.html).

The lark package parses the file. The conversion to plain productions is our own, because repetitions must
stay visible. `x+` becomes a nonterminal that is marked as a repetition of `x`. `x*` becomes an optional `x+`,
and an optional part two alternatives. The loader supports rules, templates, groups, quoted literals and
`%declare`d terminals.

One file can serve several versions of a language, because declared names may be *switches*. A switch that is
on derives nothing; one that is off removes the alternative that contains it. Two further kinds of names
expand the rules.

*Places* are inherited attributes. A place is a set of permissions: the body of a loop permits `break`, that
of a function `return`. Two kinds of symbols in the rules deal with places, and derive nothing themselves. A
*demand* restricts its alternative to the places that permit something. A *change* puts the symbol that
follows it into another place. A nonterminal is copied once for each set of permissions that makes a
difference to it, so most are not copied at all. (Knuth, "Semantics of Context-Free Languages", Mathematical
Systems Theory 2(2), 1968; over a finite set of values inherited attributes are nonterminals.)

*Line ends.* Where a line end may terminate a statement it is a terminal of the grammar. In most other places
it means nothing, so it may come before every terminal, without a mention in each rule. A mark in the rules
takes that back. The terminal after the mark, or the first one of the nonterminal after it, must be on the
same line. ECMAScript writes the mark as [no LineTerminator here].

    jump: "return" SAME_LINE value | "return"
    list: jump (LINE_END jump)*
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from itertools import product

from lark import Tree
from lark.exceptions import LarkError
from lark.grammar import Symbol
from lark.load_grammar import GrammarBuilder

from fimlsp.lexing.values import value
from fimlsp.quotient.grammar.cfg import Grammar, GrammarError, make_grammar, without_useless

Names = tuple[str, ...]
Permissions = frozenset[str]
Sides = dict[str, list[Names]]
Definition = tuple[Names, Tree[object]]
Switches = Callable[[str], bool | None]


def read_grammar(
    text: str,
    start: str,
    switched_on: Switches | None = None,
    places: Places | None = None,
    *,
    line_ends: OptionalLineEnds | None = None,
    drop_useless: bool = False,
) -> Grammar:
    """The grammar written in *text*, with the rule *start* as its start symbol.

    *switched_on* maps the name of a switch to True or False, and any other name to None. With *places* the
    rules are copied for the places they occur in. With *line_ends* a line end may stand before each terminal.
    Rules that are unreachable or derive no sentence are dropped with *drop_useless*; otherwise they are an
    error.

    Raises:
        GrammarError: *text* is not a Lark grammar, uses unsupported features, or has rules that may be empty
            or are useless.
    """
    try:
        builder = GrammarBuilder()
        builder.load_grammar(text)
        parsed = builder.build()
    except LarkError as error:
        raise GrammarError(f"Cannot read the grammar: {error}") from error
    definitions = {str(name): (tuple(parameters), tree) for name, parameters, tree, _ in parsed.rule_defs}
    if start not in definitions:
        raise GrammarError(f"The grammar has no rule '{start}' to start from.")
    _check_terminals(definitions, {str(name): tree for name, (tree, _) in parsed.term_defs})
    converter = _Converter(definitions, switched_on or _no_switch)
    converter.convert()
    rules, repetitions = converter.rules, converter.repetitions
    if places is not None:
        rules, repetitions = in_places(places, start, rules, repetitions)
    if line_ends is not None:
        rules, repetitions = with_line_ends(line_ends, start, without_useless(start, rules), repetitions)
    rules = without_useless(start, rules) if drop_useless else rules
    repetitions = {name: element for name, element in repetitions.items() if name in rules}
    grammar = make_grammar(start, rules, repetitions)
    return grammar if places is None else marked(grammar, places)


def _check_terminals(definitions: Mapping[str, Definition], terminals: Mapping[str, object]) -> None:
    values = (value for _, tree in definitions.values() for value in tree.scan_values(lambda _: True))
    used = {value.name for value in values if isinstance(value, Symbol)}
    for fault, names in (
        ("are never used; remove them", [name for name in terminals if name not in used]),
        ("belong to the lexer; only %declare them", [name for name, tree in terminals.items() if tree]),
    ):
        if names:
            raise GrammarError(f"These terminals {fault}: {', '.join(names)}.")


def _no_switch(_name: str) -> None:
    """Returns None: no name is a switch."""


class _Converter:
    """Productions by name, collected while the trees of rules are walked."""

    def __init__(self, definitions: Mapping[str, Definition], switched_on: Switches) -> None:
        self.definitions = definitions
        self.switched_on = switched_on
        self.rules: dict[str, list[Names]] = {}
        self.repetitions: dict[str, str] = {}
        self.representatives: dict[bool, str] = {}  # a switch that is on, and one that is off

    def convert(self) -> None:
        """Convert every rule; templates only where they are used."""
        for name, (parameters, tree) in self.definitions.items():
            if not parameters:
                self.rules[name] = self.alternatives(tree, {})

    def alternatives(self, node: Tree[object], bound: Mapping[str, str]) -> list[Names]:
        """All ways to write *node*, with the names of template parameters *bound* to symbols."""
        children = node.children
        if node.data == "expansions":
            return [way for child in children for way in self.alternatives(_tree(child), bound)]
        if node.data == "expansion":
            parts = [self.alternatives(_tree(child), bound) for child in children]
            return [tuple(name for part in way for name in part) for way in product(*parts)]
        if node.data == "maybe":
            return [*self.alternatives(_tree(children[0]), bound), ()]
        if node.data == "expr":
            return self.repeated(_tree(children[0]), [str(child) for child in children[1:]], bound)
        if node.data == "value":
            return self.value(children[0], bound)
        raise GrammarError(f"The grammar may not use '{node.data}'.")

    def value(self, value: object, bound: Mapping[str, str]) -> list[Names]:
        """All ways to write one symbol: one, or for a switch none or nothing."""
        name = self.symbol(value, bound)
        on = self.switched_on(name)
        if on is None:
            return [(name,)]
        return [()] if on else []

    def repeated(self, node: Tree[object], operator: list[str], bound: Mapping[str, str]) -> list[Names]:
        """All ways to write *node* followed by *operator*."""
        ways = list(dict.fromkeys(self.alternatives(node, bound)))
        if operator == ["?"]:
            return [*ways, ()]
        if not ways:
            return [] if operator == ["+"] else [()]
        if operator not in (["+"], ["*"]):
            raise GrammarError(f"The grammar may not use the repetition '{''.join(operator)}'.")
        repetition = self.repetition(ways)
        return [(repetition,)] if operator == ["+"] else [(repetition,), ()]

    def repetition(self, ways: list[Names]) -> str:
        """The nonterminal for one or more of *ways*; equal ones are shared."""
        if len(ways) == 1 and len(ways[0]) == 1:
            element = ways[0][0]
        else:
            element = f"({' | '.join(' '.join(way) for way in ways)})"
            self.rules[element] = ways
        name = f"{element}+"
        self.rules[name] = [(element,), (name, element)]
        self.repetitions[name] = element
        return name

    def symbol(self, value: object, bound: Mapping[str, str]) -> str:
        """The name of the symbol that *value* refers to."""
        if isinstance(value, Symbol):
            return bound.get(value.name, str(value.name))
        node = _tree(value)
        if node.data == "value":
            return self.symbol(node.children[0], bound)
        if node.data == "template_usage":
            return self.instance([self.symbol(child, bound) for child in node.children])
        if node.data == "literal":
            return self.literal(str(node.children[0]))
        raise GrammarError(f"The grammar may not use '{node.data}'.")

    def instance(self, usage: list[str]) -> str:
        """The nonterminal for a template with its arguments."""
        template, *arguments = usage[0], *map(self.representative, usage[1:])
        name = f"{template}{{{', '.join(arguments)}}}"
        if name not in self.rules:
            parameters, tree = self.definitions[template]
            self.rules[name] = []  # a template may use itself
            self.rules[name] += self.alternatives(tree, dict(zip(parameters, arguments, strict=True)))
        return name

    def representative(self, argument: str) -> str:
        """The *argument* of a template, or for a switch the first one seen that is set alike."""
        on = self.switched_on(argument)
        return argument if on is None else self.representatives.setdefault(on, argument)

    def literal(self, quoted: str) -> str:
        """The terminal for a quoted literal, named by its text."""
        if quoted.startswith("/"):
            raise GrammarError(f"The grammar may not use regular expressions: {quoted}.")
        if not quoted.endswith('"'):
            raise GrammarError(f"The grammar may not use flags on literals: {quoted}.")
        text: str = ast.literal_eval(quoted)
        if text in self.definitions:
            raise GrammarError(f"The rule '{text}' has the name of a literal; call it something else.")
        return text


def _tree(value: object) -> Tree[object]:
    if not isinstance(value, Tree):
        raise GrammarError(f"The grammar may not use '{value}' there.")
    return value


@value
class PlaceChange:
    """A change from one place to another: it `grants` permissions, and `keeps` some of the old ones.

    `keeps` maps each permission of the new place to that of the old place on which it depends. With None all
    permissions stay.
    """

    grants: Permissions = frozenset()
    keeps: Mapping[str, str] | None = field(default=None, hash=False)

    def of(self, place: Permissions) -> Permissions:
        """The place that follows the change if *place* precedes it."""
        if self.keeps is None:
            return self.grants | place
        return self.grants.union(new for new, old in self.keeps.items() if old in place)

    def before(self, permissions: Permissions) -> Permissions:
        """The permissions of the old place on which *permissions* of the new one depend."""
        left = permissions - self.grants
        if self.keeps is None:
            return left
        return frozenset(self.keeps[permission] for permission in left if permission in self.keeps)


@value(eq=False)
class Places:
    """The demands and changes of a grammar, and the place of its start symbol.

    `demands` maps the name of a demand to the permission that it needs, and `changes` the name of a change to
    its effect. `words` are terminals: a line without any of them has no demands, so it means the same in
    every place.
    """

    first: Permissions
    demands: Mapping[str, str]
    changes: Mapping[str, PlaceChange]
    words: frozenset[str]


_NO_CHANGE = PlaceChange()
_FOR = "@"


def in_places(
    places: Places, start: str, rules: Mapping[str, Iterable[Names]], repetitions: Mapping[str, str]
) -> tuple[Sides, dict[str, str]]:
    """The *rules* copied for each place, and the *repetitions* among the copies.

    The start symbol keeps its name. Only rules reachable from it are copied.
    """
    read = {name: [_read(places, side) for side in sides] for name, sides in rules.items()}
    deciding = _deciding(read)

    def copy_of(symbol: str, place: Permissions) -> str:
        marks = sorted(place & deciding.get(symbol, frozenset()))
        return symbol if symbol == start or not marks else f"{symbol}{_FOR}{'+'.join(marks)}"

    sides_of: Sides = {}
    copied: dict[str, str] = {}
    waiting = [(start, places.first)]
    while waiting:
        name, place = waiting.pop()
        copy = copy_of(name, place)
        if copy in sides_of or name not in read:
            continue
        permitted = [parts for needed, parts in read[name] if needed <= place]
        sides_of[copy] = [tuple([copy_of(part, change.of(place)) for part, change in p]) for p in permitted]
        waiting += [(part, change.of(place)) for parts in permitted for part, change in parts]
        if name in repetitions:
            copied[copy] = copy_of(repetitions[name], place)
    return sides_of, copied


def marked(grammar: Grammar, places: Places) -> Grammar:
    """*grammar*, whose rules were copied for *places*, with its `copies` and `place_words` set."""
    copies = [symbol for symbol in map(grammar.symbol, grammar.nonterminals) if _FOR in grammar.name(symbol)]
    words = [grammar.symbol(name) for name in places.words if name in grammar.terminals]
    return replace(grammar, copies=frozenset(copies), place_words=frozenset(words))


_Part = tuple[str, PlaceChange]
_Side = tuple[Permissions, tuple[_Part, ...]]
"""The demands of an alternative, and its other symbols, each with the change before it."""


def _read(places: Places, side: Names) -> _Side:
    needed = frozenset(places.demands[name] for name in side if name in places.demands)
    parts: list[_Part] = []
    change = _NO_CHANGE
    for name in side:
        if name in places.changes:
            change = places.changes[name]
        elif name not in places.demands:
            parts.append((name, change))
            change = _NO_CHANGE
    return needed, tuple(parts)


def _deciding(read: Mapping[str, list[_Side]]) -> dict[str, Permissions]:
    """For each nonterminal the permissions that make a difference to its derivations."""
    deciding = dict.fromkeys(read, frozenset[str]())
    changed = True
    while changed:
        changed = False
        for name, sides in read.items():
            own = deciding[name].union(
                *(needed for needed, _ in sides),
                *(
                    change.before(deciding[part])
                    for _, parts in sides
                    for part, change in parts
                    if part in deciding
                ),
            )
            changed |= own != deciding[name]
            deciding[name] = own
    return deciding


@value
class OptionalLineEnds:
    """The terminal `line_end`, which may stand before all terminals but those `never` on a new line.

    `same_line` is the mark, which derives nothing.
    """

    line_end: str
    same_line: str
    never: frozenset[str]


def with_line_ends(
    layout: OptionalLineEnds, start: str, rules: Mapping[str, list[Names]], repetitions: Mapping[str, str]
) -> tuple[Sides, dict[str, str]]:
    """The *rules* with optional line ends; their *repetitions*.

    A nonterminal after a mark is copied, without a line end before its first terminal.
    """
    spread = _Spread(layout, rules)
    spread.add_all(start)
    elements = {name: spread.symbol(element) for name, element in repetitions.items() if name in spread.rules}
    return spread.rules, elements


class _Spread:
    """Makes the rules that are reachable, from the start symbol on."""

    def __init__(self, layout: OptionalLineEnds, given: Mapping[str, list[Names]]) -> None:
        self.layout = layout
        self.given = given
        self.rules: Sides = {}
        self._waiting: list[tuple[str, str, bool]] = []

    def add_all(self, start: str) -> None:
        """Make the rules of *start* and of all symbols that they mention."""
        self._name(start, same_line=False)
        while self._waiting:
            name, original, same_line = self._waiting.pop()
            self.rules[name] = [self._side(side, same_line=same_line) for side in self.given[original]]

    def symbol(self, name: str) -> str:
        """The symbol for *name* where a line end may precede it."""
        return self._name(name, same_line=False)

    def _side(self, side: Names, *, same_line: bool) -> Names:
        symbols: list[str] = []
        for name in side:
            if name == self.layout.same_line:
                same_line = True
            else:
                symbols.append(self._name(name, same_line=same_line))
                same_line = False
        if side and side[-1] == self.layout.same_line:
            raise ValueError(f"Cannot read the grammar: a rule ends with {side[-1]}. Put a symbol after it.")
        return tuple(symbols)

    def _name(self, name: str, *, same_line: bool) -> str:
        """The symbol for *name*; its rules are made later."""
        if name not in self.given:
            if same_line or name in self.layout.never:
                return name
            made = f"{name} on any line"
            self.rules.setdefault(made, [(name,), (self.layout.line_end, name)])
            return made
        made = f"{name} on the same line" if same_line else name
        if made not in self.rules:
            self.rules[made] = []
            self._waiting.append((made, name, same_line))
        return made
