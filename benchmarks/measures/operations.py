"""The requests of an editor to the engine, measured over seeded cuts of a text."""

from __future__ import annotations

import gc
import re
from dataclasses import dataclass, field
from random import Random

from corpora.corpus import Text
from corpora.python import random_place

from fimlsp.lsp_server.worker.worker import collect_garbage, collect_new_garbage
from fimlsp.quotient.engine import Document, Engine
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.states.grammar_state import GrammarState
from measures.timing import Measurement, Series

_TOKEN = 4
_MIDDLE = 60
_CUTS = 10
_CLOSERS = re.compile(rb"[)\]}]")


@dataclass(slots=True)
class Figures:
    """A series for each operation, with its target."""

    open: Series = field(default_factory=lambda: Series("open", 0.06, "ms/char"))
    jump: Series = field(default_factory=lambda: Series("jump", 5.0))
    jump_mended: Series = field(default_factory=lambda: Series("jump, with a mended reading"))
    jump_after_edit: Series = field(default_factory=lambda: Series("edit elsewhere, then jump"))
    jump_in_broken: Series = field(
        default_factory=lambda: Series("a closing bracket is lost elsewhere, then jump")
    )
    keystroke: Series = field(default_factory=lambda: Series("keystroke", 3.0))
    accepted: Series = field(default_factory=lambda: Series("4-character token, accepted", 0.2))
    refused: Series = field(default_factory=lambda: Series("4-character token, refused", 0.2))
    shortest: Series = field(default_factory=lambda: Series("shortest completion"))
    ten_cuts: Series = field(default_factory=lambda: Series("open and ten jumps, beside one", 2.0, "times"))

    @property
    def all(self) -> list[Series]:
        """The series in the order of the table."""
        return [
            self.open,
            self.jump,
            self.jump_mended,
            self.jump_after_edit,
            self.jump_in_broken,
            self.keystroke,
            self.accepted,
            self.refused,
            self.shortest,
            self.ten_cuts,
        ]


def measure(text: Text, cuts: int, random: Random, figures: Figures) -> None:
    """Open *text* in an engine without cached lines, and measure all requests at *cuts* random positions."""
    gc.unfreeze()
    collect_garbage()
    engine = Engine(text.language, LanguageTables(text.language))
    with figures.open.timed(text.name, per=len(text.data.decode())):
        document = engine.document(text.data)
        document.prepare()
    _cut_ten_times(document, text, random, figures)
    for _ in range(cuts):
        for operation in (_jump, _edit_and_jump, _break_and_jump, _type, _follow):
            operation(document, text, random, figures)
            collect_new_garbage()
    assert document.data == text.data


def _jump(document: Document, text: Text, random: Random, figures: Figures) -> Measurement:
    """Request the middle at a random place; a bracket or string open above it may give a second reading."""
    cursor = random_place(random, text.data, text.start, text.end)
    trial = Series("")
    with trial.timed(_place(text, cursor)):
        constraint = document.middle(cursor, cursor, relax=True)
    assert constraint.connectable, _place(text, cursor)
    (figures.jump_mended if constraint.relaxed else figures.jump).found += trial.found
    return trial.found[0]


def _cut_ten_times(document: Document, text: Text, random: Random, figures: Figures) -> None:
    """Ten jumps in a text just opened, which share the cached lines."""
    jumps: list[Measurement] = []
    for _ in range(_CUTS):
        jumps.append(_jump(document, text, random, figures))
        collect_new_garbage()
    opened = figures.open.found[-1]
    n = len(text.data.decode())
    cpu = (n * opened.cpu + sum(m.cpu for m in jumps)) / (n * opened.cpu + jumps[0].cpu)
    wall = (n * opened.wall + sum(m.wall for m in jumps)) / (n * opened.wall + jumps[0].wall)
    figures.ten_cuts.found.append(Measurement(cpu, wall, 0.0, text.name))


def _edit_and_jump(document: Document, text: Text, random: Random, figures: Figures) -> None:
    """Make a name longer, request a middle elsewhere, and undo the edit."""
    _, end = _random_word(random, text)
    cursor = random_place(random, text.data, text.start, text.end)
    with figures.jump_after_edit.timed(_place(text, cursor)):
        document.edit(end, end, b"_")
        moved = cursor + (cursor >= end)
        document.middle(moved, moved, relax=True)
    document.edit(end, end + 1, b"")
    document.middle(end, end, relax=True)


def _break_and_jump(document: Document, text: Text, random: Random, figures: Figures) -> None:
    """Delete a closing bracket anywhere in the file, request a middle in *text*, and undo the edit."""
    lost = random.choice([bracket.start() for bracket in _CLOSERS.finditer(document.data)])
    bracket = document.data[lost : lost + 1]
    document.edit(lost, lost + 1, b"")
    cursor = random_place(random, text.data, text.start, text.end)
    cursor -= cursor > lost
    with figures.jump_in_broken.timed(_place(text, cursor)):
        document.middle(cursor, cursor, relax=True)
    document.edit(lost, lost, bracket)
    document.middle(cursor, cursor, relax=True)


def _type(document: Document, text: Text, random: Random, figures: Figures) -> None:
    """Delete a name and type its first letters, each with a request for the middle in their place."""
    start, end = _random_word(random, text)
    name = text.data[start:end]
    document.edit(start, end, b"")
    document.middle(start, start, relax=True)
    for typed in range(1, min(len(name), 3) + 1):
        with figures.keystroke.timed(_place(text, start)):
            document.edit(start + typed - 1, start + typed - 1, name[typed - 1 : typed])
            state = document.middle(start, start + typed, relax=True).start
            fed = state and state.feed(name[:typed])
        assert fed is not None, _place(text, start)
    document.edit(start, start + typed, name)
    document.middle(start, start, relax=True)


def _follow(document: Document, text: Text, random: Random, figures: Figures) -> None:
    """Feed a true middle in tokens, each beside one from elsewhere, and complete it in some states."""
    start = random_place(random, text.data, text.start, text.end)
    true = text.data[start : text.end].decode()[: random.randint(1, _MIDDLE)]
    state = document.middle(start, start + len(true.encode()), relax=True).start
    for offset in range(0, len(true), _TOKEN):
        assert state is not None, _place(text, start)
        if offset % 16 == 0:
            with figures.shortest.timed(_place(text, start)):
                assert state.shortest_completion is not None
        other = random_place(random, text.data, text.start, text.end)
        _feed(state, text.data[other : other + _TOKEN], _place(text, start), figures)
        state = _feed(state, true[offset : offset + _TOKEN].encode(), _place(text, start), figures)


def _feed(state: GrammarState, token: bytes, place: str, figures: Figures) -> GrammarState | None:
    trial = Series("")
    with trial.timed(place):
        following = state.feed(token)
    (figures.refused if following is None else figures.accepted).found += trial.found
    return following


def _random_word(random: Random, text: Text) -> tuple[int, int]:
    """The span of a word that may be renamed."""
    return random.choice([word.span() for word in text.word.finditer(text.data, text.start, text.end)])


def _place(text: Text, offset: int) -> str:
    line = text.data.count(b"\n", text.start, offset) + 1
    return f"{text.name}, line {line}, byte {offset - text.start}"
