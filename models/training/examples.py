"""Makes rows of token ids for training: plain text, and fill-in-the-middle examples as an editor cuts them.

Most cuts take the rest of a line, a part of one (as between brackets typed in pairs), or whole lines; some
take any run of characters. The three parts are encoded separately, so the model sees the same token
boundaries at a cursor as in use. Their order is suffix, prefix, middle (Bavarian et al. 2022, "SPM"): while
the user types, a prompt only grows at its end.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from fimlsp.models.training.corpus import SourceFile

END_OF_TEXT = "<|endoftext|>"
LEFT, RIGHT, PAD = "<|left|>", "<|right|>", "<|pad|>"
SPECIAL = [END_OF_TEXT, LEFT, RIGHT, PAD]

SPLIT = r"(?:[ \t]*\n)+[ \t]*| ?[\p{L}_]+|\d| ?[^\s\p{L}\p{N}_]+|[ \t]+|\s+|[\s\S]"
"""The pieces of text within which tokens are merged.

A line end stays together with the blank lines before it and the indentation after it. So one token means
"next statement, this deep", the most frequent decision in Python. Each digit is a token of its own; names may
contain underscores.
"""

FIM_RATE = 0.8
CHARACTERS_PER_TOKEN = 6
SMALLEST_EXAMPLE = 48
PACKAGE_POWER = 0.6

Span = tuple[int, int]
SpanRule = Callable[[str, Random], Span]


def train_tokenizer(texts: Iterable[str], vocabulary_size: int) -> Tokenizer:
    """Train a byte-level byte-pair encoding of *vocabulary_size* tokens on *texts*.

    Its tokens are the four special ones, the 256 bytes, then merges.
    """
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary_size,
        special_tokens=SPECIAL,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def rest_of_line(text: str, rng: Random) -> Span:
    """From a random cursor in a line that is not blank to the end of that line."""
    start, end = _line_with_code(text, rng)
    return rng.randint(start, end), end


def part_of_line(text: str, rng: Random) -> Span:
    """Between two random positions of one line."""
    start, end = _line_with_code(text, rng)
    low, high = sorted((rng.randint(start, end), rng.randint(start, end)))
    return low, high


def whole_lines(text: str, rng: Random) -> Span:
    """One to six whole lines, from after the indentation of the first to the end of the last."""
    start, end = _line_with_code(text, rng)
    for _ in range(min(rng.randrange(6), rng.randrange(6))):
        following = text.find("\n", end + 1)
        end = following if following >= 0 else len(text)
    return start, end


def any_characters(text: str, rng: Random) -> Span:
    """Any run of up to 160 characters."""
    start = rng.randint(0, len(text))
    return start, min(len(text), start + rng.randint(0, 160))


RULES: tuple[tuple[SpanRule, float], ...] = (
    (rest_of_line, 0.4),
    (part_of_line, 0.2),
    (whole_lines, 0.25),
    (any_characters, 0.15),
)


def _line_with_code(text: str, rng: Random) -> Span:
    """A random line that is not blank (if one of eight tries finds one), without its indentation."""
    start = end = 0
    for _ in range(8):
        at = rng.randint(0, len(text))
        start = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        end = end if end >= 0 else len(text)
        line = text[start:end]
        start += len(line) - len(line.lstrip(" \t"))
        if start < end:
            break
    return start, end


@dataclass(frozen=True, slots=True)
class Markers:
    """Ids of the special tokens of a tokenizer made here."""

    left: int
    right: int
    end: int
    pad: int

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Markers:
        """The markers' ids in *tokenizer*."""
        ids = tokenizer.get_vocab(with_added_tokens=True)
        return cls(*(ids[text] for text in (LEFT, RIGHT, END_OF_TEXT, PAD)))


class Examples:
    """An endless stream of rows drawn from *files*.

    Large packages are drawn less often than their size suggests (size to the power 0.6), so that none of them
    dominates. Every draw is a function of *rng*.
    """

    def __init__(
        self, files: Sequence[SourceFile], tokenizer: Tokenizer, rng: Random, fim_rate: float = FIM_RATE
    ) -> None:
        self.files = files
        self.tokenizer = tokenizer
        self.markers = Markers.of(tokenizer)
        self.rng = rng
        self.fim_rate = fim_rate
        size = Counter[str]()
        for file in files:
            size[file.package] += len(file.text)
        self._cumulated = list(
            accumulate(len(f.text) * size[f.package] ** (PACKAGE_POWER - 1) for f in files)
        )

    def row(self, length: int) -> list[int]:
        """One row of exactly *length* ids: one or more examples, padded at the end."""
        row = list[int]()
        while (room := length - len(row)) >= SMALLEST_EXAMPLE:
            row += self.example(
                max(SMALLEST_EXAMPLE, min(room, self.rng.choice((length, length // 2, length // 4))))
            )
        return row + [self.markers.pad] * (length - len(row))

    def example(self, budget: int) -> list[int]:
        """One example of at most *budget* ids, its end token included."""
        text = self.passage(budget * CHARACTERS_PER_TOKEN)
        if self.rng.random() >= self.fim_rate:
            return [*self.encode(text)[: budget - 1], self.markers.end]
        rule = self.rng.choices([rule for rule, _ in RULES], [weight for _, weight in RULES])[0]
        start, end = rule(text, self.rng)
        return self.join(text[:start], text[start:end], text[end:], budget)

    def join(self, prefix: str, middle: str, suffix: str, budget: int) -> list[int]:
        """One example in suffix-prefix-middle order, with its outer ends cut off to fit into *budget* ids."""
        marks, inner = self.markers, self.encode(middle)
        inner = inner[: budget // 2]
        room = budget - 3 - len(inner)
        after = self.encode(suffix)[: int(room * self.rng.uniform(0, 0.5))]
        before = self.encode(prefix)
        before = before[max(0, len(before) - (room - len(after))) :]
        ending = [marks.end] if len(inner) < budget // 2 else []
        return [marks.right, *after, marks.left, *before, *inner, *ending]

    def passage(self, size: int) -> str:
        """Up to *size* characters of a random file, from the start of a line on."""
        at = bisect(self._cumulated, self.rng.random() * self._cumulated[-1])
        text = self.files[min(at, len(self.files) - 1)].text
        if len(text) <= size:
            return text
        start = self.rng.randint(0, len(text) - size)
        start = text.rfind("\n", 0, start) + 1
        return text[start : start + size]

    def encode(self, text: str) -> list[int]:
        """Token ids of *text*."""
        return self.tokenizer.encode(text, add_special_tokens=False).ids
