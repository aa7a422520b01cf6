"""Re-tokenises a text after an edit by reading only the part near the change.

Byte-level vocabularies split a text from left to right and look only a little ahead. So all tokens well
before the first change stay the same, and reading can restart at a line end there. The assumption is checked:
the tokens of the unchanged text after that line end must come out the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

MOST_TEXTS = 4
UNCHANGED = 512
"""Bytes after the line end where reading restarts that must be unchanged."""

CHECKED = 256
"""The number of these bytes whose tokens are compared."""

LINES_TRIED = 8
_LINE_END = re.compile(rb"[!-~]\n\s{0,100}[!-~]")


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """A text in UTF-8 and its tokens; *is_exact*: their bytes are the text."""

    data: bytes
    tokens: list[int]
    is_exact: bool


class IncrementalTokenizer:
    """Tokens of the last few texts.

    *encode* tokenises a text, and *token_bytes* has the exact bytes of each token. If the vocabulary is not
    byte-level, every text is read as a whole.
    """

    def __init__(
        self, encode: Callable[[str], list[int]], token_bytes: Sequence[bytes | None], is_byte_level: bool
    ) -> None:
        self._encode = encode
        self._token_bytes = token_bytes
        self._is_byte_level = is_byte_level
        self._recent = list[TokenizedText]()

    def tokens(self, text: str) -> list[int]:
        """The same tokens as *encode* returns for *text*."""
        data = text.encode()
        tokenized = self._from_recent(data) or self._read(data, 0, [])
        self._recent = [*self._recent[1 - MOST_TEXTS :], tokenized]
        return tokenized.tokens.copy()

    def _read(self, data: bytes, start: int, before: list[int]) -> TokenizedText:
        """*data*, where *before* are the known tokens of everything before *start*."""
        tokens = self._encode(data[start:].decode())
        written = b"".join(self._token_bytes[token] or b"" for token in tokens)
        return TokenizedText(data, before + tokens, written == data[start:])

    def _from_recent(self, data: bytes) -> TokenizedText | None:
        """*data* if it is a recent text or similar to one, which is then forgotten; None otherwise."""
        most_same, nearest = -1, None
        for known in self._recent:
            n_same = common_prefix_length(known.data, data)
            if n_same > most_same:
                most_same, nearest = n_same, known
        if nearest is None or 2 * most_same < len(nearest.data):
            return None
        self._recent.remove(nearest)
        return nearest if nearest.data == data else self._continued(nearest, data, most_same)

    def _continued(self, known: TokenizedText, data: bytes, n_same: int) -> TokenizedText | None:
        """*data*, whose first *n_same* bytes equal those of *known*; None if it must be read as a whole."""
        if not (self._is_byte_level and known.is_exact):
            return None
        for cut in line_ends_before(data, n_same - UNCHANGED):
            n_kept, n_checked = self._n_tokens(known, cut)
            if n_kept is None:
                continue
            tokenized = self._read(data, cut, known.tokens[:n_kept])
            is_same = tokenized.tokens[n_kept:n_checked] == known.tokens[n_kept:n_checked]
            return tokenized if is_same else None
        return None

    def _n_tokens(self, known: TokenizedText, cut: int) -> tuple[int | None, int]:
        """The number of tokens of *known* up to *cut*, and up to the end of the checked bytes after it.

        The first is None if *cut* is inside a token.
        """
        n_checked = n = len(known.tokens)
        end = len(known.data)
        while end > cut:
            n_checked = n if end > cut + CHECKED else n_checked
            n -= 1
            end -= len(self._token_bytes[known.tokens[n]] or b"")
        return (n if end == cut else None), n_checked


def common_prefix_length(one: bytes, other: bytes) -> int:
    """The length of the common prefix of two texts."""
    size = min(len(one), len(other))
    differs = np.frombuffer(one, np.uint8, size) != np.frombuffer(other, np.uint8, size)
    first = int(differs.argmax()) if size else 0
    return first if size and differs[first] else size


def line_ends_before(data: bytes, limit: int) -> Iterator[int]:
    """The last few line ends before *limit* that have a visible character before and soon after them."""
    for _ in range(LINES_TRIED):
        limit = data.rfind(b"\n", 0, max(0, limit))
        if limit < 1:
            return
        if _LINE_END.match(data, limit - 1):
            yield limit
