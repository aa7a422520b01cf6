"""Tokens of texts that somebody types: only what stands near the change is read again.

Vocabularies of bytes split a text from left to right and look at little of what follows. So well before the
first change all tokens are as they were, and reading may begin anew at the end of a line there. That it may
is not believed but seen: the tokens of what stands unchanged behind it must come out the same again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

MOST_TEXTS = 4
UNCHANGED = 512
"""Bytes that must be as they were behind the line end from which a text is read again."""

SEEN = 256
"""Of these, those whose tokens are compared."""

LINES_TRIED = 8
_LINE_END = re.compile(rb"[!-~]\n\s{0,100}[!-~]")


@dataclass(frozen=True, slots=True)
class Known:
    """A text in UTF-8 and its tokens; *is_exact*: their bytes are the text."""

    data: bytes
    tokens: list[int]
    is_exact: bool


@dataclass(slots=True)
class TypedTexts:
    """The last few texts that *encode* has read; *token_bytes* has the exact bytes of each token.

    Unless *in_words*, as vocabularies of bytes are, a text is read as a whole.
    """

    encode: Callable[[str], list[int]]
    token_bytes: Sequence[bytes | None]
    in_words: bool
    _known: list[Known] = field(default_factory=list)

    def tokens(self, text: str) -> list[int]:
        """What *encode* makes of *text*."""
        data = text.encode()
        found = self._from_known(data) or self._read(data, 0, [])
        self._known = [*self._known[1 - MOST_TEXTS :], found]
        return found.tokens.copy()

    def _read(self, data: bytes, start: int, before: list[int]) -> Known:
        """*data*, of which the tokens *before* *start* are known."""
        tokens = self.encode(data[start:].decode())
        written = b"".join(self.token_bytes[token] or b"" for token in tokens)
        return Known(data, before + tokens, written == data[start:])

    def _from_known(self, data: bytes) -> Known | None:
        """*data* as a known text, or as what has become of one, which is forgotten."""
        alike = ((n_alike(known.data, data), known) for known in self._known)
        n_same, known = max(alike, key=lambda pair: pair[0], default=(0, None))
        if known is None or 2 * n_same < len(known.data):
            return None
        self._known.remove(known)
        return known if known.data == data else self._continued(known, data, n_same)

    def _continued(self, known: Known, data: bytes, n_same: int) -> Known | None:
        """*data*, whose first *n_same* bytes are those of *known*; None if all of it must be read."""
        if not (self.in_words and known.is_exact):
            return None
        for cut in line_ends_before(data, n_same - UNCHANGED):
            n_kept, n_seen = self._n_tokens(known, cut)
            if n_kept is None:
                continue
            found = self._read(data, cut, known.tokens[:n_kept])
            return found if found.tokens[n_kept:n_seen] == known.tokens[n_kept:n_seen] else None
        return None

    def _n_tokens(self, known: Known, cut: int) -> tuple[int | None, int]:
        """How many tokens of *known* end at *cut*, None if one goes on there; how many are known or seen."""
        n_seen = n = len(known.tokens)
        end = len(known.data)
        while end > cut:
            n_seen = n if end > cut + SEEN else n_seen
            n -= 1
            end -= len(self.token_bytes[known.tokens[n]] or b"")
        return (n if end == cut else None), n_seen


def n_alike(one: bytes, other: bytes) -> int:
    """How many bytes two texts have in common at their beginning."""
    size = min(len(one), len(other))
    differs = np.frombuffer(one, np.uint8, size) != np.frombuffer(other, np.uint8, size)
    first = int(differs.argmax()) if size else 0
    return first if size and differs[first] else size


def line_ends_before(data: bytes, limit: int) -> Iterator[int]:
    """The last few ends before *limit* of lines that end with a sign, and are soon followed by another."""
    for _ in range(LINES_TRIED):
        limit = data.rfind(b"\n", 0, max(0, limit))
        if limit < 1:
            return
        if _LINE_END.match(data, limit - 1):
            yield limit
