"""Compares estimated texts, shown or held back, with the text that the user then writes in their place.

A place is judged when the user has gone on: to the line below, or elsewhere for several edits. Until then a
text may be mistyped, and is corrected. Places where nothing was written, where the cursor left within a word,
or whose surroundings were edited away are not counted. All places of a line count as one, because each key
makes one. The texts are kept in memory, and only until then.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from fimlsp.lsp_server.messages import Estimated
from fimlsp.models.agreement import begins_right, is_in_word, is_wholly_right
from fimlsp.models.learnt import Outcome
from fimlsp.quotient.contexts.replacement import Replacement

EDITS_ELSEWHERE = 8
"""Edits elsewhere after which a place is judged. An import that the editor adds is just one."""

MOST_LINES = 4
"""Lines of a document that are watched."""

MOST_PLACES = 64
"""Places of a line that are watched."""

LONGEST = 4_000
"""Bytes written at a place after which it is judged."""


@dataclass(frozen=True, slots=True)
class Place:
    """A text that was estimated between the first *origin* and the last *after* bytes of a document."""

    estimated: Estimated
    origin: int
    after: int

    def has(self, edit: Replacement, size: int) -> bool:
        """True if *edit* of a document of *size* bytes is between its left and its right side."""
        return self.origin <= edit.start and edit.end <= size - self.after

    def moved(self, edit: Replacement, size: int) -> Place | None:
        """The place after *edit* of a document of *size* bytes; None if it is not there any more."""
        if self.has(edit, size):
            return self
        if edit.end <= self.origin:
            return replace(self, origin=self.origin + edit.shift)
        return replace(self, after=self.after + edit.shift) if edit.start >= size - self.after else None

    def written(self, data: bytes) -> str:
        """The text in its place in *data*."""
        text = data[self.origin : len(data) - self.after]
        return text.decode(errors="replace").replace("\r\n", "\n")

    def is_passed(self, data: bytes) -> bool:
        """True if the user writes in a line below the text by now."""
        lines = data.count(b"\n", self.origin, len(data) - self.after)
        return lines > self.estimated.text.count(b"\n") or len(data) - self.after - self.origin > LONGEST

    def outcome(self, data: bytes) -> Outcome | None:
        """Its outcome by the document *data*; None if it is unknown."""
        text = self.estimated.text.decode(errors="replace").replace("\r\n", "\n")
        written = self.written(data)
        stem = written.rstrip(" \t")
        if not written.strip() or (text.startswith(stem) and is_in_word(text, len(stem))):
            return None
        is_right = is_wholly_right(text, written)
        opens = is_right or begins_right(text, written)
        return Outcome(self.estimated.log_odds, is_right, self.estimated.opening, opens)


@dataclass(slots=True)
class _WatchedLine:
    """The places of a line, and the number of edits elsewhere since the last one in it."""

    places: list[Place] = field(default_factory=list)
    elsewhere: int = 0

    def edited(self, edit: Replacement, size: int) -> None:
        """A document of *size* bytes was edited."""
        is_here = any(place.has(edit, size) for place in self.places)
        self.elsewhere = 0 if is_here else self.elsewhere + 1
        moved = (place.moved(edit, size) for place in self.places)
        self.places = [place for place in moved if place is not None]

    def is_over(self, data: bytes) -> bool:
        """True if the user has gone on."""
        return self.elsewhere >= EDITS_ELSEWHERE or all(place.is_passed(data) for place in self.places)

    def outcomes(self, data: bytes) -> tuple[Outcome, ...]:
        """The known outcomes, which together weigh one."""
        known = [outcome for place in self.places if (outcome := place.outcome(data)) is not None]
        return tuple(outcome._replace(weight=1 / len(known)) for outcome in known)


class Outcomes:
    """The places of all documents of a client whose outcome is not known yet."""

    def __init__(self) -> None:
        self._lines: dict[str, list[_WatchedLine]] = {}

    def watch(self, uri: str, data: bytes, offset: int, estimated: Estimated) -> None:
        """Watch the place of a text that was *estimated* at *offset* of the document *data*."""
        place = Place(estimated, offset, len(data) - offset)
        lines = self._lines.setdefault(uri, [])
        line = next((line for line in lines if _is_same_line(data, line.places[0].origin, offset)), None)
        if line is None:
            lines.append(_WatchedLine([place]))
            del lines[:-MOST_LINES]
        elif place not in line.places and len(line.places) < MOST_PLACES:
            line.places.append(place)

    def edited(self, uri: str, size: int, edit: Replacement) -> None:
        """A document of *size* bytes was edited."""
        if lines := self._lines.get(uri):
            for line in lines:
                line.edited(edit, size)
            self._lines[uri] = [line for line in lines if line.places]

    def settled(self, uri: str, data: bytes) -> Iterator[Sequence[Outcome]]:
        """The outcomes of lines that the user has left in *data*, the document after its last edit."""
        lines = self._lines.get(uri)
        if not lines:
            return
        over = [line for line in lines if line.is_over(data)]
        self._lines[uri] = [line for line in lines if line not in over]
        yield from filter(None, (line.outcomes(data) for line in over))

    def documents(self) -> list[str]:
        """The documents with places."""
        return [*self._lines]

    def close(self, uri: str, data: bytes) -> Iterator[Sequence[Outcome]]:
        """The outcomes of all lines of a document that is closed with the text *data*."""
        lines = self._lines.pop(uri, ())
        yield from filter(None, (line.outcomes(data) for line in lines))

    def forget(self) -> None:
        """Watch no place any more."""
        self._lines.clear()


def _is_same_line(data: bytes, one: int, other: int) -> bool:
    return b"\n" not in data[min(one, other) : max(one, other)]
