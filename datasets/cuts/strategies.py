"""The ways to draw a hole in a file. A cut keeps only offsets, and the texts can be made again from them.

`boundary` and `randspan` follow the protocol of Melcer et al. 2024, section VII; `paper-boundary` and
`paper-randspan` are their very cuts, drawn from the seeds of the released code. All offsets count characters
of the text with its additional line feed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from fimlsp.datasets.languages.replay_language import ReplayLanguage

SPAN_MAX = 100


@dataclass(frozen=True, slots=True)
class Cut:
    """A hole from *start* to *end*; *swapped* if its ends were drawn in the wrong order.

    In the paper's own cuts such ends stay as they were: the text from *end* to *start* is on both sides.
    """

    start: int
    end: int
    swapped: bool = False

    def left(self, text: str) -> str:
        """The text before the hole."""
        return text[: self.start]

    def middle(self, text: str) -> str:
        """The text in the hole; none if it ends before it starts."""
        return text[self.start : self.end]

    def right(self, text: str) -> str:
        """The text after the hole."""
        return text[self.end :]


Strategy = Callable[[str, Random, ReplayLanguage], Cut | None]
"""Draws a cut of a text; None if the text has no place of the kind."""


def randspan(text: str, random: Random, _: ReplayLanguage) -> Cut:
    """A span of a fifth of the content, at most 100 characters, that starts in its first nine tenths."""
    length = len(text) - 1
    start = int(0.9 * random.random() * length)
    return Cut(start, min(start + int(min(0.2 * length, SPAN_MAX)), length))


def boundary(text: str, random: Random, language: ReplayLanguage) -> Cut | None:
    """From within one token to within another of the same suite, including nested suites between them.

    If both ends fall into one token in the wrong order, they are swapped.
    """
    cut = paper_boundary(text, random, language)
    return Cut(cut.end, cut.start, swapped=True) if cut is not None and cut.swapped else cut


def paper_boundary(text: str, random: Random, language: ReplayLanguage) -> Cut | None:
    """As `boundary`, with the ends in the order in which they were drawn, as in the released code.

    A suite is drawn with its number of tokens as its weight, then two of its stretches in the same way, with
    replacement.
    """
    suites = [suite for suite in language.suites(text) if suite]
    if not suites:
        return None
    suite = random.choices(suites, [sum(map(len, suite)) for suite in suites])[0]
    stretches = random.choices(suite, [len(stretch) for stretch in suite], k=2)
    first, second = sorted(random.choice(stretch) for stretch in stretches)
    start, end = random.randint(*first), random.randint(*second)
    return Cut(start, end, swapped=end < start)


def line(text: str, random: Random, _: ReplayLanguage) -> Cut | None:
    """The rest of a line, from a cursor anywhere after its indentation."""
    lines, line_start = list[tuple[int, int]](), 0
    for content in text.split("\n"):
        if content.strip():
            lines.append((line_start + len(content) - len(content.lstrip()), line_start + len(content)))
        line_start += len(content) + 1
    if not lines:
        return None
    first, end = random.choice(lines)
    return Cut(random.randrange(first, end), end)


def block(text: str, random: Random, language: ReplayLanguage) -> Cut | None:
    """The whole body of a nested suite."""
    bodies = language.bodies(text)
    return Cut(*random.choice(bodies)) if bodies else None


def user(text: str, random: Random, language: ReplayLanguage) -> Cut | None:
    """The rest of a statement that is being typed, after its first character or more."""
    statements = [(start, end) for start, end in language.statements(text) if end - start > 1]
    if not statements:
        return None
    start, end = random.choice(statements)
    return Cut(random.randrange(start + 1, end), end)


STRATEGIES: Mapping[str, Strategy] = {
    "boundary": boundary,
    "randspan": randspan,
    "line": line,
    "block": block,
    "user": user,
    "paper-boundary": paper_boundary,
    "paper-randspan": randspan,
}
PAPER_KINDS = frozenset(["paper-boundary", "paper-randspan"])


def paper_seed(file_number: int, index: int) -> int:
    """The seed of the released code for cut *index* of the file with this number in its data set.

    It is a hash of two integers. It is the same in every 64-bit CPython since 3.8.
    """
    return hash((file_number, index)) % 2**32
