"""Learns how often the estimate of a model is right, from the texts that the user then writes.

Estimated texts, shown or held back, are compared with the text that the user writes in their place. A place
is judged when the user has gone on: to the line below, or elsewhere for several edits. Until then a text may
be mistyped, and is corrected. Places where nothing was written, where the cursor left within a word, or whose
surroundings were edited away are not counted. All places of a line count as one, because each key makes one.
The texts are kept in memory, and only until then.

The counts of each estimate are in a file of the cache folder. They are added to the file in another thread,
some time after they were made, and when the client leaves.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from fimlsp.lsp_server.messages import Estimated
from fimlsp.models.learnt import (
    Correction,
    Learnt,
    Outcome,
    add_learnt,
    begins_right,
    is_in_word,
    is_wholly_right,
    learnt_file,
    read_learnt,
)
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


SAVE_S = 20.0
"""Seconds after which new counts are added to their file."""


class Learning:
    """Learns from the texts of one client; *on_places* gets the number of places that were learnt from."""

    def __init__(self, on_places: Callable[[int], None], log: logging.Logger) -> None:
        self.correction: Correction | None = None
        self._on_places = on_places
        self._log = log
        self._is_on = False
        self._outcomes = Outcomes()
        self._key = ""
        self._stored = self._new = Learnt()
        self._timer: asyncio.TimerHandle | None = None
        self._lock = asyncio.Lock()
        self._saving = set[asyncio.Task[None]]()

    def switch(self, is_on: bool) -> None:
        """Learn from now on, or forget all that is in memory and correct nothing."""
        if is_on != self._is_on:
            self._is_on = is_on
            self._use("")

    def watch(self, uri: str, data: bytes, offset: int, estimated: Estimated | None) -> None:
        """A text was *estimated* at *offset* of the document *data*, shown or not."""
        if not self._is_on or estimated is None:
            return
        if estimated.key != self._key:
            self._save()
            self._use(estimated.key)
        self._outcomes.watch(uri, data, offset, estimated)

    def edited(self, uri: str, size: int, edit: Replacement) -> None:
        """A document of *size* bytes was edited."""
        self._outcomes.edited(uri, size, edit)

    def settle(self, uri: str, data: bytes) -> None:
        """Learn from the places of a document that the user has left; *data* is its newest text."""
        self._learn(self._outcomes.settled(uri, data))

    def close(self, uri: str, data: bytes) -> None:
        """A document is closed with the text *data*."""
        self._learn(self._outcomes.close(uri, data))

    async def end(self, text_of: Callable[[str], bytes]) -> None:
        """The client leaves; *text_of* returns the text of a document."""
        for uri in self._outcomes.documents():
            self.close(uri, text_of(uri))
        self._save()
        await asyncio.gather(*self._saving)

    def _use(self, key: str) -> None:
        """Correct the estimate with this *key* from now on."""
        self._outcomes.forget()
        self._key, self._new = key, Learnt()
        path = learnt_file(key) if key else None
        self._take(Learnt() if path is None else read_learnt(path))

    def _take(self, stored: Learnt) -> None:
        self._stored = stored
        self.correction = stored.correction(self._key) if stored.places else None
        self._on_places(stored.places)

    def _learn(self, lines: Iterable[Sequence[Outcome]]) -> None:
        before = self._new
        for outcomes in lines:
            self._new = self._new.plus(outcomes)
        if self._new is not before and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SAVE_S, self._save)

    def _save(self) -> None:
        """Add the new counts to their file in another thread."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        newer, self._new = self._new, Learnt()
        if newer.places:
            saving = asyncio.get_running_loop().create_task(self._add(self._key, newer))
            self._saving.add(saving)
            saving.add_done_callback(self._saving.discard)

    async def _add(self, key: str, newer: Learnt) -> None:
        """Add *newer* to the file of the estimate with this *key*, and correct that by all that is there."""
        path, stored = learnt_file(key), None
        async with self._lock:
            try:
                stored = None if path is None else await asyncio.to_thread(add_learnt, path, newer)
            except OSError as error:
                self._log.warning(
                    "Cannot keep the counts of option learn (%s). Until this server ends they are used.",
                    error,
                )
        if key == self._key:
            self._take(stored or self._stored.followed_by(newer))
