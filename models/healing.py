"""Token healing: a text that ends within a word is read up to its last token, which is then written anew.

A tokenizer would have cut the whole word otherwise, so a model hardly ever saw a word go on behind such a
token. The text itself stays: what is written has to begin with the part that was not read
(`benchmarks/healing.py`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fimlsp.models.prompts.vocabulary import Vocabulary as Tokens
from fimlsp.quotient.states.protocol import State

if TYPE_CHECKING:
    from fimlsp.quotient.masks.plain_walk import Truths
    from fimlsp.quotient.masks.vocabulary import Vocabulary, Words

_READ = 200
_IN_WORD = re.compile(rb"\w\Z")


def unread_part(tokens: Tokens, text: bytes) -> bytes:
    """The last token of *text* if that ends within a word, or with one; else nothing."""
    if not _IN_WORD.search(text):
        return b""
    ids = tokens.encode(text[-_READ:].decode(errors="ignore"))
    last = tokens.token_bytes[ids[-1]] if ids else None
    return last if last and text.endswith(last) else b""


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

        agreeing = [
            number
            for number, text in enumerate(vocabulary.texts)
            if text and (text.startswith(self.prefix) or self.prefix.startswith(text))
        ]
        return asked_again(vocabulary, None, agreeing, lambda text: self.feed(text) is not None)
