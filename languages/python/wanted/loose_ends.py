"""Finds the loose ends of the code around a cursor: names used and not bound, or bound and not used.

While code is edited in the middle, what surrounds the cursor tells what is missing. A line below that reads
`total` wants one that assigns it, a call of `urlsplit` its import, a function that reads `path` a parameter
of this name: they are free variables of the right context. And what was just assigned, or is a parameter,
wants to be used. Python's own compiler knows both: a name of ours is put at the cursor, and the symbol table
of the file tells in which scope that stands, and what else the scope lacks.
"""

from __future__ import annotations
import __future__

import re
import symtable
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from fimlsp.languages.python.names.code_state import CodeState, Place
from fimlsp.languages.python.names.scopes import (
    ALWAYS_BOUND,
    MOST_BYTES,
    code_alone,
    leaves_open,
    scopes_of,
    symbols_of,
)
from fimlsp.quotient.states.protocol import State

PROBE = b"name_at_the_cursor"
"""Put at the cursor to see what a name there would be."""

RECEIVERS = frozenset([b"self", b"cls"])
"""Parameters that need not be used."""

LONGEST_WORD = 200
"""Bytes of a word that are looked at."""

_ASSIGNED = b" = 0"
_BEGUN_WORD = re.compile(rb"[\w\x80-\xff]*\Z")
_IN_WORD = re.compile(rb"[\w\x80-\xff]")
_FOR_OTHERS = re.compile(rb"#[^\n]*\bnoqa\b")
"""Tells linters that an import is meant though the file does not use it: others import it from there."""

_BLANK_LINE = re.compile(rb"[ \t]*(?:#[^\n]*)?(?:\r?\n|\Z)")
_BINDS_AFTER = re.compile(
    rb"\s*(?::?=(?!=)|:(?!=)[^\n]*=(?!=)|,[^\n()]*[^=!<>\n]=(?!=))|[^\n]*\bfor\b[^\n]*\bin\b"
)
_BRANCH = re.compile(rb"([ \t]*)(?:elif|else|except)\b.*:[ \t]*(?:#.*)?\Z")
_TARGETS = re.compile(rb"^[ \t]*(\w+(?:, *\w+)*)[ \t]*(?::[^=\n]+)?=(?!=)", re.M)
_BINDS_BEFORE = re.compile(rb"\b(?:for|as|def|class|import|from|global|nonlocal|lambda|del|case)\b[^\n=]*\Z")


@dataclass(frozen=True, slots=True)
class LooseEnds:
    """What a scope lacks.

    Attributes:
        scope: that of a name at the cursor: `module`, `class` or `function`.
        missing: names that could be bound at the cursor, and that the code behind it uses although nothing
            binds them, in the order in which they are used.
        unused: variables and parameters of the function, bound before the cursor, that nothing uses.
        imported: what the file imports before the cursor and uses nowhere, nor names in any other way.
        targets: what the next branch binds, such as an `else`, and the cursor's does not, though it is used
            below both; as it is written there.
    """

    scope: str = "module"
    missing: tuple[bytes, ...] = ()
    unused: tuple[bytes, ...] = ()
    imported: tuple[bytes, ...] = ()
    targets: bytes = b""


NONE = LooseEnds()


class _Probed(NamedTuple):
    """The whole file with the probe in it, between what is left and right of it."""

    left: bytes
    text: bytes
    right: bytes


def loose_ends(left: bytes, right: bytes, start: State, state: CodeState) -> LooseEnds:
    """The loose ends around a cursor between *left*, whose end *state* describes, and *right*.

    *start* connects the two. None in strings and remarks, in large files, and where a file leaves open which
    names it has. About 1.5 ms for each 1,000 lines.
    """
    if state.quote or len(left) + len(right) > MOST_BYTES or leaves_open(left + right):
        return NONE
    probed = _probed(left, right, start, state)
    return NONE if probed is None else _ends_around(probed, state.place is Place.START and not state.last)


@lru_cache(maxsize=1)
def _ends_around(probed: _Probed, is_statement: bool) -> LooseEnds:
    """The loose ends around the probe, which begins a statement or not.

    While a word is typed the file with the probe stays as it is, so the last one is remembered.
    """
    module = symbols_of(b"".join(probed))
    here = None if module is None else _scope_of_probe(module, probed.left.count(b"\n") + 1)
    if module is None or here is None:
        return NONE
    above = code_alone(b"\n".join(probed.left.split(b"\n")[max(0, here.get_lineno() - 1) :]))
    is_bound = _binds(here, PROBE.decode())
    missing = _missing(module, here, above, probed.right) if is_bound else ()
    targets = _targets_of_next_branch(probed.left, above, probed.right) if is_bound and is_statement else b""
    unused, imported = _unused(here, above), _unused_imports(module, probed)
    return LooseEnds(str(here.get_type()), tuple(missing), tuple(unused), tuple(imported), targets)


def is_import(state: CodeState) -> bool:
    """Whether the statement of *state* is an import."""
    return state.head in (b"from", b"import") or state.clause == b"from"


def begun_word(left: bytes) -> bytes:
    """The part of a word that *left* ends with."""
    begun = _BEGUN_WORD.search(left[-LONGEST_WORD:])
    return begun[0] if begun else b""


def _probed(left: bytes, right: bytes, start: State, state: CodeState) -> _Probed | None:
    """The file with the probe instead of the word that is begun; None if it does not fit there.

    An import is read as if its line were only beginning.
    """
    line_start = left.rfind(b"\n") + 1
    if is_import(state) and not state.brackets and _BLANK_LINE.match(right):
        indent = len(left) - len(left[line_start:].lstrip())
        return _Probed(left[:indent], PROBE + _ASSIGNED, right)
    before = left[: len(left) - len(begun_word(left))]
    for ending in (_ASSIGNED, b"") if state.place is Place.START else (b"",):
        following = start.feed(PROBE + ending)
        if following is not None and (following.complete or not ending):
            closing = b"" if following.complete else following.shortest_completion
            return _Probed(before, PROBE + ending + closing, right)
    return None


def _scope_of_probe(scope: symtable.SymbolTable, row: int) -> symtable.SymbolTable | None:
    """Where the probe in line *row* is bound, *scope* or one within it; else the scope that uses it."""
    inner = (_scope_of_probe(child, row) for child in scope.get_children() if child.get_lineno() <= row)
    having = [found for found in inner if found is not None]
    if PROBE.decode() in scope.get_identifiers():
        having.append(scope)
    binding = (found for found in having if _binds(found, PROBE.decode()))
    return next(binding, having[0] if having else None)


def _binds(scope: symtable.SymbolTable, name: str) -> bool:
    symbol = scope.lookup(name)
    return symbol.is_local() and (symbol.is_assigned() or symbol.is_parameter() or symbol.is_imported())


def _missing(
    module: symtable.SymbolTable, here: symtable.SymbolTable, above: bytes, right: bytes
) -> Iterable[bytes]:
    """The names that the scope *here* lacks behind the cursor, by their first use in *right*.

    *above* is the code that it has before the cursor.
    """
    unbound, variables = _unbound(module, here), _variables(here)
    if here.get_type() == "function":
        unbound -= _used_outside(module, here, unbound)
    names = {name for name in unbound | variables if not _word(name).search(above)}
    below = code_alone(right) if names else b""
    used = dict[bytes, int]()
    for name in names:
        use = _word(name).search(below)
        if use is not None and (name in unbound or not _is_binding(below, use.start(), use.end())):
            used[name] = use.start()
    return sorted(used, key=lambda name: used[name])


def _unbound(module: symtable.SymbolTable, here: symtable.SymbolTable) -> set[bytes]:
    """The names that nothing binds, as the scope *here* or a scope within it uses them."""
    reached = [here] if here.get_type() == "class" else [*scopes_of(here)]
    bound = {name for name in module.get_identifiers() if module.lookup(name).is_local()}
    known = bound | ALWAYS_BOUND | {PROBE.decode()}
    free, declared = set[bytes](), set[bytes]()
    for scope in reached:
        for name in set(scope.get_identifiers()) - known:
            symbol = scope.lookup(name)
            if symbol.is_declared_global():
                declared.add(name.encode())
            elif scope is module or symbol.is_global():
                free.add(name.encode())
    return free - declared


def _used_outside(module: symtable.SymbolTable, here: symtable.SymbolTable, names: set[bytes]) -> set[bytes]:
    """Those of *names* that nothing binds outside of the function *here* either, though they are used there.

    It is the file that lacks them, or they are builtins of some other version of Python.
    """
    inner = {scope.get_id() for scope in scopes_of(here)}
    outer = [scope for scope in scopes_of(module) if scope.get_id() not in inner] if names else []
    return {
        name
        for name in names
        for scope in outer
        if name.decode() in scope.get_identifiers() and scope.lookup(name.decode()).is_global()
    }


def _variables(here: symtable.SymbolTable) -> set[bytes]:
    """What the function *here* binds, but for its parameters."""
    if here.get_type() != "function":
        return set()
    symbols = map(here.lookup, here.get_identifiers())
    return {
        symbol.get_name().encode()
        for symbol in symbols
        if symbol.is_local() and not (symbol.is_parameter() or symbol.is_annotated())
    }


def _targets_of_next_branch(left: bytes, above: bytes, right: bytes) -> bytes:
    """What the branch below that of the cursor, at the end of *left*, binds, and that does not.

    Only what the code below both uses, and the function has not *above*.
    """
    column, following = len(left) - left.rfind(b"\n") - 1, right.split(b"\n")[1:]
    rest, following = _deeper(following, column - 1)
    branch = _BRANCH.match(following[0]) if following else None
    if branch is None:
        return b""
    inside, following = _deeper(following[1:], len(branch[1]))
    below, _ = _deeper(following, len(branch[1]) - 1)
    for target in _TARGETS.finditer(b"\n".join(inside)):
        word = _word(target[1].partition(b",")[0])
        if word.search(b"\n".join(below)) and not (word.search(above) or word.search(b"\n".join(rest))):
            return target[1]
    return b""


def _deeper(lines: list[bytes], column: int) -> tuple[list[bytes], list[bytes]]:
    """The first of *lines*, as long as they begin behind *column* or are blank, and the others."""
    end = next((n for n, line in enumerate(lines) if line.strip() and _column(line) <= column), len(lines))
    return lines[:end], lines[end:]


def _column(line: bytes) -> int:
    return len(line) - len(line.lstrip())


def _is_binding(text: bytes, start: int, end: int) -> bool:
    """Whether the name between *start* and *end* of *text* may be bound there rather than read."""
    before = text[text.rfind(b"\n", 0, start) + 1 : start]
    return _BINDS_AFTER.match(text, end) is not None or _BINDS_BEFORE.search(before) is not None


def _unused(here: symtable.SymbolTable, above: bytes) -> Iterator[bytes]:
    """What the function *here* binds *above* the cursor and uses nowhere."""
    if here.get_type() != "function":
        return
    inner = [scope for scope in scopes_of(here) if scope is not here]
    free = {name for scope in inner for name in scope.get_identifiers() if scope.lookup(name).is_free()}
    for name in here.get_identifiers():
        symbol, word = here.lookup(name), name.encode()
        is_used = symbol.is_referenced() or name in free
        is_wanted = symbol.is_local() and not (is_used or word.startswith(b"_") or word in RECEIVERS)
        if is_wanted and _word(word).search(above):
            yield word


def _unused_imports(module: symtable.SymbolTable, probed: _Probed) -> Iterator[bytes]:
    """What the top level imports left of the probe and no other place of the file names.

    Not what a remark for linters says is imported for others.
    """
    for symbol in module.get_symbols():
        if symbol.is_imported() and symbol.get_name() not in __future__.all_feature_names:
            name = symbol.get_name().encode()
            places = [*islice(_places(name, probed.left), 2)]
            if len(places) == 1 and next(_places(name, probed.right), None) is None:
                line_end = probed.left.find(b"\n", places[0])
                if line_end >= 0 and _FOR_OTHERS.search(probed.left, places[0], line_end) is None:
                    yield name


def _places(name: bytes, text: bytes) -> Iterator[int]:
    """The offsets in *text* at which *name* stands as a word."""
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if not (_IN_WORD.match(text, max(0, start - 1), start) or _IN_WORD.match(text, end)):
            yield start
        start = text.find(name, end)


def _word(name: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"(?<![\w.\x80-\xff])%b(?![\w\x80-\xff])" % re.escape(name))
