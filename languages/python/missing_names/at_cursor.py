"""The names that the code lacks at one cursor, as texts for a model that hardly sees them by itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from fimlsp.languages.python.missing_names.binding_texts import ASSUMED, Origins, statement_texts, texts_at
from fimlsp.languages.python.missing_names.import_table import (
    PACKAGE,
    ImportTable,
    origins,
    uses_relative_names,
)
from fimlsp.languages.python.missing_names.unbound_names import (
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
