"""Writes what would bind missing names at the cursor: an assignment, an import, parameters, a target.

Each text comes with how likely it is that a user goes on so. The sum of all is less than one: what is missing
may be bound at another place.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence

from fimlsp.languages.python.names.code_state import CodeState, Place
from fimlsp.languages.python.wanted.import_table import Origin, statements
from fimlsp.languages.python.wanted.loose_ends import RECEIVERS, LooseEnds

BOUND_HERE = 0.9
"""How likely it is that a name which is missing behind the cursor is bound there, where one may be."""

IN_BOTH = 0.6
"""How likely a branch binds next what the branch below it binds."""

FIRST = 0.7
"""How likely the name is bound first that is used first."""

IMPORTED = 0.5
"""How likely a function imports what the project's other files import, rather than that it assigns it."""

CONSTANT = 0.7
"""How likely a missing name in capitals is assigned above all definitions, rather than imported."""

DEFINED, ASSIGNED = 0.6, 0.2
"""How likely a name that the top level lacks is defined there as it is used, or else assigned."""

_GATHERED = (
    (re.compile(rb"\.(?:append|extend|insert)\("), b"[]", 0.7),
    (re.compile(rb"\.add\("), b"set()", 0.7),
    (re.compile(rb"\[[^\]\n]*\]\s*=(?!=)"), b"{}", 0.5),
    (re.compile(rb"\s*\+=\s*1\b"), b"0", 0.85),
)
"""How a value is used that gathers others, what it is before, and how likely that is."""

Origins = Mapping[bytes, Counter[Origin]]

_STANDARD = frozenset(name.encode() for name in sys.stdlib_module_names)
_DEFINES = re.compile(rb"^(?:async[ \t]+def|def|class)\b", re.MULTILINE)


def at_place(
    state: CodeState, ends: LooseEnds, known: Origins, left: bytes, right: bytes
) -> Mapping[bytes, float]:
    """What binds the missing names of *ends* where *state* is, between words.

    Some are *known* to be imported elsewhere. *left* and *right* are the text around the cursor.
    """
    if state.place is Place.START:
        return of_statement(ends, known, left, right)
    if state.place is Place.IMPORTED:
        elsewhere = {name for name in known if all(each.module != state.module for each in known[name])}
        return _listed(sorted(set(ends.missing) - elsewhere))
    if state.brackets and state.brackets[-1].binds and not state.last.startswith(b"*"):
        return _listed(_parameters(ends.missing, right))
    return _one_of(ends.missing, b"%b")


def of_statement(ends: LooseEnds, known: Origins, left: bytes, right: bytes) -> Mapping[bytes, float]:
    """Statements that bind what is missing, of which that in *known* can be imported.

    *left* and *right* are the text around the cursor. A module imports nothing below its first definition.
    """
    if not ends.missing:
        return {ends.targets + b" =": IN_BOTH}
    in_module, is_below = ends.scope == "module", _DEFINES.search(left) is not None
    chance = (0.0 if is_below else 1.0) if in_module else IMPORTED
    imported = chance * len(known) / len(ends.missing)
    texts = {text + b"\n": BOUND_HERE * imported * share for text, share in statements(known) if imported}
    others = [name for name in ends.missing if name not in known]
    if not in_module:
        bound = _assignments(_one_of(others or ends.missing, b"%b"), right)
    elif is_below:
        bound = _definitions(others[0], right) if others else {}
    else:
        bound = _modules(others, right) or {b"%b =" % name: CONSTANT for name in others[:1] if name.isupper()}
    return texts | {text: (1 - imported) * share for text, share in bound.items()}


def _one_of(names: Sequence[bytes], form: bytes) -> Mapping[bytes, float]:
    """*form* with each of *names*, most likely that which is used first."""
    if len(names) < 2:
        return {form % name: BOUND_HERE for name in names}
    rest = BOUND_HERE * (1 - FIRST) / (len(names) - 1)
    return {form % name: BOUND_HERE * FIRST if number == 0 else rest for number, name in enumerate(names)}


def _assignments(names: Mapping[bytes, float], right: bytes) -> Mapping[bytes, float]:
    """Assignments to *names*, with a value if the first use in *right* tells one, or without."""
    texts = dict[bytes, float]()
    for name, share in names.items():
        value, likely = _first_value(name, right)
        texts[b"%b =" % name] = share * (1 - likely)
        if value:
            texts[b"%b = %b\n" % (name, value)] = share * likely
    return texts


def _first_value(name: bytes, right: bytes) -> tuple[bytes, float]:
    """What *name* begins with if it is gathered in *right* from the first use on, and how likely that is."""
    use = re.search(rb"(?<![\w.])%b(?=\W)" % re.escape(name), right)
    if use is not None:
        for pattern, value, likely in _GATHERED:
            if pattern.match(right, use.end()):
                return value, likely
    return b"", 0.0


def _listed(names: Sequence[bytes]) -> Mapping[bytes, float]:
    """All *names*, one behind the other, or only one of them."""
    if len(names) < 2:
        return dict.fromkeys(names, BOUND_HERE)
    if names[0] in RECEIVERS:
        return {b", ".join(names): BOUND_HERE / 2, names[0]: BOUND_HERE / 2}
    return {b", ".join(names): BOUND_HERE / 2, **{name: BOUND_HERE / 2 / len(names) for name in names}}


def _parameters(names: Sequence[bytes], right: bytes) -> list[bytes]:
    """*names* as parameters, that of the object first and those of any number last, as *right* uses them."""
    stars = {name: _stars(name, right) for name in names}
    return sorted(
        (stars[name] + name for name in names), key=lambda name: (name not in RECEIVERS, name.count(b"*"))
    )


def _stars(name: bytes, right: bytes) -> bytes:
    """The stars that the parameter *name* needs, if it has the usual name of one that has them."""
    if name not in (b"args", b"kwargs"):
        return b""
    found = re.search(rb"[^\w\s)\]]\s*(\*{1,2})%b\b" % name, right)
    return found[1] if found else b""


def _definitions(name: bytes, right: bytes) -> Mapping[bytes, float]:
    """How *name* may be defined at the top level, by how it is used in *right*."""
    is_called = re.search(rb"(?<![\w.])%b\(" % re.escape(name), right) is not None
    assigned = b"%b =" % name
    if name[:1].isupper() and not name.isupper():
        return {b"class %b" % name: DEFINED, assigned: ASSIGNED}
    return {b"def %b(" % name: DEFINED, assigned: ASSIGNED} if is_called else {assigned: DEFINED}


def _modules(names: Sequence[bytes], right: bytes) -> Mapping[bytes, float]:
    """Imports of those of *names* that are used as modules are."""
    standard = (name for name in names if name in _STANDARD)
    return _one_of([name for name in standard if re.search(rb"(?<![\w.])%b\.\w" % name, right)], b"import %b")
