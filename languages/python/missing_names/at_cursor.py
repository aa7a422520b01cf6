"""The names that the code lacks at one cursor, as texts for a model that hardly sees them by itself.

The texts would bind the names: assignments, imports, parameters, targets. Each has the probability that a
user goes on so. The sum of all is less than one, as a missing name may be bound elsewhere.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import NamedTuple

from fimlsp.languages.python.missing_names.import_table import (
    PACKAGE,
    ImportTable,
    Origin,
    origins,
    statements,
    uses_relative_names,
)
from fimlsp.languages.python.missing_names.unbound_names import (
    RECEIVERS,
    UnboundNames,
    begun_word,
    is_import,
    unbound_names,
)
from fimlsp.languages.python.names.code_state import CodeState, NameRole, state_at_end
from fimlsp.quotient.language.editor_policy import rests_after
from fimlsp.quotient.states.protocol import State

_NAME = re.compile(rb"(?<![\w.\x80-\xff])[\w\x80-\xff]+")
_USES = frozenset([NameRole.USE, NameRole.ARGUMENT, NameRole.ELEMENT])


@dataclass(frozen=True, slots=True)
class MissingAtCursor:
    """The names that are missing at the offset *back* bytes before the cursor, where the code has *state*.

    Attributes:
        texts: the texts that would bind missing names, with their probabilities.
        unused: variables that nothing uses yet.
        unused_imports: names that the file imports and nothing uses yet.
    """

    back: int
    state: CodeState
    texts: Mapping[bytes, float] = field(hash=False)
    unused: tuple[bytes, ...] = ()
    unused_imports: tuple[bytes, ...] = ()

    def after(self, text: bytes) -> Mapping[bytes, float]:
        """The texts that may follow *text*, with their probabilities: rests of `texts`, or unused names."""
        return rests_after(self.texts, text) or self._unused_after(text)

    def _unused_after(self, text: bytes) -> Mapping[bytes, float]:
        """The unused names that *text* does not have, if one may be used after it, or is begun by it."""
        state = self.state.feed(text) if self.unused or self.unused_imports else CodeState()
        if state.word and not state.chain:
            begun = self._usable(self.unused + self.unused_imports, state, text)
            if begun:
                return {name[len(state.word) :]: ASSUMED.begun_unused / len(begun) for name in begun}
        spaced = state.feed(b" ")
        if spaced.chain:
            return {}
        is_tight = text[-1:] in b" ([{" or (text.endswith(b"=") and bool(state.brackets))
        gap = b"" if is_tight else b" "
        kinds = ((self.unused, ASSUMED.unused_next), (self.unused_imports, ASSUMED.unused_import_next))
        usable = ((self._usable(names, spaced, text), share) for names, share in kinds)
        return {gap + name: share / len(names) for names, share in usable for name in names}

    @staticmethod
    def _usable(names: Sequence[bytes], state: CodeState, text: bytes) -> list[bytes]:
        """Those of *names* that may continue the word at *state*, without names that *text* has."""
        if state.quote or state.role not in _USES:
            return []
        written = set(_NAME.findall(text))
        return [name for name in names if name.startswith(state.word) and name not in written]


def missing_at_cursor(
    left: bytes,
    right: bytes,
    start: State,
    path: PurePath | None,
    imports: Callable[[], Sequence[ImportTable]],
) -> MissingAtCursor | None:
    """The names that are missing between *left* and *right* of the file at *path*; None if none is.

    *start* connects the two; *imports* returns the import tables of the other files.
    """
    state = state_at_end(left)
    unbound = unbound_names(left, right, start, state)
    unused_imports = () if _imports_for_others(path) else unbound.unused_imports
    if not (unbound.missing or unbound.unused or unused_imports or unbound.branch_targets):
        return None
    line = left[left.rfind(b"\n") + 1 :].lstrip()
    known = _origins(unbound, state, path, left + right, imports) if unbound.missing else {}
    if is_import(state) and not state.brackets and state.clause != b"from import":
        texts = _starting_with(line, statement_texts(unbound, known, left, right))
        return MissingAtCursor(len(line), CodeState(), texts)
    back = len(begun_word(left))
    before = left[: len(left) - back]
    gap = b" " if state.last == b"," and before.endswith(b",") else b""
    has_texts = unbound.missing or unbound.branch_targets
    texts = texts_at(state, unbound, known, left, right) if has_texts else {}
    texts = {gap + text: share for text, share in texts.items()}
    return MissingAtCursor(back, replace(state, word=b""), texts, unbound.unused, unused_imports)


def _imports_for_others(path: PurePath | None) -> bool:
    """True if the file at *path* may import names only for others to import from there."""
    return path is not None and (path.stem == PACKAGE or path.suffix == ".pyi")


def _origins(
    unbound: UnboundNames,
    state: CodeState,
    path: PurePath | None,
    text: bytes,
    imports: Callable[[], Sequence[ImportTable]],
) -> Origins:
    """The origins of the missing names that can be imported, if *state* is where an import may be written."""
    if not (state.role in (NameRole.START, NameRole.IMPORTED) or is_import(state)):
        return {}
    tables, is_relative = imports(), uses_relative_names(text)
    counted = ((name, origins(tables, name, path, is_relative=is_relative)) for name in unbound.missing)
    return {name: counts for name, counts in counted if counts}


def _starting_with(begun: bytes, texts: Mapping[bytes, float]) -> Mapping[bytes, float]:
    """Those of *texts* that start with *begun*, which is already written, with their shares of one."""
    kept = {text: share for text, share in texts.items() if text.startswith(begun) and text != begun}
    total = sum(kept.values())
    return {text: ASSUMED.bound_here * share / total for text, share in kept.items()}


Origins = Mapping[bytes, Counter[Origin]]


class Probabilities(NamedTuple):
    """Probabilities of texts at the cursor. All are assumed; none is counted or fitted.

    They were set by hand while reading cursors in nine packages (`models/bundled/README.md`). There, a name
    that was cut out is nearly always bound at the cut.

    Attributes:
        bound_here: a name that is missing after the cursor is bound there, where one may be.
        bound_in_both_branches: a branch binds next the targets that the branch below it binds.
        first_use_first: of several missing names, that is bound first which is used first.
        imported_in_function: a function imports a name that other files import; else it assigns it.
        capitals_assigned: a missing name in capitals is assigned above all definitions; else it is imported.
        defined_at_top_level: a name that the top level lacks is defined there in the form of its use.
        assigned_at_top_level: such a name is assigned there, though its use shows a function or class.
        unused_next: a name that is used after the cursor is one of those that nothing uses yet.
        unused_import_next: the same for names that the file imports and uses nowhere; others may use them.
        begun_unused: a word begun at the cursor becomes one of the unused names that start so.
    """

    bound_here: float = 0.9
    bound_in_both_branches: float = 0.6
    first_use_first: float = 0.7
    imported_in_function: float = 0.5
    capitals_assigned: float = 0.7
    defined_at_top_level: float = 0.6
    assigned_at_top_level: float = 0.2
    unused_next: float = 0.25
    unused_import_next: float = 0.3
    begun_unused: float = 0.5


ASSUMED = Probabilities()


class _InitialValue(NamedTuple):
    """The value from which a name is built up, if *use* matches after its first use.

    The *probability* that the assignment has this value is assumed, as those above.
    """

    use: re.Pattern[bytes]
    value: bytes
    probability: float


_INITIAL_VALUES = (
    _InitialValue(re.compile(rb"\.(?:append|extend|insert)\("), b"[]", 0.7),
    _InitialValue(re.compile(rb"\.add\("), b"set()", 0.7),
    _InitialValue(re.compile(rb"\[[^\]\n]*\]\s*=(?!=)"), b"{}", 0.5),
    _InitialValue(re.compile(rb"\s*\+=\s*1\b"), b"0", 0.85),
)
_STANDARD_MODULES = frozenset(name.encode() for name in sys.stdlib_module_names)
_DEFINES = re.compile(rb"^(?:async[ \t]+def|def|class)\b", re.MULTILINE)


def texts_at(
    state: CodeState, unbound: UnboundNames, origins: Origins, left: bytes, right: bytes
) -> Mapping[bytes, float]:
    """The texts that bind the missing names of *unbound* at *state*, which is between words.

    *origins* has those that can be imported, *left* and *right* are the text around the cursor.
    """
    if state.role is NameRole.START:
        return statement_texts(unbound, origins, left, right)
    if state.role is NameRole.IMPORTED:
        elsewhere = {name for name in origins if all(each.module != state.module for each in origins[name])}
        return _listed(sorted(set(unbound.missing) - elsewhere))
    if state.brackets and state.brackets[-1].binds and not state.last.startswith(b"*"):
        return _listed(_parameters(unbound.missing, right))
    return _one_of(unbound.missing, b"%b")


def statement_texts(
    unbound: UnboundNames, origins: Origins, left: bytes, right: bytes
) -> Mapping[bytes, float]:
    """The statements that bind the missing names; those in *origins* can be imported.

    *left* and *right* are the text around the cursor. A module imports nothing below its first definition.
    """
    if not unbound.missing:
        return {unbound.branch_targets + b" =": ASSUMED.bound_in_both_branches}
    in_module, is_below = unbound.scope == "module", _DEFINES.search(left) is not None
    may_import = (0.0 if is_below else 1.0) if in_module else ASSUMED.imported_in_function
    imported = may_import * len(origins) / len(unbound.missing)
    imports = statements(origins) if imported else []
    texts = {text + b"\n": ASSUMED.bound_here * imported * share for text, share in imports}
    others = [name for name in unbound.missing if name not in origins]
    if not in_module:
        bound = _assignments(_one_of(others or unbound.missing, b"%b"), right)
    elif is_below:
        bound = _definitions(others[0], right) if others else {}
    else:
        bound = _modules(others, right) or _capitals(others)
    return texts | {text: (1 - imported) * share for text, share in bound.items()}


def _one_of(names: Sequence[bytes], form: bytes) -> Mapping[bytes, float]:
    """*form* with each of *names*, most likely the one that is used first."""
    if len(names) < 2:
        return {form % name: ASSUMED.bound_here for name in names}
    first, *others = names
    share = ASSUMED.bound_here * (1 - ASSUMED.first_use_first) / len(others)
    return {
        form % first: ASSUMED.bound_here * ASSUMED.first_use_first,
        **{form % name: share for name in others},
    }


def _assignments(names: Mapping[bytes, float], right: bytes) -> Mapping[bytes, float]:
    """Assignments to *names*, with a value if their first use in *right* shows one, and without."""
    texts = dict[bytes, float]()
    for name, share in names.items():
        value, probability = _initial_value(name, right)
        texts[b"%b =" % name] = share * (1 - probability)
        if value:
            texts[b"%b = %b\n" % (name, value)] = share * probability
    return texts


def _initial_value(name: bytes, right: bytes) -> tuple[bytes, float]:
    """The value from which *name* is built up in *right*, and its probability; empty if it is not."""
    use = re.search(rb"(?<![\w.])%b(?=\W)" % re.escape(name), right)
    if use is not None:
        for initial in _INITIAL_VALUES:
            if initial.use.match(right, use.end()):
                return initial.value, initial.probability
    return b"", 0.0


def _listed(names: Sequence[bytes]) -> Mapping[bytes, float]:
    """All *names* with commas, or only one of them; of parameters, only the object of a method."""
    if len(names) < 2:
        return dict.fromkeys(names, ASSUMED.bound_here)
    half = ASSUMED.bound_here / 2
    if names[0] in RECEIVERS:
        return {b", ".join(names): half, names[0]: half}
    return {b", ".join(names): half, **{name: half / len(names) for name in names}}


def _parameters(names: Sequence[bytes], right: bytes) -> list[bytes]:
    """*names* as parameters: the object of a method first, those that *right* uses with stars last."""
    stars = {name: _stars(name, right) for name in names}
    return sorted(
        (stars[name] + name for name in names), key=lambda name: (name not in RECEIVERS, name.count(b"*"))
    )


def _stars(name: bytes, right: bytes) -> bytes:
    """The stars that the parameter *name* has in *right*, if it has the usual name of one with stars."""
    if name not in (b"args", b"kwargs"):
        return b""
    use = re.search(rb"[^\w\s)\]]\s*(\*{1,2})%b\b" % name, right)
    return use[1] if use else b""


def _definitions(name: bytes, right: bytes) -> Mapping[bytes, float]:
    """The definitions of *name* at the top level, by how *right* uses it."""
    defined, assigned = ASSUMED.defined_at_top_level, ASSUMED.assigned_at_top_level
    is_called = re.search(rb"(?<![\w.])%b\(" % re.escape(name), right) is not None
    assignment = b"%b =" % name
    if name[:1].isupper() and not name.isupper():
        return {b"class %b" % name: defined, assignment: assigned}
    return {b"def %b(" % name: defined, assignment: assigned} if is_called else {assignment: defined}


def _modules(names: Sequence[bytes], right: bytes) -> Mapping[bytes, float]:
    """Imports of those of *names* that are modules of the standard library, and used as such."""
    standard = (name for name in names if name in _STANDARD_MODULES)
    return _one_of([name for name in standard if re.search(rb"(?<![\w.])%b\.\w" % name, right)], b"import %b")


def _capitals(names: Sequence[bytes]) -> Mapping[bytes, float]:
    """An assignment to the first of *names*, if that is in capitals."""
    return {b"%b =" % name: ASSUMED.capitals_assigned for name in names[:1] if name.isupper()}
