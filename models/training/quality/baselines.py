"""Predictors without a network, to compare a trained model with: counting and copying."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from tokenizers import Tokenizer

LINE_TOKENS_MAX = 48
PRIOR = 5.0


class TokenCounts:
    """How often tokens, and pairs of tokens, occur in a text."""

    def __init__(self, tokenizer: Tokenizer, texts: Iterable[str]) -> None:
        self.tokenizer = tokenizer
        self.single = Counter[int]()
        self.after = defaultdict[int, Counter[int]](Counter)
        for text in texts:
            tokens = tokenizer.encode(text, add_special_tokens=False).ids
            self.single.update(tokens)
            for token, following in pairwise(tokens):
                self.after[token][following] += 1
        self._total = self.single.total() + tokenizer.get_vocab_size()

    def unigram(self, token: int) -> float:
        """Probability of *token*, one added to every count."""
        return (self.single[token] + 1) / self._total

    def bigram(self, previous: int, token: int) -> float:
        """Probability of *token* after *previous*, with the unigram as a prior worth 5 counts."""
        seen = self.after[previous]
        return (seen[token] + PRIOR * self.unigram(token)) / (seen.total() + PRIOR)

    def bits(self, tokens: Sequence[int]) -> tuple[float, float]:
        """Bits that unigram and bigram need for *tokens*, given the first one."""
        single = -sum(math.log2(self.unigram(token)) for token in tokens[1:])
        pairs = -sum(math.log2(self.bigram(previous, token)) for previous, token in pairwise(tokens))
        return single, pairs

    def complete_line(self, left: str, _right: str) -> str:
        """The most frequent next token by the bigram, repeatedly, up to the end of the line."""
        tokens = self.tokenizer.encode(left[-200:], add_special_tokens=False).ids[-1:]
        written = ""
        while tokens and len(tokens) <= LINE_TOKENS_MAX and "\n" not in written and self.after[tokens[-1]]:
            tokens.append(self.after[tokens[-1]].most_common(1)[0][0])
            written = self.tokenizer.decode(tokens[1:])
        return written.partition("\n")[0]


def copy_nearest(left: str, right: str) -> str:
    """The rest of the line where the longest ending of *left* occurs again.

    The nearest occurrence before it is used, otherwise the first in *right*.
    """
    for size in range(min(len(left), 80), 0, -1):
        written = left[-size:]
        at = left.rfind(written, 0, len(left) - 1)
        if at >= 0:
            return left[at + size :].partition("\n")[0]
        if (at := right.find(written)) >= 0:
            return right[at + size :].partition("\n")[0]
    return ""
