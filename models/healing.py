"""Token healing: a text that ends within a word is read up to that word, which is then written anew.

A tokenizer would have cut the whole word otherwise, so a model hardly ever saw a word go on behind such
tokens. The text itself stays: what is written has to begin with the part that was not read, the *prefix*, and
is as likely as it is among all that begins so (`benchmarks/models/healing.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf, log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fimlsp.models.prompts.vocabulary import Vocabulary as Tokens
from fimlsp.models.protocols import Candidates, Preference
from fimlsp.quotient.states.protocol import State

if TYPE_CHECKING:
    from fimlsp.quotient.masks.plain_walk import Truths
    from fimlsp.quotient.masks.vocabulary import Vocabulary, Words

_READ = 200
_TOKENS_MAX = 8
_WORD_BEGINS = re.compile(rb"\w")
_IN_WORD = re.compile(rb"\w\Z")


def unread_part(tokens: Tokens, text: bytes) -> bytes:
    """The tokens of the word that *text* ends within, or with, eight at most; else nothing."""
    if not _IN_WORD.search(text[-1:]):
        return b""
    ids = tokens.encode(text[-_READ:].decode(errors="ignore"))
    texts = [tokens.token_bytes[each] or b"" for each in ids[-_TOKENS_MAX:]]
    first = len(texts) - 1
    while first > 0 and _WORD_BEGINS.match(texts[first]) and _IN_WORD.search(texts[first - 1]):
        first -= 1
    part = b"".join(texts[max(0, first) :])
    return part if text.endswith(part) and b"\n" not in part else b""


@dataclass(frozen=True, slots=True)
class Healed:
    """What comes behind a text, as what comes behind it without its last bytes, the *prefix*."""

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
        """As in `State`: the text is there already, so it is to be written again."""
        return False

    @property
    def shortest_completion(self) -> bytes:
        """As in `State`."""
        return self.prefix + self.state.shortest_completion

    def mask(self, vocabulary: Vocabulary) -> Words:
        """As in `State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> Truths:
        """As in `State`; few texts go with the prefix, and only these are fed."""
        from fimlsp.quotient.masks.plain_walk import asked_again

        return asked_again(
            vocabulary, None, self._agreeing(vocabulary.texts), lambda text: self.feed(text) is not None
        )

    def _agreeing(self, texts: Sequence[bytes | None]) -> list[int]:
        """The numbers of those of *texts* that go with the prefix."""
        prefix = self.prefix
        return [
            number
            for number, text in enumerate(texts)
            if text and (text.startswith(prefix) or prefix.startswith(text))
        ]

    def agreeing(
        self,
        listed: Candidates,
        token_bytes: Sequence[bytes | None],
        everything: Callable[[], Candidates | None],
    ) -> Candidates:
        """Those of the *listed* that go with the prefix, with their log-probabilities given the prefix.

        *everything* tells all candidates, if that can be told. It is asked only if those that are not
        listed might weigh more than those that are listed and go with the prefix.
        """
        tokens, log_probabilities = self._among(listed, token_bytes)
        unlisted = 1 - float(np.exp(listed.log_probabilities).sum())
        if float(np.exp(log_probabilities).sum()) < unlisted and (told := everything()) is not None:
            tokens, log_probabilities = self._among(told, token_bytes)
        if not tokens:
            return Candidates([], [], -inf)
        weight = float(np.exp(log_probabilities).sum())
        return Candidates(tokens, (log_probabilities - log(weight)).tolist(), -inf)

    def _among(
        self, candidates: Candidates, token_bytes: Sequence[bytes | None]
    ) -> tuple[list[int], NDArray[np.float64]]:
        """Those of *candidates* that go with the prefix, and their log-probabilities."""
        numbers = self._agreeing([token_bytes[token] for token in candidates.tokens])
        log_probabilities = np.asarray(candidates.log_probabilities, np.float64)[numbers]
        return [candidates.tokens[number] for number in numbers], log_probabilities


@dataclass(frozen=True, slots=True)
class HealedPreference:
    """A *preference* for what comes behind a text whose last bytes, the *prefix*, are written again."""

    prefix: bytes
    preference: Preference

    def misfit(self, text: bytes, continuation: bytes) -> float:
        """As in `Preference`."""
        n = len(self.prefix)
        new = continuation[max(0, n - len(text)) :]
        return self.preference.misfit(text[n:], new) if new else 0.0
