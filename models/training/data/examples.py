"""Makes rows of token ids for training: plain text, and fill-in-the-middle examples as an editor cuts them.

A document is cut as an editor would cut it: mostly the rest of a line, or a part of one (what brackets
typed in pairs leave open), or whole lines, sometimes any run of characters. The three parts are encoded
apart, so the model sees the same token boundaries at a cursor as in use, and set in the order suffix,
prefix, middle (Bavarian et al. 2022, "SPM"): while somebody types, a prompt only grows at its end.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from tokenizers import Tokenizer

from fimlsp.models.training.data.corpus import SourceFile
from fimlsp.models.training.data.tokenizer import END_OF_TEXT, LEFT, PAD, RIGHT

FIM_RATE = 0.8
CHARACTERS_PER_TOKEN = 6
SMALLEST_EXAMPLE = 48
PACKAGE_POWER = 0.6

Span = tuple[int, int]
SpanRule = Callable[[str, Random], Span]


def rest_of_line(text: str, rng: Random) -> Span:
    """From a random cursor in a line that is not blank to the end of that line."""
    begin, end = _line_with_code(text, rng)
    return rng.randint(begin, end), end


def part_of_line(text: str, rng: Random) -> Span:
    """Between two random positions of one line."""
    begin, end = _line_with_code(text, rng)
    low, high = sorted((rng.randint(begin, end), rng.randint(begin, end)))
    return low, high


def whole_lines(text: str, rng: Random) -> Span:
    """One to six whole lines, from after the indentation of the first to the end of the last."""
    begin, end = _line_with_code(text, rng)
    for _ in range(min(rng.randrange(6), rng.randrange(6))):
        following = text.find("\n", end + 1)
        end = following if following >= 0 else len(text)
    return begin, end


def any_characters(text: str, rng: Random) -> Span:
    """Any run of up to 160 characters."""
    begin = rng.randint(0, len(text))
    return begin, min(len(text), begin + rng.randint(0, 160))


RULES: tuple[tuple[SpanRule, float], ...] = (
    (rest_of_line, 0.4),
    (part_of_line, 0.2),
    (whole_lines, 0.25),
    (any_characters, 0.15),
)


def _line_with_code(text: str, rng: Random) -> Span:
    """A random line that is not blank (if eight tries find one), without its indentation."""
    begin = end = 0
    for _ in range(8):
        at = rng.randint(0, len(text))
        begin = text.rfind("\n", 0, at) + 1
        end = text.find("\n", at)
        end = end if end >= 0 else len(text)
        line = text[begin:end]
        begin += len(line) - len(line.lstrip(" \t"))
        if begin < end:
            break
    return begin, end


@dataclass(frozen=True, slots=True)
class Markers:
    """Ids of the special tokens of a tokenizer made here."""

    left: int
    right: int
    end: int
    pad: int

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Markers:
        """Look the markers up in *tokenizer*."""
        ids = tokenizer.get_vocab(with_added_tokens=True)
        return cls(*(ids[text] for text in (LEFT, RIGHT, END_OF_TEXT, PAD)))


class Examples:
    """An endless stream of rows drawn from *files*.

    Large packages are drawn less often than their size says (size to the power 0.6), so that one of them
    does not become the whole diet. Every draw is a function of *rng*.
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
        begin, end = rule(text, self.rng)
        return self.join(text[:begin], text[begin:end], text[end:], budget)

    def join(self, prefix: str, middle: str, suffix: str, budget: int) -> list[int]:
        """Set one example in suffix-prefix-middle order, outer ends cut so that *budget* ids hold it."""
        marks, inner = self.markers, self.encode(middle)
        inner = inner[: budget // 2]
        room = budget - 3 - len(inner)
        after = self.encode(suffix)[: int(room * self.rng.uniform(0, 0.5))]
        before = self.encode(prefix)
        before = before[max(0, len(before) - (room - len(after))) :]
        ending = [marks.end] if len(inner) < budget // 2 else []
        return [marks.right, *after, marks.left, *before, *inner, *ending]

    def passage(self, size: int) -> str:
        """Up to *size* characters of a random file, from the beginning of a line on."""
        at = bisect(self._cumulated, self.rng.random() * self._cumulated[-1])
        text = self.files[min(at, len(self.files) - 1)].text
        if len(text) <= size:
            return text
        begin = self.rng.randint(0, len(text) - size)
        begin = text.rfind("\n", 0, begin) + 1
        return text[begin : begin + size]

    def encode(self, text: str) -> list[int]:
        """Token ids of *text*."""
        return self.tokenizer.encode(text, add_special_tokens=False).ids
