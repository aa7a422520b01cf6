"""From the text of a Lark grammar to a grammar and lexemes; Lark itself reads it.

`Lark(grammar, parser="earley", lexer="basic")` says what a text is: its loader expands imports, templates and
repetitions, and everything here starts from what it makes of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from lark import Token, Tree
from lark.exceptions import LarkError, UnexpectedInput
from lark.grammar import Rule
from lark.lexer import PatternStr, TerminalDef
from lark.load_grammar import Grammar as LarkGrammar
from lark.load_grammar import GrammarBuilder

from fimlsp.languages.custom.files import GrammarFiles
from fimlsp.languages.custom.indentation import (
    BlockError,
    Indenter,
    Layout,
    check_blocks,
    in_blocks,
    indenter_of,
    laid_out,
    layout_of,
    with_line_ends,
)
from fimlsp.languages.custom.lexemes import compiled_lexemes, terminal_of
from fimlsp.languages.custom.neighbours import check_neighbours
from fimlsp.languages.custom.rules import NoSentenceError, TooManyProductionsError, to_grammar
from fimlsp.lexing.automata.dfa import Dfa
from fimlsp.quotient.grammar.cfg import Grammar, GrammarError

MOST_WAYS = 10_000
_MOST_TERMINALS = 2_000
_UNDEFINED = re.compile(r"Rule '(\w+)' used but not defined \(in rule (\w+)\)")


@dataclass(frozen=True, slots=True, eq=False)
class CompiledGrammar:
    """A grammar as the engine takes it: rules, lexemes, what is `ignored`, and the texts of `literals`."""

    grammar: Grammar
    dfa: Dfa
    ignored: frozenset[str]
    literals: dict[str, str]
    indenter: Indenter | None = None
    layout: Layout | None = None


@lru_cache(32)
def compiled(files: GrammarFiles, start: str) -> CompiledGrammar:
    """The grammar in *files*, from the rule *start*.

    Raises:
        GrammarError: it cannot be read or used; the message names rule or terminal, its line, and a way out.
    """
    loaded = _loaded(files)
    if start not in {str(name) for name, parameters, *_ in loaded.rule_defs if not parameters}:
        raise GrammarError(f"{files.name} has no rule {start} to start from; name another one (--start).")
    _check_size(loaded, files)
    try:
        terminals, rules, ignored = loaded.compile([start], set())
    except LarkError as error:
        raise GrammarError(f"{files.name} cannot be used: {_first_line(error)}") from error
    except (AssertionError, RecursionError) as error:
        raise GrammarError(f"{files.name} cannot be used: Lark fails on it ({error}).") from error
    if len(terminals) > _MOST_TERMINALS:
        raise GrammarError(f"{files.name} has more than {_MOST_TERMINALS} terminals; use fewer.")
    hidden = frozenset(map(str, ignored))
    defined = {terminal.name for terminal in terminals}
    needed = {str(symbol.name) for rule in rules for symbol in rule.expansion if symbol.is_term} - defined
    indenter = indenter_of(files, defined, needed)
    made = frozenset[str]()
    if indenter is not None:
        terminals = with_line_ends(terminals, hidden, indenter, files)
        made = frozenset((indenter.newline, indenter.indent, indenter.dedent))
    dfa = compiled_lexemes(terminals, hidden, files).expand()
    _check_declared(rules, defined | made, files)
    kinds = {dfa.kinds[kind] for kind in dfa.accepts if kind >= 0} - hidden
    lexed = frozenset(map(terminal_of, kinds)) | made
    grammar = _grammar(rules, lexed, start, indenter, files)
    if indenter is not None:
        return CompiledGrammar(
            grammar, dfa, hidden, _literals(terminals), indenter, layout_of(dfa, hidden, files)
        )
    check_neighbours(grammar, dfa, hidden, files)
    return CompiledGrammar(grammar, dfa, hidden, _literals(terminals))


def _loaded(files: GrammarFiles) -> LarkGrammar:
    builder = GrammarBuilder(False, [files.load])
    try:
        builder.load_grammar(files.text, files.name)
        return builder.build()
    except UnexpectedInput as error:
        place = f"line {error.line}, column {error.column}"
        raise GrammarError(f"{files.name}, {place}: {_first_line(error)}") from error
    except LarkError as error:
        said = _first_line(error)
        undefined = _UNDEFINED.match(said)
        if undefined is not None:
            where = f"The rule {undefined[2]} ({files.place(undefined[2])})"
            raise GrammarError(f"{where} uses {undefined[1]}, which is not defined; define it.") from error
        raise GrammarError(f"{files.name} cannot be read: {said}") from error
    except (AssertionError, OSError, RecursionError, RuntimeError) as error:
        raise GrammarError(f"{files.name} cannot be read: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(":") if lines else type(error).__name__


def _check_size(loaded: LarkGrammar, files: GrammarFiles) -> None:
    """Refuse a rule that Lark would write out in too many ways."""
    for name, _, tree, _ in loaded.rule_defs:
        ways = _ways(tree)
        if ways > MOST_WAYS:
            raise GrammarError(
                f"The rule {name} ({files.place(str(name))}) can be written in {ways:,} ways, as every "
                f"optional part doubles them; move some of its parts to rules of their own."
            )


def _ways(node: object) -> int:
    """In how many ways Lark writes out *node*, without repetitions by number."""
    if not isinstance(node, Tree):
        return 1
    found = [_ways(child) for child in node.children]
    if node.data == "expansions":
        return sum(found)
    if node.data == "maybe":
        return found[0] + 1
    if node.data == "expr":
        operator = [str(child) for child in node.children[1:] if isinstance(child, Token)]
        return found[0] + 1 if operator in (["?"], ["*"]) else found[0]
    product = 1
    for ways in found:
        product = min(product * ways, 1 << 62)
    return product


def _grammar(
    rules: Iterable[Rule], lexed: frozenset[str], start: str, indenter: Indenter | None, files: GrammarFiles
) -> Grammar:
    """The grammar with *rules*, without what needs a terminal that is not among *lexed*."""
    sides: dict[str, list[tuple[str, ...]]] = {}
    for rule in rules:
        own = sides.setdefault(str(rule.origin.name), [])
        side = tuple(str(symbol.name) for symbol in rule.expansion)
        if all(not symbol.is_term or symbol.name in lexed for symbol in rule.expansion):
            own.append(side)
    try:
        if indenter is None:
            return to_grammar(start, sides)
        grammar = to_grammar(start, in_blocks(start, laid_out(start, sides, indenter)))
        check_blocks(grammar, start, files)
        return grammar
    except NoSentenceError:
        raise GrammarError(
            f"The rule {start} ({files.place(start)}) derives no text but perhaps the empty one; "
            f"give it an end."
        ) from None
    except BlockError as error:
        name = str(error)
        raise GrammarError(
            f"In the rule {name} ({files.place(name)}) a block does not end where it begins; write both of "
            f"its terminals in one rule."
        ) from None
    except TooManyProductionsError as error:
        raise GrammarError(f"{files.name} is too large: {error}; use fewer optional parts.") from None


def _check_declared(rules: Iterable[Rule], defined: Collection[str], files: GrammarFiles) -> None:
    """Refuse terminals that only a program of the user's could make, such as those of an indenter."""
    for rule in rules:
        for symbol in rule.expansion:
            if symbol.is_term and symbol.name not in defined:
                name = str(rule.origin.name)
                raise GrammarError(
                    f"The rule {name} ({files.place(name)}) needs {symbol.name}, which is only declared; "
                    f"define it (those of an indenter are _INDENT and _DEDENT, if comments say nothing else)."
                )


def _literals(terminals: Iterable[TerminalDef]) -> dict[str, str]:
    return {one.name: one.pattern.value for one in terminals if isinstance(one.pattern, PatternStr)}
