"""The last edits of a client's documents: text that was deleted, and changes that may be made again.

Text that was deleted a moment ago should not be suggested where it stood. A change that was made once, such
as another name, one more argument or an annotation, is often made again where the same code stands.

Keys arrive one by one. Edits that touch each other are one `Change`. Its lines, without the words that they
share before and after it, are `Substitution`s.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fimlsp.lsp_server.messages import Pending, Recent, Substitution
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.language.editor_policy import rests_after

MOST_DELETIONS = 32
MOST_SUBSTITUTIONS = 48
LONGEST_CHANGE = 4_000
"""Bytes of a change; more of them are not read."""

MOST_TEXTS = 24
"""Changed pieces of text that are searched for the text before a cursor."""

LONGEST_SIDE = 80
"""Bytes of a substitution on either side of it, and of its texts."""

LONGEST_GAP = 100
"""White space between the cursor and a place at which a text was deleted."""

_WORD_BYTE = re.compile(rb"[\w\x80-\xff]")


@dataclass(frozen=True, slots=True)
class _Deletion:
    """Text that was deleted at the offset *at* of the document *uri*."""

    uri: str
    at: int
    text: bytes

    def after(self, edit: Replacement) -> _Deletion | None:
        """The deletion after *edit* of its document; None if that replaced its place."""
        if edit.start < self.at < edit.end:
            return None
        moves = edit.end < self.at or (edit.end == self.at and edit.start < edit.end) or edit.start < self.at
        return replace(self, at=self.at + edit.shift) if moves else self


@dataclass(frozen=True, slots=True)
class _Change:
    """Text *removed* and *inserted* at the offset *start* of *uri*, between the text *before* and *after*."""

    uri: str
    start: int
    removed: bytes
    inserted: bytes
    before: bytes
    after: bytes

    @property
    def end(self) -> int:
        """The offset after the inserted text."""
        return self.start + len(self.inserted)

    @property
    def text(self) -> bytes:
        """The inserted text with its sides."""
        return self.before + self.inserted + self.after

    def with_edit(self, data: bytes, edit: Replacement) -> _Change | None:
        """The change together with *edit* of *data*; None if that is elsewhere."""
        if edit.end < self.start or edit.start > self.end:
            return None
        start, end = min(self.start, edit.start), max(self.end, edit.end)
        removed = data[start : self.start] + self.removed + data[self.end : end]
        inserted = data[start : edit.start] + edit.text + data[edit.end : end]
        return _change(self.uri, start, removed, inserted, data, end)


def _change(uri: str, start: int, removed: bytes, inserted: bytes, data: bytes, end: int) -> _Change:
    """The change from *start* to *end* of *data*."""
    before, after = data[max(0, start - LONGEST_SIDE) : start], data[end : end + LONGEST_SIDE]
    return _Change(uri, start, removed, inserted, before, after)


class LastEdits:
    """The last edits of one client's documents, up to a number of them."""

    def __init__(self) -> None:
        self._deletions = deque[_Deletion](maxlen=MOST_DELETIONS)
        self._substitutions = deque[Substitution](maxlen=MOST_SUBSTITUTIONS)
        self._texts = deque[bytes](maxlen=MOST_TEXTS)
        self._change: _Change | None = None
        self._was_deletion = False

    def edited(self, uri: str, data: bytes, edit: Replacement) -> None:
        """Part of *data*, the text of the document *uri*, was replaced. O(edits that are kept)."""
        self._delete(uri, data, edit)
        known = self._change
        merged = known.with_edit(data, edit) if known is not None and known.uri == uri else None
        if merged is None:
            self._end_change()
            removed = data[edit.start : edit.end]
            merged = _change(uri, edit.start, removed, edit.text, data, edit.end)
        is_long = len(merged.removed) + len(merged.inserted) > LONGEST_CHANGE
        self._change = None if is_long else merged

    def forget(self, uri: str) -> None:
        """The text of the document *uri* is another one from now on."""
        kept = [deletion for deletion in self._deletions if deletion.uri != uri]
        self._deletions = deque(kept, maxlen=MOST_DELETIONS)
        if self._change is not None and self._change.uri == uri:
            self._end_change()
            self._change = None

    def _end_change(self) -> None:
        if self._change is not None:
            self._substitutions.extend(substitutions(self._change))
            self._texts.append(self._change.text)

    def deleted_at(self, uri: str, data: bytes, offset: int) -> tuple[bytes, ...]:
        """The texts that would bring deleted text back at *offset* of *data*, the text of *uri*."""
        found = (_rest(deletion, data, offset) for deletion in self._deletions if deletion.uri == uri)
        return tuple(dict.fromkeys(rest for rest in found if rest.strip()))

    def at(self, uri: str, data: bytes, offset: int) -> Recent:
        """The last edits as they matter at *offset* of *data*, the text of *uri*."""
        change, pending, newest, texts = self._change, Pending(), list[Substitution](), [*self._texts]
        if change is not None and change.uri == uri and change.start <= offset <= change.end:
            pending = Pending(change.removed, change.inserted[: offset - change.start])
        elif change is not None:
            newest = [*substitutions(change)]
            texts.append(change.text)
        deleted = self.deleted_at(uri, data, offset)
        return Recent(deleted, pending, (*self._substitutions, *newest), tuple(texts))

    def _delete(self, uri: str, data: bytes, edit: Replacement) -> None:
        moved = (known.after(edit) if known.uri == uri else known for known in self._deletions)
        last = self._deletions[-1] if self._deletions else None
        kept = [known for known in moved if known is not None]
        is_deletion = edit.start < edit.end
        if is_deletion:
            removed = data[edit.start : edit.end][:LONGEST_CHANGE]
            goes_on = self._was_deletion and last is not None and last.uri == uri
            if goes_on and last is not None and last.at == edit.end:
                removed, kept = removed + last.text, kept[:-1]
            elif goes_on and last is not None and last.at == edit.start:
                removed, kept = last.text + removed, kept[:-1]
            kept.append(_Deletion(uri, edit.start, removed))
        self._was_deletion = is_deletion and not edit.text
        self._deletions = deque(kept, maxlen=MOST_DELETIONS)


def _rest(deletion: _Deletion, data: bytes, offset: int) -> bytes:
    """The text that would bring *deletion* back at *offset* of *data*; empty if none would.

    After the start of a deleted line that is its end.
    """
    if offset <= deletion.at <= offset + LONGEST_GAP and not data[offset : deletion.at].strip():
        return deletion.text
    typed = data[deletion.at : offset]
    if not typed or len(typed) > len(deletion.text) + LONGEST_SIDE:
        return b""
    *above, begun = typed.split(b"\n")
    lines = deletion.text.split(b"\n")
    same = lines[len(above)].lstrip() if len(above) < len(lines) else b""
    begun = begun.lstrip()
    return same[len(begun) :] if same.startswith(begun) else b""


def brings_back(text: bytes, deleted: Sequence[bytes]) -> bool:
    """True if *text* starts with the words of one of the *deleted* texts, or is the start of one."""
    written = text.strip()
    return any(
        _starts_with_words(written, gone) or _starts_with_words(gone, written)
        for known in deleted
        if (gone := known.strip())
    )


def _starts_with_words(text: bytes, start: bytes) -> bool:
    return text.startswith(start) and not _is_in_word(text, len(start))


def substitutions(change: _Change) -> Iterator[Substitution]:
    """The lines of *change*, each without the words at its ends that did not change.

    A change with more lines than before is none that could be made again, except within one line.
    """
    before, after = change.before.rpartition(b"\n")[2], change.after.partition(b"\n")[0]
    old, new = ((before + text + after).split(b"\n") for text in (change.removed, change.inserted))
    if len(old) != len(new):
        return
    for one, other in zip(old, new, strict=True):
        if one != other:
            yield from _substitution(one.rstrip(b"\r"), other.rstrip(b"\r"))


def _substitution(old: bytes, new: bytes) -> Iterator[Substitution]:
    start = _common_length(old, new)
    most = min(len(old), len(new)) - start
    same = _common_length(old[::-1][:most], new[::-1][:most])
    while start and any(_is_in_word(line, start) for line in (old, new)):
        start -= 1
    while same and any(_is_in_word(line, len(line) - same) for line in (old, new)):
        same -= 1
    removed, inserted = old[start : len(old) - same], new[start : len(new) - same]
    if inserted.strip() and max(len(removed), len(inserted)) <= LONGEST_SIDE:
        yield Substitution(new[:start], removed, inserted, new[len(new) - same :])


def _is_in_word(line: bytes, at: int) -> bool:
    return bool(_WORD_BYTE.match(line[at - 1 : at]) and _WORD_BYTE.match(line[at : at + 1]))


REPEATED_LESS = 0.15
"""The weight of another text in the place of a removed one that was replaced before, in places of those."""

INSERTED_LESS = 1.0
"""The same for a text that was inserted between the same texts."""

SAME_SIDES = 20
"""The bytes beside an insertion that another place must have in common with it."""

SAME_PART = 4
"""Bytes for which the same first word of a line counts as well, and the same end of it."""


@dataclass(frozen=True, slots=True)
class RepeatedChanges:
    """Texts with which a change at the cursor would repeat an earlier one, with their probabilities.

    *back* is the number of their bytes that are typed already.

    `REPEATED_LESS` and `INSERTED_LESS` were counted in 1,560 changed lines between releases of 13 packages:

    | the same change was made before | once | more often |
    |---|---|---|
    | a text was always replaced by the same one: made again | 23 of 26 | 31 of 31 |
    | a text was inserted between the same sides: made again | 5 of 10 | 4 of 4 |
    """

    back: int
    texts: Mapping[bytes, float]

    @classmethod
    def at(cls, recent: Recent, left: bytes, right: bytes) -> RepeatedChanges | None:
        """The changes among *recent* that may be made again between *left* and *right*; None without any."""
        removed, typed = recent.pending
        line = left[: len(left) - len(typed)].rpartition(b"\n")[2], right.partition(b"\n")[0].rstrip(b"\r")
        if _WORD_BYTE.search(removed):
            same = [known.inserted for known in recent.substitutions if known.removed == removed]
            less = REPEATED_LESS
        elif removed.strip():
            return None
        else:
            alike = (_between_same_sides(known, *line) for known in recent.substitutions)
            same, less = [text for text in alike if text], INSERTED_LESS
        shares = {text: same.count(text) / (len(same) + less) for text in same if text.startswith(typed)}
        shares.pop(typed, None)
        return cls(len(typed), shares) if shares else None

    def after(self, text: bytes) -> Mapping[bytes, float]:
        """See `ExpectedTexts`."""
        return rests_after(self.texts, text)


def _between_same_sides(known: Substitution, before: bytes, after: bytes) -> bytes:
    """The text to insert between *before* and *after* in a line as *known* did between much the same texts.

    Empty if *known* is no insertion, or the texts differ. An insertion of `two, ` before `one` is one of
    `, two` after `self` as well.
    """
    if known.removed:
        return b""
    same, text = max((_in_common(place, before, after), place.inserted) for place in _places(known))
    return text if same >= SAME_SIDES else b""


def _places(known: Substitution) -> Iterator[Substitution]:
    """The insertion *known*, and those with the same result further left and right."""
    yield known
    before, _, text, after = known
    while before and before[-1:] == text[-1:]:
        before, text, after = before[:-1], before[-1:] + text[:-1], before[-1:] + after
        yield Substitution(before, b"", text, after)
    before, _, text, after = known
    while after and after[:1] == text[:1]:
        before, text, after = before + after[:1], text[1:] + after[:1], after[1:]
        yield Substitution(before, b"", text, after)


def _in_common(place: Substitution, before: bytes, after: bytes) -> int:
    """The number of bytes that *before* and *after* the cursor have in common with *place*."""
    left = _common_length(before[::-1], place.before[::-1])
    right = _common_length(after, place.after)
    same_parts = (before.split()[:1] == place.before.split()[:1]) + (after == place.after)
    return left and left + right + SAME_PART * same_parts


def _common_length(one: bytes, other: bytes) -> int:
    """The length of the common prefix of two lines. O(n)."""
    known, most = 0, min(len(one), len(other))
    while known < most:
        tried = (known + most + 1) // 2
        if one[known:tried] == other[known:tried]:
            known = tried
        else:
            most = tried - 1
    return known
