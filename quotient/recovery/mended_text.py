"""A text that is mended edit by edit, and a record of what each edit replaced in the original."""

from __future__ import annotations

from collections.abc import Iterable

from fimlsp.lexing.values import value
from fimlsp.quotient.contexts.document import Document


@value
class Mend:
    """What was assumed: `data[start:end]` of the broken text is read as `replacement`."""

    start: int
    end: int
    replacement: bytes


class MendedText:
    """A document being mended. Its sorted `mends` tell how it differs from the original text.

    The cursor stands from `cursor` to `cursor_end`, and no mend is there.
    """

    def __init__(self, document: Document, cursor: int, cursor_end: int) -> None:
        self.document = document.copy()
        self.cursor = cursor
        self.cursor_end = cursor_end
        self.mends: list[Mend] = []

    def copy(self) -> MendedText:
        """A copy that can be mended in another way."""
        found = MendedText(self.document, self.cursor, self.cursor_end)
        found.mends = list(self.mends)
        return found

    def follow(self, line_start: int, start: int, end: int, replacement: bytes) -> None:
        """Replace `data[start:end]` of the original text, within the cursor's line, as an editor does."""
        shift = len(replacement) - (end - start)
        place = sum(len(mend.replacement) - (mend.end - mend.start) for mend in self._before(line_start))
        self.document.edit(start + place, end + place, replacement)
        above = self._before(line_start)
        below = [
            Mend(mend.start + shift, mend.end + shift, mend.replacement) for mend in self.mends[len(above) :]
        ]
        self.mends = above + below

    def _before(self, line_start: int) -> list[Mend]:
        return [mend for mend in self.mends if mend.end <= line_start]

    @property
    def data(self) -> bytes:
        """The text with all mends made so far."""
        return self.document.data

    def replace(self, edits: Iterable[tuple[int, int, bytes]]) -> None:
        """Apply *edits*: spans of the text before all of them, which neither overlap nor hold the cursor."""
        for start, end, replacement in sorted(edits, reverse=True):
            if end <= self.cursor or start >= self.cursor_end:
                self._replace(start, end, replacement)

    def _replace(self, start: int, end: int, replacement: bytes) -> None:
        self._remember(start, end, replacement)
        self.document.edit(start, end, replacement)
        if end <= self.cursor:
            shift = len(replacement) - (end - start)
            self.cursor += shift
            self.cursor_end += shift

    def _remember(self, start: int, end: int, replacement: bytes) -> None:
        """Add a mend, together with those that it touches."""
        before: list[Mend] = []
        touched: list[tuple[int, Mend]] = []
        after: list[Mend] = []
        shift = shift_before = shift_touched = 0  # from the text as it was to the mended one
        for mend in self.mends:
            place = mend.start + shift
            growth = len(mend.replacement) - (mend.end - mend.start)
            shift += growth
            if place + len(mend.replacement) < start:
                before.append(mend)
                shift_before = shift_touched = shift
            elif place > end:
                after.append(mend)
            else:
                touched.append((place, mend))
                shift_touched = shift
        first, last, head, tail = start - shift_before, end - shift_touched, b"", b""
        for place, mend in touched:
            if place <= start:
                first, head = mend.start, mend.replacement[: start - place]
            if place + len(mend.replacement) >= end:
                last, tail = mend.end, mend.replacement[end - place :]
        self.mends = [*before, Mend(first, last, head + replacement + tail), *after]
