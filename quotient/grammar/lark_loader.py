"""Loads grammars written in Lark's EBNF (https://lark-parser.readthedocs.io/en/stable/grammar.html).

The lark package parses the file. The conversion to plain productions is our own, because repetitions must
stay visible. `x+` becomes a nonterminal that is marked as a repetition of `x`. `x*` becomes an optional `x+`,
and an optional part two alternatives. The loader supports rules, templates, groups, quoted literals and
`%declare`d terminals.

One file can serve several versions of a language, because declared names may be *switches*. A switch that is
on derives nothing; one that is off removes the alternative that contains it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from itertools import product

from lark import Tree
from lark.exceptions import LarkError
from lark.grammar import Symbol
from lark.load_grammar import GrammarBuilder

from fimlsp.quotient.grammar.cfg import Grammar, GrammarError, make_grammar, without_useless
from fimlsp.quotient.grammar.expansions import (
    Names,
    OptionalLineEnds,
    Places,
    in_places,
    marked,
    with_line_ends,
)

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
    rules are copied for the places they occur in (see `places.py`). With *line_ends* a line end may stand
    before each terminal (see `expansions.py`). Rules that are unreachable or derive no sentence are dropped
    with *drop_useless*; otherwise they are an error.

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
        template, *arguments = usage
        name = f"{template}{{{', '.join(arguments)}}}"
        if name not in self.rules:
            parameters, tree = self.definitions[template]
            self.rules[name] = []  # a template may use itself
            self.rules[name] += self.alternatives(tree, dict(zip(parameters, arguments, strict=True)))
        return name

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
