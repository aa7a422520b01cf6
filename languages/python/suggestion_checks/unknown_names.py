"""Finds names in a suggestion that nothing binds where it would stand, by Python's own symbol table.

The table holds for every scope the names that it binds, and those that it reads from globals and builtins.
A file with `from x import *`, `exec` or `globals()` may have any name, and one that does not parse or is
large has no such table. There a name is unknown that occurs nowhere in the file and was not looked up
(`new_names.py`). With a table, so are `self` and `cls`, which no import binds.
"""

from __future__ import annotations

import re
import symtable
from collections.abc import Callable, Iterator, Mapping
from keyword import iskeyword

from fimlsp.languages.python.names.code_state import CodeState, state_at_end
from fimlsp.languages.python.names.symbol_tables import (
    ALWAYS_BOUND,
    MOST_BYTES,
    code_alone,
    leaves_open,
    scopes_of,
    symbols_of,
)
from fimlsp.languages.python.suggestion_checks.new_names import new_names

FAR = 4_000
"""Bytes after the cursor within which the comprehensions around it are read."""

_NAME = re.compile(rb"(?<![\w\x80-\xff.])[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_PLAIN_STRING = re.compile(
    rb"(?<![\w\x80-\xff])(?:[bru]|br|rb)?(?:\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')", re.IGNORECASE
)
_BEGUN_WORD = re.compile(rb"(?<![\w\x80-\xff.])[\w\x80-\xff.]*\Z")
_ONLY_PARAMETERS = frozenset(["self", "cls"])
_FUTURE = re.compile(rb"^from[ \t]+__future__[ \t]+import\b[^\n(\\]*$", re.M)
"""The import that would keep names in annotations out of the symbol table."""

_CLAUSES = re.compile(rb"([(\[{])|([)\]}])|(\n)|\bfor\b((?:(?!\bfor\b)[^\n:])*?)\bin\b")
"""Brackets, line ends and targets: these decide which comprehensions of a text are still open."""

_BINDS_WITHIN = re.compile(rb"\b(?:for|lambda)\b")
_OWN_TARGET = re.compile(rb"^[\w\x80-\xff, \t]+=(?!=)")


def first_unknown_name(
    left: bytes, text: bytes, right: bytes, is_visible: Callable[[bytes], bool] = lambda _: False
) -> int | None:
    """The offset of the first name in *text*, between *left* and *right*, that nothing binds.

    None if all are bound, or if it is unclear. A name that a function binds only after the cursor is unknown.
    *is_visible* returns True for a name that was looked up, such as one of a star import.
    """
    offsets = {name: offset for offset, name in reversed([*_names(left, text)])}
    if not offsets:
        return None
    whole = left + text + right
    is_small = len(whole) <= MOST_BYTES
    if is_open := is_small and leaves_open(whole):
        offsets = {name: offset for name, offset in offsets.items() if name in _ONLY_PARAMETERS}
    module = symbols_of(_FUTURE.sub(b"pass", whole, count=1)) if is_small and offsets else None
    found = [] if module is None else [*_unbound(module, offsets, left, text, right)]
    if is_open or module is None:
        found += [offset for offset, name in new_names(left, text, right) if not is_visible(name)]
    return min(found, default=None)


def _unbound(
    module: symtable.SymbolTable, offsets: Mapping[str, int], left: bytes, text: bytes, right: bytes
) -> Iterator[int]:
    """The offsets of those names of *offsets* that nothing binds in *module*."""
    scopes, used = [*scopes_of(module)], set(offsets)
    unknown = _unbound_globals(scopes, used) | _unbound_variables(module, used, left, text, right)
    return (offsets[name] for name in unknown)


def _names(left: bytes, text: bytes) -> Iterator[tuple[int, str]]:
    """The names in the code of *text* that are neither built in nor attributes, with their offsets."""
    begun = _begun_word(left)
    code = begun + text
    if (b'"' in text or b"'" in text) and not state_at_end(left).quote:
        code = _PLAIN_STRING.sub(lambda string: b" " * len(string[0]), code)
    for word in _NAME.finditer(code):
        name = word[0].decode(errors="replace")
        if word.end() > len(begun) and not (iskeyword(name) or name in ALWAYS_BOUND):
            yield max(0, word.start() - len(begun)), name


def _begun_word(left: bytes) -> bytes:
    """The part of a name, with its owners, that *left* ends with."""
    begun = _BEGUN_WORD.search(left[-200:])
    return begun[0] if begun else b""


def _unbound_globals(scopes: list[symtable.SymbolTable], used: set[str]) -> set[str]:
    """The names of *used* that some scope reads from the globals, and that none binds there."""
    module = scopes[0]
    bound = {name for name in used if _is_bound(module, name)}
    bound |= {name for scope in scopes[1:] for name in used & _names_of(scope) if _binds_global(scope, name)}
    return {
        name
        for scope in scopes
        for name in (used - bound) & _names_of(scope)
        if scope.lookup(name).is_global()
    }


def _unbound_variables(
    module: symtable.SymbolTable, used: set[str], left: bytes, text: bytes, right: bytes
) -> set[str]:
    """The names of *used* that their function binds only after the cursor."""
    state = state_at_end(left)
    variables = used - _targets_around(state, right)
    *lines, line = left.split(b"\n")
    lines.append(_OWN_TARGET.sub(b"", line))
    written = _binding_keyword(state) + _begun_word(left) + text
    unbound = set[str]()
    for scope in _scopes_at(module, len(lines)):
        names = [name for name in variables & _names_of(scope) if _is_variable(scope.lookup(name))]
        if names and scope.get_type() == "function":
            above = code_alone(b"\n".join(lines[scope.get_lineno() - 1 :]))
            unbound.update(name for name in names if not _is_bound_before(name, above, written))
    return unbound


def _scopes_at(scope: symtable.SymbolTable, line: int) -> Iterator[symtable.SymbolTable]:
    """The scopes in *scope* that may reach to the number *line*: of scopes side by side, the last ones."""
    begun = [child for child in scope.get_children() if child.get_lineno() <= line]
    last = max((child.get_lineno() for child in begun), default=0)
    for child in begun:
        if child.get_lineno() == last:
            yield child
            yield from _scopes_at(child, line)


def _binding_keyword(state: CodeState) -> bytes:
    """The keyword that binds the names at *state*, such as `for` before its `in`; empty if there is none."""
    return state.clause.split()[-1] + b" " if state.clause else b""


def _targets_around(state: CodeState, right: bytes) -> set[str]:
    """The names that comprehensions around the cursor bind in *right*; *state* is that of the cursor."""
    names = set[str]()
    depth = lowest = len(state.brackets)
    for opens, closes, ends_line, targets in _CLAUSES.findall(code_alone(right[:FAR])):
        depth += bool(opens) - bool(closes)
        lowest = min(lowest, depth)
        if depth < 0 or (ends_line and depth == 0):
            break
        if targets and depth == lowest > 0:
            names |= {name[0].decode(errors="replace") for name in _NAME.finditer(targets)}
    return names


def _names_of(scope: symtable.SymbolTable) -> set[str]:
    return set(scope.get_identifiers())


def _is_bound(module: symtable.SymbolTable, name: str) -> bool:
    return name in _names_of(module) and module.lookup(name).is_local()


def _binds_global(scope: symtable.SymbolTable, name: str) -> bool:
    symbol = scope.lookup(name)
    return symbol.is_declared_global() and (symbol.is_assigned() or symbol.is_imported())


def _is_variable(symbol: symtable.Symbol) -> bool:
    """True if *symbol* is a local variable, not a parameter, that is read."""
    return symbol.is_local() and symbol.is_referenced() and not symbol.is_parameter()


def _is_bound_before(name: str, above: bytes, text: bytes) -> bool:
    """True if *above*, the start of its function, names the variable *name*, or *text* binds it."""
    word = re.escape(name.encode())
    if re.search(rb"(?<![\w.])%b\b" % word, above) is not None:
        return True
    binding = re.search(
        rb"\b(?:for|as|def|class|import|from)\b(?:(?!\b(?:for|as|def|class|import|from)\b)[^\n=])*\b%b\b"
        rb"|\b%b\b(?:(?!\b%b\b)[^\n=!<>()])*:?=(?!=)|\b%b\s*:" % (word, word, word, word),
        text,
    )
    if binding is None:
        return False
    return not _reads_own_target(text[text.rfind(b"\n", 0, binding.start()) + 1 :], word)


def _reads_own_target(statement: bytes, word: bytes) -> bool:
    """True if the first line of *statement* assigns to *word* a value made of *word* itself.

    In a comprehension or a lambda the name may be another one.
    """
    line = statement.partition(b"\n")[0]
    target = _OWN_TARGET.match(line)
    if target is None or _BINDS_WITHIN.search(line):
        return False
    return re.search(rb"(?<![\w.])%b\b(?!\s*=(?!=))" % word, line[target.end() :]) is not None
