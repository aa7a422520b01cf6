"""Ways to cut a hole into a file. A cut keeps offsets only; the text around and inside is made from them.

`boundary` and `randspan` are the protocol of Melcer et al. 2024, section VII. All offsets count characters of
the text with its additional line feed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from fimlsp.datasets.cuts.suites import groups_of, statement_lines_of, suites_of

SPAN_MAX = 100


@dataclass(frozen=True, slots=True)
class Cut:
    """A hole from *start* to *end*; `swapped` if its ends were drawn in the wrong order."""

    start: int
    end: int
    swapped: bool = False

    def left(self, text: str) -> str:
        """What stands before the hole."""
        return text[: self.start]

    def middle(self, text: str) -> str:
        """What was in the hole."""
        return text[self.start : self.end]

    def right(self, text: str) -> str:
        """What stands behind the hole."""
        return text[self.end :]


Strategy = Callable[[str, Random], Cut | None]


def randspan(text: str, random: Random) -> Cut:
    """A span of a fifth of the content, at most 100 characters, that begins in its first nine tenths."""
    length = len(text) - 1
    start = int(0.9 * random.random() * length)
    return Cut(start, min(start + int(min(0.2 * length, SPAN_MAX)), length))


def boundary(text: str, random: Random) -> Cut | None:
    """From within one token to within another of the same suite, nested suites between them included.

    A suite is drawn by its number of tokens, then two stretches of it likewise, with replacement. Where both
    ends fall into one token in the wrong order, they are swapped (the paper's code duplicates text there).
    """
    groups = [group for group in groups_of(text) if group]
    if not groups:
        return None
    group = random.choices(groups, [sum(map(len, group)) for group in groups])[0]
    runs = random.choices(group, [len(run) for run in group], k=2)
    first, second = sorted(random.choice(run) for run in runs)
    start, end = random.randint(*first), random.randint(*second)
    return Cut(min(start, end), max(start, end), swapped=end < start)


def line(text: str, random: Random) -> Cut | None:
    """The rest of a line, from a cursor anywhere behind its indentation."""
    places, begin = list[tuple[int, int]](), 0
    for each in text.split("\n"):
        if each.strip():
            places.append((begin + len(each) - len(each.lstrip()), begin + len(each)))
        begin += len(each) + 1
    if not places:
        return None
    first, end = random.choice(places)
    return Cut(random.randrange(first, end), end)


def block(text: str, random: Random) -> Cut | None:
    """An indented suite: its body from the first indentation to its last line end."""
    suites = suites_of(text)
    return Cut(*random.choice(suites)) if suites else None


def user(text: str, random: Random) -> Cut | None:
    """A statement that is being typed: at least one character of it stands, the rest is not there yet."""
    statements = [(start, end) for start, end in statement_lines_of(text) if end - start > 1]
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
}
