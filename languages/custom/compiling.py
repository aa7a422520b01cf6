"""From the text of a Lark grammar to a grammar and lexemes for the engine.

`Lark(grammar, parser="earley", lexer="basic")` defines the language, or, if its author names that lexer,
`Lark(grammar, parser="lalr", lexer="contextual")`. Lark's loader expands imports, templates and repetitions,
and everything here starts from its result.

A grammar may be hostile. Lark reads it with expressions that backtrack, and a short rule can expand without
end. So all of this runs in a process with bounds of time and memory.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product
from typing import cast

from lark import Token, Tree
from lark.exceptions import LarkError, UnexpectedInput
from lark.grammar import Rule
from lark.lexer import PatternStr, TerminalDef
from lark.load_grammar import Grammar as LarkGrammar
from lark.load_grammar import GrammarBuilder

from fimlsp.languages.custom.categories import with_ranged
from fimlsp.languages.custom.contextual import LexerModes, annotated, lexer_modes
from fimlsp.languages.custom.dynamic import bytewise
from fimlsp.languages.custom.grammar_files import BASIC, CONTEXTUAL, DYNAMIC, GrammarFiles
from fimlsp.languages.custom.indentation import (
    LINE_END,
    BlockError,
    Indenter,
    Layout,
    check_blocks,
    in_blocks,
    indenter_of,
    is_comment,
    laid_out,
    layout_of,
    with_line_ends,
)
from fimlsp.languages.custom.lalr import LalrTables
from fimlsp.languages.custom.lexemes import (
    IN_MODE,
    Lookalikes,
    compiled_lexemes,
    compiled_modes,
    terminal_of,
    without_mode,
)
from fimlsp.languages.custom.rules import NoSentenceError, Side, TooManyProductionsError, to_grammar
from fimlsp.lexing.automata.cached_files import cache_folder
from fimlsp.lexing.automata.dfa import Dfa
from fimlsp.lexing.automata.leftmost_first import END_OF_TEXT
from fimlsp.lexing.automata.paths import Separation
from fimlsp.processes.bounded import BoundedProcess, BoundExceededError, Bounds
from fimlsp.quotient.grammar.cfg import Grammar, GrammarError, derived
from fimlsp.quotient.language.tables import ends, neighbours

MOST_SECONDS = 15.0
"""Processor time for a grammar; most take less than one second."""

MOST_WAYS = 10_000
"""Expansions of one rule."""
_MOST_TERMINALS = 2_000
_LOOKS_AHEAD = re.compile(r"\(\?[=!]")
_UNDEFINED = re.compile(r"Rule '(\w+)' used but not defined \(in rule (\w+)\)")


@dataclass(frozen=True, slots=True, eq=False)
class CompiledGrammar:
    """A grammar for the engine: rules, lexemes, the `ignored` kinds, and the texts of `literals`.

    The lexer never reads the terminals `lost` of its rules, as others take all their texts.
    """

    grammar: Grammar
    dfa: Dfa
    ignored: frozenset[str]
    literals: dict[str, str]
    indenter: Indenter | None = None
    layout: Layout | None = None
    parser: LalrTables | None = None
    lost: tuple[str, ...] = ()


def compiled(files: GrammarFiles, start: str, lexer: str) -> CompiledGrammar:
    """The grammar in *files* from the rule *start*, read with *lexer*. Starts a process, 0.3 s, unless known.

    Raises:
        GrammarError: it cannot be read or used; the message names the rule or terminal, its line, and a
            remedy.
    """
    result = _compiled(files, start, lexer)
    if isinstance(result, str):
        raise GrammarError(result)
    return result


@lru_cache(32)
def _compiled(files: GrammarFiles, start: str, lexer: str) -> CompiledGrammar | str:
    """The grammar, or the message of the error."""
    try:
        return cast("CompiledGrammar", compiler().ask((files, start, lexer)))
    except BoundExceededError as error:
        return f"Cannot use {files.name}: it {error} to compile. Make it smaller or simpler."
    except GrammarError as error:
        return str(error)


@lru_cache(1)
def compiler() -> BoundedProcess:
    """The process that compiles the grammars of this one."""
    writable: tuple[str, ...] = ()
    with suppress(OSError, RuntimeError):
        cache_folder().mkdir(parents=True, exist_ok=True)
        writable = (str(cache_folder()),)
    return BoundedProcess(answer, Bounds(MOST_SECONDS, writable=writable))


@dataclass(frozen=True, slots=True)
class _Alike:
    """A question for the terminals of a grammar that match the beginning of a text."""

    files: GrammarFiles
    start: str
    text: str


def answer(question: tuple[GrammarFiles, str, str] | _Alike) -> object:
    """The answer of the process that compiles grammars."""
    if not isinstance(question, _Alike):
        return compile_files(question)
    terminals, _, _ = _compiled_by_lark(question.files, question.start)
    return frozenset(one.name for one in terminals if re.match(one.pattern.to_regexp(), question.text))


def terminals_of(files: GrammarFiles, start: str, text: str) -> frozenset[str]:
    """The terminals in *files* that match *text* or its beginning; none if that takes too long."""
    try:
        return cast("frozenset[str]", compiler().ask(_Alike(files, start, text)))
    except (BoundExceededError, GrammarError):
        return frozenset()


def compile_files(question: tuple[GrammarFiles, str, str]) -> CompiledGrammar:
    """As `compiled`, in this process and without bounds. Any failure is a `GrammarError`."""
    files, start, lexer = question
    try:
        return _compile(files, start, lexer)
    except GrammarError:
        raise
    except RecursionError as error:
        raise GrammarError(f"Cannot use {files.name}: it nests too deeply. Use fewer brackets.") from error
    except Exception as error:  # Lark and Python's parser of expressions were not written for such texts
        reason = f"{type(error).__name__}: {_first_line(error)}"
        raise GrammarError(f"Cannot use {files.name}: Lark fails on it ({reason}). Change it.") from error


def _compile(files: GrammarFiles, start: str, lexer: str) -> CompiledGrammar:
    terminals, rules, ignored = _compiled_by_lark(files, start)
    defined = {terminal.name for terminal in terminals}
    needed = {str(symbol.name) for rule in rules for symbol in rule.expansion if symbol.is_term} - defined
    indenter = indenter_of(files, defined, needed)
    of_layout = frozenset[str]()
    if indenter is not None:
        terminals, ignored = _with_comments(terminals, ignored, indenter, start, files)
        terminals = with_line_ends(terminals, ignored, indenter, files)
        of_layout = frozenset((indenter.newline, indenter.indent, indenter.dedent))
    _check_declared(rules, defined | of_layout, files)
    if lexer == DYNAMIC:
        return _compiled_dynamic(rules, start, terminals, ignored, indenter, files)
    lookalikes = Lookalikes(terminals, files)
    after = _after(rules, start, terminals, ignored, indenter, lookalikes)
    if lexer == CONTEXTUAL and indenter is None:
        modes = lexer_modes(rules, start, terminals, ignored, lookalikes, files)
        if len(modes.terminals) > 1:
            return _compiled_modes(modes, rules, terminals, ignored, after, start, files)
        (tried,) = modes.terminals  # rules that no file reaches may have others
        terminals = [one for one in terminals if one.name in tried]
    dfa = compiled_lexemes(terminals, ignored, after, files).expand()
    kinds = {dfa.kinds[kind] for kind in dfa.accepts if kind >= 0} - ignored
    lexed = frozenset(map(terminal_of, kinds)) | of_layout
    sides = _sides(rules)
    lost = tuple(sorted(_reached(start, sides) - lexed - sides.keys()))
    _check_sentences(sides, start, lexed, lost, files)
    grammar = _grammar(_usable(sides, lexed), start, indenter, files)
    literals = _literals(terminals)
    if indenter is not None:
        layout = layout_of(dfa, ignored, files)
        return CompiledGrammar(grammar, dfa, ignored, literals, indenter, layout, lost=lost)
    check_neighbours(grammar, dfa, ignored, files)
    return CompiledGrammar(grammar, dfa, ignored, literals, lost=lost)


def _compiled_dynamic(
    rules: list[Rule],
    start: str,
    terminals: list[TerminalDef],
    ignored: frozenset[str],
    indenter: Indenter | None,
    files: GrammarFiles,
) -> CompiledGrammar:
    """The grammar of bytes that Lark's dynamic lexer reads."""
    if indenter is not None:
        raise GrammarError(
            f"Cannot read {files.name} with the dynamic lexer: it has no indentation in Lark either. "
            f'Use the basic one, with the comment // lexer = "{BASIC}".'
        )
    begin, sides, dfa = bytewise(_sides(rules), start, terminals, ignored, files)
    try:
        grammar = to_grammar(begin, sides)
    except NoSentenceError:
        raise _no_text(start, files) from None
    except TooManyProductionsError as error:
        raise GrammarError(f"{files.name} is too large: {error}; use fewer terminals.") from None
    return CompiledGrammar(grammar, dfa, frozenset(), {})


def _after(
    rules: list[Rule],
    start: str,
    terminals: list[TerminalDef],
    ignored: frozenset[str],
    indenter: Indenter | None,
    lookalikes: Lookalikes,
) -> dict[str, int]:
    """The bytes that may follow each terminal, and perhaps the end, as bits, if some terminal looks ahead."""
    if not any(_LOOKS_AHEAD.search(terminal.pattern.to_regexp()) for terminal in terminals):
        return {}
    try:
        grammar = to_grammar(start, _sides(rules))
    except (NoSentenceError, TooManyProductionsError):
        return {}
    last = {grammar.name(terminal) for terminal in ends(grammar, -1)[grammar.start]}
    following: dict[str, set[str]] = {name: set() for name in last}
    for left, right in neighbours(grammar):
        following.setdefault(grammar.name(left), set()).add(grammar.name(right))
    line_end = {} if indenter is None else {indenter.newline: LINE_END}
    known = lookalikes.number
    skipped = lookalikes.first_bytes(ignored)
    return {
        name: (END_OF_TEXT if name in last else 0)
        | skipped
        | lookalikes.first_bytes(known.keys() & {line_end.get(one, one) for one in names})
        for name, names in following.items()
        if name in known and name not in ignored
    }


def _literals(terminals: Iterable[TerminalDef]) -> dict[str, str]:
    return {one.name: one.pattern.value for one in terminals if isinstance(one.pattern, PatternStr)}


def _compiled_modes(
    modes: LexerModes,
    rules: list[Rule],
    terminals: list[TerminalDef],
    ignored: frozenset[str],
    after: Mapping[str, int],
    start: str,
    files: GrammarFiles,
) -> CompiledGrammar:
    """The grammar whose terminals are read in several *modes*."""
    dfa = compiled_modes(modes.terminals, terminals, ignored, after, files)
    hidden = frozenset(kind for kind in dfa.kinds if kind.partition(IN_MODE)[0] in ignored)
    kinds = {dfa.kinds[kind] for kind in dfa.accepts if kind >= 0} - hidden
    sides = _usable(annotated(rules, start, modes, files), frozenset(map(terminal_of, kinds)))
    grammar = _grammar(sides, start, None, files)
    check_neighbours(grammar, dfa, hidden, files)
    parser = replace(modes.tables, terminals={kind: without_mode(kind) for kind in dfa.kinds})
    return CompiledGrammar(grammar, dfa, hidden, _literals(terminals), parser=parser)


def _with_comments(
    terminals: list[TerminalDef],
    ignored: frozenset[str],
    indenter: Indenter,
    start: str,
    files: GrammarFiles,
) -> tuple[list[TerminalDef], frozenset[str]]:
    """*terminals* and *ignored* ones, with the comments that only the terminal of line ends has.

    Such a comment ends at a line end, so it makes no difference if it is ignored.
    """
    definitions = {str(name): tree for name, (tree, _) in _loaded(files).term_defs if tree is not None}
    line_end = definitions.pop(indenter.newline, None)
    inside = [*line_end.iter_subtrees()] if isinstance(line_end, Tree) else []
    parts = {name for name, tree in definitions.items() if tree in inside}
    if parts <= ignored:
        return terminals, ignored
    kept, _, _ = _compiled_by_lark(files, start, parts)
    known = ignored.union(terminal.name for terminal in terminals)
    added = [one for one in kept if one.name in parts - known and is_comment(one)]
    return [*terminals, *added], ignored.union(one.name for one in added)


def _compiled_by_lark(
    files: GrammarFiles, start: str, kept: Collection[str] = ()
) -> tuple[list[TerminalDef], list[Rule], frozenset[str]]:
    """The terminals, the rules, and the names of ignored terminals that Lark's loader makes of *files*."""
    loaded = _loaded(files)
    if start not in {str(name) for name, parameters, *_ in loaded.rule_defs if not parameters}:
        raise GrammarError(
            f"Cannot start from {start}: {files.name} has no such rule. Choose another one with --start."
        )
    _check_size(loaded, files)
    try:
        terminals, rules, ignored = loaded.compile([start], set(kept))
    except LarkError as error:
        raise GrammarError(f"Cannot use {files.name}: {_first_line(error)}") from error
    except (AssertionError, RecursionError) as error:
        raise GrammarError(f"Cannot use {files.name}: Lark fails on it ({error}).") from error
    if len(terminals) > _MOST_TERMINALS:
        raise GrammarError(f"{files.name} has more than {_MOST_TERMINALS} terminals; use fewer.")
    for terminal in terminals:
        terminal.name = str(terminal.name)  # an imported one has a token of Lark
    return with_ranged(terminals, files), list(rules), frozenset(map(str, ignored))


def _loaded(files: GrammarFiles) -> LarkGrammar:
    builder = GrammarBuilder(False, [files.load])
    try:
        builder.load_grammar(files.text, files.name)
        return builder.build()
    except UnexpectedInput as error:
        position = f"line {error.line}, column {error.column}"
        raise GrammarError(f"{files.name}, {position}: {_first_line(error)}") from error
    except LarkError as error:
        message = _first_line(error)
        undefined = _UNDEFINED.match(message)
        if undefined is not None:
            where = f"The rule {undefined[2]} ({files.location(undefined[2])})"
            raise GrammarError(f"{where} uses {undefined[1]}, which is not defined; define it.") from error
        raise GrammarError(f"Cannot read {files.name}: {message}") from error
    except (AssertionError, OSError, RecursionError, RuntimeError) as error:
        raise GrammarError(f"Cannot read {files.name}: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(":") if lines else type(error).__name__


def _check_size(loaded: LarkGrammar, files: GrammarFiles) -> None:
    """Refuse a rule that Lark would expand into too many alternatives."""
    for name, _, tree, _ in loaded.rule_defs:
        ways = _ways(tree)
        if ways > MOST_WAYS:
            raise GrammarError(
                f"The rule {name} ({files.location(str(name))}) has {ways:,} expansions, as every optional "
                f"part doubles their number; move some of its parts to rules of their own."
            )


def _ways(node: object) -> int:
    """Number of alternatives into which Lark expands *node*, without counted repetitions."""
    if not isinstance(node, Tree):
        return 1
    counts = [_ways(child) for child in node.children]
    if node.data == "expansions":
        return sum(counts)
    if node.data == "maybe":
        return counts[0] + 1
    if node.data == "expr":
        operator = [str(child) for child in node.children[1:] if isinstance(child, Token)]
        return counts[0] + 1 if operator in (["?"], ["*"]) else counts[0]
    product = 1
    for ways in counts:
        product = min(product * ways, 1 << 62)
    return product


def _sides(rules: Iterable[Rule]) -> dict[str, list[Side]]:
    sides: dict[str, list[Side]] = {}
    for rule in rules:
        side = tuple(str(symbol.name) for symbol in rule.expansion)
        sides.setdefault(str(rule.origin.name), []).append(side)
    return sides


def _reached(start: str, sides: Mapping[str, list[Side]]) -> set[str]:
    """The symbols of the rules that *start* leads to."""
    reached, waiting = {start}, [start]
    while waiting:
        fresh = {one for side in sides.get(waiting.pop(), ()) for one in side} - reached
        reached |= fresh
        waiting += fresh
    return reached


def _usable(sides: Mapping[str, list[Side]], lexed: frozenset[str]) -> dict[str, list[Side]]:
    """*sides* without those that need a terminal missing in *lexed*."""
    known = lexed.union(sides)
    return {name: [side for side in own if known.issuperset(side)] for name, own in sides.items()}


def _check_sentences(
    sides: Mapping[str, list[Side]],
    start: str,
    lexed: frozenset[str],
    lost: Sequence[str],
    files: GrammarFiles,
) -> None:
    """Refuse a grammar that derives no text because the lexer never reads the terminals *lost*."""
    is_derived = start in derived(sides, lambda one: one not in sides)
    if not lost or not is_derived or start in derived(_usable(sides, lexed), lexed.__contains__):
        return
    raise GrammarError(
        f"The rule {start} ({files.location(start)}) derives no text: the lexer reads all texts of "
        f"{lost[0]} ({files.location(lost[0])}) as another terminal. Give {lost[0]} a higher priority, or "
        f'use the contextual lexer, with the comment // lexer = "{CONTEXTUAL}".'
    )


def _grammar(
    sides: dict[str, list[Side]], start: str, indenter: Indenter | None, files: GrammarFiles
) -> Grammar:
    """The grammar of *sides*."""
    try:
        if indenter is None:
            return to_grammar(start, sides)
        grammar = to_grammar(start, in_blocks(start, laid_out(start, sides, indenter)))
        check_blocks(grammar, start, files)
        return grammar
    except NoSentenceError:
        raise _no_text(start, files) from None
    except BlockError as error:
        name = str(error)
        raise GrammarError(
            f"In the rule {name} ({files.location(name)}) a block starts and ends in different rules; "
            f"write both of its terminals in one rule."
        ) from None
    except TooManyProductionsError as error:
        raise GrammarError(f"{files.name} is too large: {error}; use fewer optional parts.") from None


def _no_text(start: str, files: GrammarFiles) -> GrammarError:
    return GrammarError(
        f"The rule {start} ({files.location(start)}) derives no text, or only the empty one; "
        f"add an alternative without recursion."
    )


def _check_declared(rules: Iterable[Rule], defined: Collection[str], files: GrammarFiles) -> None:
    """Refuse terminals that only a program of the user's could make, such as those of an indenter."""
    for rule in rules:
        for symbol in rule.expansion:
            if symbol.is_term and symbol.name not in defined:
                name = str(rule.origin.name)
                raise GrammarError(
                    f"The rule {name} ({files.location(name)}) needs {symbol.name}, which is only declared; "
                    f"define it (an indenter has _INDENT and _DEDENT, unless comments name others)."
                )


def check_neighbours(grammar: Grammar, dfa: Dfa, ignored: frozenset[str], files: GrammarFiles) -> None:
    """Refuse a grammar in which a terminal may run into the next one.

    A valid start of a text could otherwise have no end.

    Raises:
        GrammarError: it names both terminals.
    """
    hidden = {number for number, kind in enumerate(dfa.kinds) if kind in ignored}
    separation = Separation(dfa, hidden)
    kinds: dict[str, list[int]] = {}
    for number, kind in enumerate(dfa.kinds):
        if number not in hidden:
            kinds.setdefault(terminal_of(kind), []).append(number)
    after = separation.after if hidden else separation.surely_after
    followers: dict[int, frozenset[int]] = {}
    forced = _forced_pairs(grammar)
    for left, right in sorted(neighbours(grammar)):
        one, other = grammar.name(left), grammar.name(right)
        following = sum(1 << kind for kind in kinds[other])
        for own in kinds[one]:
            if own not in followers:
                inside = (state for state, live in enumerate(dfa.live) if live >> own & 1)
                followers[own] = frozenset(after(state, own) for state in inside)
            apart = [bool(kinds_after & following) for kinds_after in followers[own]]
            if all(apart) or (not any(apart) and (left, right) not in forced):
                continue  # terminals that are never adjacent start nothing
            first, second = without_mode(one), without_mode(other)
            whole = _going_on(dfa, own, hidden) if hidden else None
            raise GrammarError(
                f"{second} ({files.location(second)}) may follow {first} ({files.location(first)}), but "
                + (
                    f"would be read as a part of {whole} ({files.location(whole)}), which may start like "
                    f"{first} and goes on after it; let the two start differently."
                    if whole is not None
                    else f"would be read as a part of it; %ignore white space, or let {first} end with a "
                    f"delimiter."
                )
            )


def _going_on(dfa: Dfa, own: int, hidden: Collection[int]) -> str | None:
    """A terminal that may start like the kind *own*, and has ignored text inside; else None.

    *hidden* are the ignored kinds.
    """
    begins = [*dfa.starts.values()]
    ignored = sum(1 << kind for kind in hidden)
    rows = [dfa.rows[begin] for begin in begins]
    skipped = [byte for byte in range(256) if any(dfa.live[row[byte]] & ignored for row in rows)]
    inside = (state for state, live in enumerate(dfa.live) if live >> own & 1 and state not in begins)
    for state, byte in product(inside, skipped):
        live = dfa.live[dfa.rows[state][byte]]
        if live and not live & (ignored | 1 << own):
            return without_mode(dfa.kinds[live.bit_length() - 1])
    return None


def _forced_pairs(grammar: Grammar) -> frozenset[tuple[int, int]]:
    """The pairs of terminals of which one must follow the other somewhere."""
    first, last = ends(grammar, 0), ends(grammar, -1)
    pairs: set[tuple[int, int]] = set()
    for production in grammar.productions:
        for left, right in zip(production.rhs, production.rhs[1:], strict=False):
            if len(last[left]) == len(first[right]) == 1:
                pairs.add((next(iter(last[left])), next(iter(first[right]))))
    return frozenset(pairs)
