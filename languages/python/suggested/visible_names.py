"""Whether the names that a suggestion uses are bound where it would stand, as Python's own compiler sees it.

The compiler's symbol table tells for every scope which names it binds and which it looks up among the globals
and builtins. Where a file leaves that open (`from x import *`, `exec`, `globals()`), only `self` and `cls`
can be unknown, which nobody binds so; where it does not parse, no name is.
"""

from __future__ import annotations

import re
import symtable
from collections.abc import Iterator
from keyword import iskeyword

from fimlsp.languages.python.names.code_state import CodeState, state_behind
from fimlsp.languages.python.names.scopes import (
    ALWAYS_BOUND,
    MOST_BYTES,
    code_alone,
    leaves_open,
    scopes_of,
    symbols_of,
)

FAR = 4_000
"""Bytes behind the cursor in which the comprehensions around it end."""

_NAME = re.compile(rb"(?<![\w\x80-\xff.])[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_PLAIN_STRING = re.compile(
    rb"(?<![\w\x80-\xff])(?:[bru]|br|rb)?(?:\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')", re.IGNORECASE
)
_BEGUN_WORD = re.compile(rb"[\w\x80-\xff.]*\Z")
_PARAMETERS_ALONE = frozenset(["self", "cls"])
_FUTURE = re.compile(rb"^from[ \t]+__future__[ \t]+import\b[^\n(\\]*$", re.M)
"""The import that would keep names in annotations out of the symbol table."""

_CLAUSES = re.compile(rb"([(\[{])|([)\]}])|(\n)|\bfor\b([^\n:]*?)\bin\b")
"""What tells which comprehensions of a text are still open: brackets, ends of lines, and targets."""

_BINDS_WITHIN = re.compile(rb"\b(?:for|lambda)\b")
_OWN_TARGET = re.compile(rb"^[ \t]*[\w\x80-\xff, \t]+=(?!=)")


def first_unknown_name(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset of the first name in *text*, between *left* and *right*, that nothing binds.

    None if all are bound, or if that cannot be known. A name that a function binds only behind the cursor is
    unknown.
    """
    if len(left) + len(text) + len(right) > MOST_BYTES:
        return None
    used = {name: offset for offset, name in reversed([*_names(left, text)])}
    whole = left + text + right
    if used and leaves_open(whole):
        used = {name: offset for name, offset in used.items() if name in _PARAMETERS_ALONE}
    module = symbols_of(_FUTURE.sub(b"pass", whole, count=1)) if used else None
    if module is None:
        return None
    unknown = _unknown(module, set(used), left, text, right)
    return min((used[name] for name in unknown), default=None)


def _names(left: bytes, text: bytes) -> Iterator[tuple[int, str]]:
    """The names in the code of *text* that are neither built in nor attributes, with their offsets."""
    before = _begun_word(left)
    code = before + text
    if (b'"' in text or b"'" in text) and not state_behind(left).quote:
        code = _PLAIN_STRING.sub(lambda string: b" " * len(string[0]), code)
    for found in _NAME.finditer(code):
        name = found[0].decode(errors="replace")
        if found.end() > len(before) and not (iskeyword(name) or name in ALWAYS_BOUND):
            yield max(0, found.start() - len(before)), name


def _bound_by(state: CodeState) -> bytes:
    """The keyword that makes names bound where *state* is, such as `for` before its `in`."""
    return state.clause.split()[-1] + b" " if state.clause else b""


def _begun_word(left: bytes) -> bytes:
    """What *left* has of a name, with its owners, that goes on behind it."""
    begun = _BEGUN_WORD.search(left[-200:])
    return begun[0] if begun else b""


def _unknown(
    module: symtable.SymbolTable, wanted: set[str], left: bytes, text: bytes, right: bytes
) -> set[str]:
    """Those of the names *wanted* that *text* uses unbound."""
    scopes = [*scopes_of(module)]
    bound = {name for name in wanted if _is_bound(module, name)}
    bound |= {
        name for scope in scopes[1:] for name in wanted & _names_of(scope) if _binds_global(scope, name)
    }
    unknown = {
        name
        for scope in scopes
        for name in (wanted - bound) & _names_of(scope)
        if scope.lookup(name).is_global()
    }
    state = state_behind(left)
    variables = wanted - _targets_around(state, right)
    *lines, line = left.split(b"\n")
    lines.append(_OWN_TARGET.sub(b"", line))
    written = _bound_by(state) + _begun_word(left) + text
    for scope in scopes[1:]:
        names = [name for name in variables & _names_of(scope) if _is_variable(scope.lookup(name))]
        if names and scope.get_type() == "function" and scope.get_lineno() <= len(lines):
            above = code_alone(b"\n".join(lines[scope.get_lineno() - 1 :]))
            unknown.update(name for name in names if _is_bound_below(name, above, written))
    return unknown


def _targets_around(state: CodeState, right: bytes) -> set[str]:
    """The names that comprehensions around the cursor, where *state* is, bind in *right*."""
    names, inside = set[str](), len(state.brackets)
    depth = lowest = inside
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
    """Whether *symbol* is a local variable, no parameter, that is read."""
    return symbol.is_local() and symbol.is_referenced() and not symbol.is_parameter()


def _is_bound_below(name: str, above: bytes, text: bytes) -> bool:
    """Whether neither *above*, its function so far, nor *text* binds the variable *name*."""
    word = re.escape(name.encode())
    binds = rb"\b(?:for|as|def|class|import|from)\b[^\n=]*\b%b\b|\b%b\b[^\n=!<>()]*:?=(?!=)|\b%b\s*:" % (
        word,
        word,
        word,
    )
    if re.search(rb"(?<![\w.])%b\b" % word, above) is not None:
        return False
    bound = re.search(binds, text)
    return bound is None or _uses_own_target(text[text.rfind(b"\n", 0, bound.start()) + 1 :], word)


def _uses_own_target(statement: bytes, word: bytes) -> bool:
    """Whether the first line of *statement* assigns what is made of its own target, *word*.

    In a comprehension or a lambda the name may be another one.
    """
    line = statement.partition(b"\n")[0]
    target = _OWN_TARGET.match(line)
    if target is None or _BINDS_WITHIN.search(line):
        return False
    return re.search(rb"(?<![\w.])%b\b(?!\s*=(?!=))" % word, line[target.end() :]) is not None
