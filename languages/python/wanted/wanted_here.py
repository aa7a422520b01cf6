"""What is wanted at one cursor in Python code, for a model that hardly sees it by itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from fimlsp.languages.python.names.code_state import CodeState, Place, state_behind
from fimlsp.languages.python.wanted.binding_texts import BOUND_HERE, Origins, at_place, of_statement
from fimlsp.languages.python.wanted.import_table import PACKAGE, ImportTable, origins, uses_relative_names
from fimlsp.languages.python.wanted.loose_ends import LooseEnds, begun_word, is_import, loose_ends
from fimlsp.quotient.states.protocol import State

USED_NEXT = 0.25
"""How likely a name that is used behind the cursor is one of those that nothing uses yet."""

IMPORTED_NEXT = 0.3
"""The same for names that the file imports and uses nowhere: they may be for another place."""

BEGUN = 0.5
"""The same for a name that begins as what is written."""

ELSE = 0.03
"""How likely something else is that begins as a wanted text does."""

_NAME = re.compile(rb"(?<![\w.\x80-\xff])[\w\x80-\xff]+")
_USES = frozenset([Place.USE, Place.ARGUMENT, Place.ELEMENT])


@dataclass(frozen=True, slots=True)
class WantedHere:
    """What is wanted behind the place *back* bytes before the cursor, where the code is as *state* says.

    Attributes:
        texts: what would bind missing names, each with how likely it is.
        unused: variables that nothing uses yet.
        imported: what the file imports and nothing uses yet.
    """

    back: int
    state: CodeState
    texts: Mapping[bytes, float] = field(hash=False)
    unused: tuple[bytes, ...] = ()
    imported: tuple[bytes, ...] = ()

    def after(self, text: bytes) -> Mapping[bytes, float]:
        """As in `Wanted`."""
        return self._rests(text) or self._uses(text)

    def _rests(self, text: bytes) -> Mapping[bytes, float]:
        """What the wanted texts that begin with *text* have behind it."""
        rests = {each[len(text) :]: share for each, share in self.texts.items() if each.startswith(text)}
        rests.pop(b"", None)
        if not text or not rests:
            return rests
        ended = sum(share for each, share in self.texts.items() if text.startswith(each))
        total = sum(rests.values()) + ended + ELSE
        return {rest: share / total for rest, share in rests.items()}

    def _uses(self, text: bytes) -> Mapping[bytes, float]:
        """The unused names that *text* has not, where one may be used behind it, or is begun."""
        state = self.state.feed(text) if self.unused or self.imported else CodeState()
        if state.word and not state.chain:
            begun = self._names(self.unused + self.imported, state, text)
            if begun:
                return {name[len(state.word) :]: BEGUN / len(begun) for name in begun}
        spaced = state.feed(b" ")
        if spaced.chain:
            return {}
        is_tight = text[-1:] in b" ([{" or (text.endswith(b"=") and bool(state.brackets))
        gap = b"" if is_tight else b" "
        likely = ((self.unused, USED_NEXT), (self.imported, IMPORTED_NEXT))
        found = ((self._names(names, spaced, text), share) for names, share in likely)
        return {gap + name: share / len(names) for names, share in found for name in names}

    @staticmethod
    def _names(names: Sequence[bytes], state: CodeState, text: bytes) -> list[bytes]:
        """Those of *names* that may stand where *state* is and go on with its word; not those in *text*."""
        if state.quote or state.place not in _USES:
            return []
        written = set(_NAME.findall(text))
        return [name for name in names if name.startswith(state.word) and name not in written]


def wanted_here(
    left: bytes,
    right: bytes,
    start: State,
    path: PurePath | None,
    imports: Callable[[], Sequence[ImportTable]],
) -> WantedHere | None:
    """What is wanted between *left* and *right* of the file at *path*; None if nothing is.

    *start* connects the two; *imports* has those of the other files.
    """
    state = state_behind(left)
    ends = loose_ends(left, right, start, state)
    imported = () if _imports_for_others(path) else ends.imported
    if not (ends.missing or ends.unused or imported or ends.targets):
        return None
    line = left[left.rfind(b"\n") + 1 :].lstrip()
    known = _known(ends, state, path, left + right, imports) if ends.missing else {}
    if is_import(state) and not state.brackets and state.clause != b"from import":
        texts = _beginning_with(line, of_statement(ends, known, left, right))
        return WantedHere(len(line), CodeState(), texts)
    back = len(begun_word(left))
    before = left[: len(left) - back]
    gap = b" " if state.last == b"," and before.endswith(b",") else b""
    texts = at_place(state, ends, known, left, right) if ends.missing or ends.targets else {}
    texts = {gap + text: weight for text, weight in texts.items()}
    return WantedHere(back, replace(state, word=b""), texts, ends.unused, imported)


def _imports_for_others(path: PurePath | None) -> bool:
    """Whether the file at *path* may import names only so that others find them there."""
    return path is not None and (path.stem == PACKAGE or path.suffix == ".pyi")


def _known(
    ends: LooseEnds,
    state: CodeState,
    path: PurePath | None,
    text: bytes,
    imports: Callable[[], Sequence[ImportTable]],
) -> Origins:
    """Where the missing names may be imported from, if that may be done where *state* is."""
    if not (state.place in (Place.START, Place.IMPORTED) or is_import(state)):
        return {}
    tables, is_relative = imports(), uses_relative_names(text)
    found = ((name, origins(tables, name, path, is_relative=is_relative)) for name in ends.missing)
    return {name: where for name, where in found if where}


def _beginning_with(begun: bytes, texts: Mapping[bytes, float]) -> Mapping[bytes, float]:
    """Those of *texts* that begin with what is there, *begun*, as likely as they are then."""
    kept = {text: weight for text, weight in texts.items() if text.startswith(begun) and text != begun}
    total = sum(kept.values())
    return {text: BOUND_HERE * weight / total for text, weight in kept.items()}
