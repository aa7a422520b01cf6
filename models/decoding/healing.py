"""Token healing: a text that ends within a word is read up to that word, and the word is written anew.

A tokenizer would have split the whole word differently, so models rarely saw a word continue after such
tokens. A space before a word is a part of its token as well. So after `x = ` a model would expect digits,
which are tokens without a space. The text itself stays: the continuation must start with the unread part, the
*prefix*. Its probability is its share among all continuations that do (`benchmarks/models/healing.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fimlsp.models.prompts.vocabulary import ModelVocabulary as Tokens
from fimlsp.models.protocols import Candidates, Preference
from fimlsp.quotient.states.protocol import State

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary

_TOKENISED_BYTES = 200
_TOKENS_MAX = 8
_WORD_BEGINS = re.compile(rb"[\w\x80-\xff]")
_IN_WORD = re.compile(rb"[\w\x80-\xff]\Z")


def unread_part(tokens: Tokens, text: bytes) -> bytes:
    """The tokens of the word at the end of *text*, at most eight, or one space; else nothing."""
    if text[-1:] != b" " and not _IN_WORD.search(text[-1:]):
        return b""
    ids = tokens.encode(text[-_TOKENISED_BYTES:].decode(errors="ignore"))
    texts = [tokens.token_bytes[token] or b"" for token in ids[-_TOKENS_MAX:]]
    if text[-1:] == b" ":
        return b" " if texts[-1:] == [b" "] and text[-2:].strip() else b""
    first = len(texts) - 1
    while first > 0 and _WORD_BEGINS.match(texts[first]) and _IN_WORD.search(texts[first - 1]):
        first -= 1
    part = b"".join(texts[max(0, first) :])
    return part if text.endswith(part) and b"\n" not in part else b""


@dataclass(frozen=True, slots=True)
class Healed:
    """The constraint after a text without its last bytes, the *prefix*; *state* follows the whole text."""

    prefix: bytes
    state: State

    def feed(self, data: bytes) -> State | None:
        """As in `State`."""
        n = min(len(data), len(self.prefix))
        if data[:n] != self.prefix[:n]:
            return None
        if n < len(self.prefix):
            return Healed(self.prefix[n:], self.state)
        return self.state.feed(data[n:]) if data[n:] else self.state

    @property
    def complete(self) -> bool:
        """False: the text contains the prefix, so the prefix must be written."""
        return False

    @property
    def shortest_completion(self) -> bytes:
        """As in `State`."""
        return self.prefix + self.state.shortest_completion

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """As in `State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """As in `State`; few texts are compatible with the prefix, and only these are fed."""
        from fimlsp.quotient.masks.vocabulary import recheck

        compatible = self._compatible_numbers(vocabulary.texts)
        return recheck(vocabulary, None, compatible, lambda text: self.feed(text) is not None)

    def compatible(
        self,
        listed: Candidates,
        token_bytes: Sequence[bytes | None],
        list_more: Callable[[], Candidates | None] = lambda: None,
    ) -> Candidates:
        """Those of *listed* that are compatible with the prefix, with log-probabilities given the prefix.

        *list_more* returns more candidates, if they can be listed. It is called only if the unlisted ones
        might weigh more than the compatible ones that are listed.
        """
        tokens, log_probabilities = self._compatible_of(listed, token_bytes)
        compatible = float(np.exp(log_probabilities).sum())
        if compatible < listed.unlisted and (more := list_more()) is not None:
            tokens, log_probabilities = self._compatible_of(more, token_bytes)
        if not tokens:
            return Candidates([], [], -inf)
        weight = float(np.exp(log_probabilities).sum())
        return Candidates(tokens, (log_probabilities - log(weight)).tolist(), -inf)

    def _compatible_of(
        self, candidates: Candidates, token_bytes: Sequence[bytes | None]
    ) -> tuple[list[int], NDArray[np.float64]]:
        """Those of *candidates* that are compatible with the prefix, and their log-probabilities."""
        numbers = self._compatible_numbers([token_bytes[token] for token in candidates.tokens])
        log_probabilities = np.asarray(candidates.log_probabilities, np.float64)[numbers]
        return [candidates.tokens[number] for number in numbers], log_probabilities

    def _compatible_numbers(self, texts: Sequence[bytes | None]) -> list[int]:
        """The numbers of those of *texts* that are compatible with the prefix."""
        prefix = self.prefix
        return [
            number
            for number, text in enumerate(texts)
            if text and (text.startswith(prefix) or prefix.startswith(text))
        ]


@dataclass(frozen=True, slots=True)
class HealedPreference:
    """A *preference* for continuations of a text whose last bytes, the *prefix*, are written anew."""

    prefix: bytes
    preference: Preference

    def misfit(self, text: bytes, continuation: bytes) -> float:
        """As in `Preference`."""
        n = len(self.prefix)
        new = continuation[max(0, n - len(text)) :]
        return self.preference.misfit(text[n:], new) if new else 0.0
