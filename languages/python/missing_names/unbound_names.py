"""Finds names around a cursor that are used and not bound, or bound and not used.

While code is edited in the middle, the code around the cursor shows the names that are missing there. A line
below that reads `total` needs one that assigns it. A call of `urlsplit` needs its import, a function that
reads `path` a parameter of this name. These are free variables of the right context. A variable that was just
assigned, or a parameter, is probably used next. Python's own compiler knows both. A probe is put at the
cursor. The symbol table of the file then has the scope of the probe, and all other names of that scope.
"""

from __future__ import annotations
import __future__

import re
import symtable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from fimlsp.languages.python.names.code_state import CodeState, NameRole
from fimlsp.languages.python.names.symbol_tables import (
    ALWAYS_BOUND,
    MOST_BYTES,
    code_alone,
    leaves_open,
    scopes_of,
    symbols_of,
)
from fimlsp.quotient.states.protocol import State

PROBE = b"name_at_the_cursor"
"""The name put at the cursor, to look up its scope."""

RECEIVERS = frozenset([b"self", b"cls"])
"""Parameters that need not be used."""

LONGEST_WORD = 200
"""Bytes of a word that are read."""

_ASSIGNED = b" = 0"
_BEGUN_WORD = re.compile(rb"(?<![\w\x80-\xff])[\w\x80-\xff]*\Z")
_IN_WORD = re.compile(rb"[\w\x80-\xff]")
_IMPORT = re.compile(rb"\bimport\b((?:\\\r?\n|[^\n(\\])*(?:\([^()]*)?)")
_WORDS = re.compile(rb"[\w\x80-\xff]+")
_FOR_OTHERS = re.compile(rb"\bnoqa\b")
"""The comment on an import that is intended although unused, as other files import it from there."""

_BLANK_LINE = re.compile(rb"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")
_BINDS_AFTER = re.compile(
    rb"\s*(?::?=(?!=)|:(?!=)[^\n]*=(?!=)|,[^\n()]*[^=!<>\n]=(?!=))|(?:(?!\bfor\b)[^\n])*\bfor\b[^\n]*\bin\b"
)
_BRANCH = re.compile(rb"([ \t]*)(?:elif|else|except)\b.*:[ \t]*(?:#.*)?\Z")
_TARGETS = re.compile(rb"^[ \t]*(\w+(?:, *\w+)*)[ \t]*(?::[^=\n]+)?=(?!=)", re.M)
_BINDS_BEFORE = re.compile(rb"\b(?:for|as|def|class|import|from|global|nonlocal|lambda|del|case)\b")


@dataclass(frozen=True, slots=True)
class UnboundNames:
    """The names around a cursor that lack a binding or a use.

    Attributes:
        scope: the kind of the scope of a name at the cursor: `module`, `class` or `function`.
        missing: names that could be bound at the cursor, and that the code after it uses although nothing
            binds them, in the order of their use.
        unused: variables and parameters of the function, bound before the cursor, that nothing uses.
        unused_imports: names that the file imports before the cursor and mentions nowhere else.
        branch_targets: the targets that the next branch binds, such as an `else`, and the cursor's does not,
            as written there. They are used below both.
    """

    scope: str = "module"
    missing: tuple[bytes, ...] = ()
    unused: tuple[bytes, ...] = ()
    unused_imports: tuple[bytes, ...] = ()
    branch_targets: bytes = b""


NONE = UnboundNames()


class _Probed(NamedTuple):
    """The whole file with the probe: the code left of it, the probe itself, and the code right of it."""

    left: bytes
    text: bytes
    right: bytes


def unbound_names(left: bytes, right: bytes, start: State, state: CodeState) -> UnboundNames:
    """The unbound and unused names around a cursor between *left*, which ends with *state*, and *right*.

    *start* connects the two. There are none in strings and comments, in large files, and in files that may
    have any name, as by a star import. About 1.5 ms for each 1,000 lines.
    """
    if state.quote or len(left) + len(right) > MOST_BYTES or leaves_open(left + right):
        return NONE
    probed = _probed(left, right, start, state)
    is_statement = state.role is NameRole.START and not state.last
    return NONE if probed is None else _names_around(probed, is_statement)


@lru_cache(maxsize=1)
def _names_around(probed: _Probed, is_statement: bool) -> UnboundNames:
    """The names around the probe, which starts a statement or not.

    While a word is typed the file with the probe does not change, so the last result is cached.
    """
    module = symbols_of(b"".join(probed))
    scope = None if module is None else _scope_of_probe(module, probed.left.count(b"\n") + 1)
    if module is None or scope is None:
        return NONE
    above = code_alone(b"\n".join(probed.left.split(b"\n")[max(0, scope.get_lineno() - 1) :]))
    missing, targets = list[bytes](), b""
    if _binds(scope, PROBE.decode()):
        missing = _missing(module, scope, above, probed.right)
        targets = _targets_of_next_branch(probed.left, above, probed.right) if is_statement else b""
    unused, imports = _unused(scope, above), _unused_imports(module, probed)
    return UnboundNames(str(scope.get_type()), tuple(missing), tuple(unused), tuple(imports), targets)


def is_import(state: CodeState) -> bool:
    """True if the statement at *state* is an import."""
    return state.head in (b"from", b"import") or state.clause == b"from"


def begun_word(left: bytes) -> bytes:
    """The part of a word that *left* ends with."""
    begun = _BEGUN_WORD.search(left[-LONGEST_WORD:])
    return begun[0] if begun else b""


def _probed(left: bytes, right: bytes, start: State, state: CodeState) -> _Probed | None:
    """The file with the probe in place of the word at the cursor; None if it does not fit there.

    In an import, the probe replaces the whole statement before the cursor.
    """
    line_start = left.rfind(b"\n") + 1
    if is_import(state) and not state.brackets and _BLANK_LINE.match(right):
        indent = len(left) - len(left[line_start:].lstrip())
        return _Probed(left[:indent], PROBE + _ASSIGNED, right)
    before = left[: len(left) - len(begun_word(left))]
    for ending in (_ASSIGNED, b"") if state.role is NameRole.START else (b"",):
        following = start.feed(PROBE + ending)
        if following is not None and (following.complete or not ending):
            closing = b"" if following.complete else following.shortest_completion
            return _Probed(before, PROBE + ending + closing, right)
    return None


def _scope_of_probe(scope: symtable.SymbolTable, row: int) -> symtable.SymbolTable | None:
    """The scope, *scope* or an inner one, that binds the probe in line *row*; else the one that uses it."""
    inner = (_scope_of_probe(child, row) for child in scope.get_children() if child.get_lineno() <= row)
    scopes = [child for child in inner if child is not None]
    if PROBE.decode() in scope.get_identifiers():
        scopes.append(scope)
    binding = (known for known in scopes if _binds(known, PROBE.decode()))
    return next(binding, scopes[0] if scopes else None)


def _binds(scope: symtable.SymbolTable, name: str) -> bool:
    symbol = scope.lookup(name)
    return symbol.is_local() and (symbol.is_assigned() or symbol.is_parameter() or symbol.is_imported())


def _missing(
    module: symtable.SymbolTable, scope: symtable.SymbolTable, above: bytes, right: bytes
) -> list[bytes]:
    """The names that *scope* lacks after the cursor, in the order of their first use in *right*.

    *above* is its code before the cursor.
    """
    unbound, variables = _unbound(module, scope), _variables(scope)
    if scope.get_type() == "function":
        unbound -= _used_outside(module, scope, unbound)
    names = {name for name in unbound | variables if not _word(name).search(above)}
    below = code_alone(right) if names else b""
    offsets = dict[bytes, int]()
    for name in names:
        use = _word(name).search(below)
        if use is not None and (name in unbound or not _is_binding(below, use.start(), use.end())):
            offsets[name] = use.start()
    return sorted(offsets, key=lambda name: offsets[name])


def _unbound(module: symtable.SymbolTable, scope: symtable.SymbolTable) -> set[bytes]:
    """The names that *scope* or a scope within it uses and nothing binds."""
    reached = [scope] if scope.get_type() == "class" else [*scopes_of(scope)]
    bound = {name for name in module.get_identifiers() if module.lookup(name).is_local()}
    known = bound | ALWAYS_BOUND | {PROBE.decode()}
    free, declared = set[bytes](), set[bytes]()
    for inner in reached:
        for name in set(inner.get_identifiers()) - known:
            symbol = inner.lookup(name)
            if symbol.is_declared_global():
                declared.add(name.encode())
            elif inner is module or symbol.is_global():
                free.add(name.encode())
    return free - declared


def _used_outside(
    module: symtable.SymbolTable, function: symtable.SymbolTable, names: set[bytes]
) -> set[bytes]:
    """Those of *names* that are used outside *function*, too, and not bound there either.

    Then the whole file lacks them, or they are builtins of another version of Python.
    """
    inner = {scope.get_id() for scope in scopes_of(function)}
    outer = [scope for scope in scopes_of(module) if scope.get_id() not in inner] if names else []
    return {
        name
        for name in names
        for scope in outer
        if name.decode() in scope.get_identifiers() and scope.lookup(name.decode()).is_global()
    }


def _variables(scope: symtable.SymbolTable) -> set[bytes]:
    """The names that *scope* binds without annotation, without parameters; only for a function."""
    if scope.get_type() != "function":
        return set()
    symbols = map(scope.lookup, scope.get_identifiers())
    return {
        symbol.get_name().encode()
        for symbol in symbols
        if symbol.is_local() and not (symbol.is_parameter() or symbol.is_annotated())
    }


def _targets_of_next_branch(left: bytes, above: bytes, right: bytes) -> bytes:
    """The first targets of the branch below that of the cursor, at the end of *left*, that only that binds.

    They are used in the code below both branches, and not bound *above* in the function.
    """
    column, lines = len(left) - left.rfind(b"\n") - 1, right.split(b"\n")[1:]
    own, lines = _deeper(lines, column - 1)
    branch = _BRANCH.match(lines[0]) if lines else None
    if branch is None:
        return b""
    inside, lines = _deeper(lines[1:], len(branch[1]))
    below, _ = _deeper(lines, len(branch[1]) - 1)
    for target in _TARGETS.finditer(b"\n".join(inside)):
        word = _word(target[1].partition(b",")[0])
        if word.search(b"\n".join(below)) and not (word.search(above) or word.search(b"\n".join(own))):
            return target[1]
    return b""


def _deeper(lines: list[bytes], column: int) -> tuple[list[bytes], list[bytes]]:
    """The first of *lines* that are blank or indented by more than *column*, and the others."""
    end = next((n for n, line in enumerate(lines) if line.strip() and _column(line) <= column), len(lines))
    return lines[:end], lines[end:]


def _column(line: bytes) -> int:
    return len(line) - len(line.lstrip())


def _is_binding(text: bytes, start: int, end: int) -> bool:
    """True if the name between *start* and *end* of *text* may be bound there rather than read."""
    before = text[max(text.rfind(sign, 0, start) for sign in (b"\n", b"=")) + 1 : start]
    return _BINDS_AFTER.match(text, end) is not None or _BINDS_BEFORE.search(before) is not None


def _unused(scope: symtable.SymbolTable, above: bytes) -> Iterator[bytes]:
    """The names that *scope* binds *above* the cursor and uses nowhere; only for a function."""
    if scope.get_type() != "function":
        return
    inner = [child for child in scopes_of(scope) if child is not scope]
    free = {name for child in inner for name in child.get_identifiers() if child.lookup(name).is_free()}
    for name in scope.get_identifiers():
        symbol, word = scope.lookup(name), name.encode()
        is_used = symbol.is_referenced() or name in free
        needs_use = symbol.is_local() and not (is_used or word.startswith(b"_") or word in RECEIVERS)
        if needs_use and _word(word).search(above):
            yield word


def _unused_imports(module: symtable.SymbolTable, probed: _Probed) -> Iterator[bytes]:
    """The names that the top level imports left of the probe and the file mentions nowhere else.

    Imports with a comment that marks them as intended for other files are left out.
    """
    written = {word for line in _IMPORT.findall(probed.left) for word in _WORDS.findall(line)}
    # A look-up goes through all scopes of the module, so only names within imports have one.
    names = [name for name in module.get_identifiers() if name.encode() in written]
    for symbol in map(module.lookup, names):
        if symbol.is_imported() and symbol.get_name() not in __future__.all_feature_names:
            name = symbol.get_name().encode()
            offsets = [*islice(_offsets(name, probed.left), 2)]
            if len(offsets) == 1 and next(_offsets(name, probed.right), None) is None:
                line_end = probed.left.find(b"\n", offsets[0])
                comment = probed.left[offsets[0] : line_end].partition(b"#")[2]
                if line_end >= 0 and _FOR_OTHERS.search(comment) is None:
                    yield name


def _offsets(name: bytes, text: bytes) -> Iterator[int]:
    """The offsets of *name* in *text* as a whole word."""
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if not (_IN_WORD.match(text, max(0, start - 1), start) or _IN_WORD.match(text, end)):
            yield start
        start = text.find(name, end)


def _word(name: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![\w.\x80-\xff])%b(?![\w\x80-\xff])" % re.escape(name))
