"""Makes rows of token ids for training, out of the tokens of a pack.

| kind | an example |
|---|---|
| text | plain text |
| hole | a part of a file is the middle: the rest of a line, a part of it, whole lines, or any characters |
| bound | the middle is a line that binds a name; only the text after it shows which |
| brackets | the middle is the content of brackets that are closed after it |
| edit | the middle is new in a release, before it stands the new file, after it the old one |

The three parts are encoded separately, so the model sees the same token boundaries at a cursor as in use.
Their order is suffix, prefix, middle (Bavarian et al. 2022, "SPM"): while the user types, a prompt only grows
at its end. Before the prefix there may be other files of the package.

No line end is within a token that starts with code. So only the lines around a cut are text for a moment, and
all other tokens are copied.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

import numpy as np
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from fimlsp.models.training.corpus import SourceFile, Split
from fimlsp.models.training.pack import Document, Edit, Pack, Tokens

END_OF_TEXT = "<|endoftext|>"
LEFT, RIGHT, PAD, FILE = "<|left|>", "<|right|>", "<|pad|>", "<|file|>"
SPECIAL = [END_OF_TEXT, LEFT, RIGHT, PAD, FILE]

SPLIT = r"(?:[ \t]*\n)+[ \t]*| ?[\p{L}_]+|\d| ?[^\s\p{L}\p{N}_]+|[ \t]+|\s+|[\s\S]"
"""The pieces of text within which tokens are merged.

A line end stays together with the blank lines before it and the indentation after it. So one token means
"next statement, this deep", the most frequent decision in Python. Each digit is a token of its own; names may
contain underscores.
"""

CHARACTERS_PER_TOKEN = 6
SMALLEST_EXAMPLE = 48
PACKAGE_POWER = 0.6
LINES = 7
LINES_BELOW = 30
"""Lines around a hole that become text, and around a cut that the text below decides."""

FILES_RATE, FILES_MAX = 0.35, 2
FILES_FROM = 400
"""Ids of an example from which on it may have other files, up to a quarter of it."""

BRACKETS = {"(": ")", "[": "]", "{": "}"}
CONTENT_MAX = 400
TOKENIZER_PASSAGES, TOKENIZER_PASSAGE = 4000, 6000

Span = tuple[int, int]
SpanRule = Callable[[str, Random], Span]


def train_tokenizer(texts: Iterable[str], vocabulary_size: int) -> Tokenizer:
    """Train a byte-level byte-pair encoding of *vocabulary_size* tokens on *texts*.

    Its tokens are the special ones, the 256 bytes, then merges.
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


def make_tokenizer(files: Sequence[SourceFile], size: int) -> Tokenizer:
    """A tokenizer of *size* tokens learnt from 24 MB of *files*."""
    drawn = passages(files, Random(0), TOKENIZER_PASSAGE)
    return train_tokenizer((next(drawn) for _ in range(TOKENIZER_PASSAGES)), size)


def passages(files: Sequence[SourceFile], rng: Random, size: int) -> Iterator[str]:
    """Passages of up to *size* characters from the start of a line on, without end."""
    cumulated = _cumulated([(file.package, len(file.text)) for file in files])
    while True:
        text = files[_drawn(cumulated, rng)].text
        start = rng.randint(0, max(0, len(text) - size))
        start = text.rfind("\n", 0, start) + 1
        yield text[start : start + size]


def _cumulated(sizes: Sequence[tuple[str, int]]) -> list[float]:
    """Cumulated weights of files, given their packages and sizes.

    Large packages are drawn less often than their size suggests (size to the power 0.6), so that none of them
    dominates.
    """
    total = Counter[str]()
    for package, size in sizes:
        total[package] += size
    return list(accumulate(size * total[package] ** (PACKAGE_POWER - 1) for package, size in sizes))


def _drawn(cumulated: Sequence[float], rng: Random) -> int:
    return min(bisect(cumulated, rng.random() * cumulated[-1]), len(cumulated) - 1)


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


def bound_below(text: str, rng: Random) -> Span | None:
    """A line that binds a name which stands below it, and not above; None if there is none."""
    lines = text.split("\n")
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    for row in sorted(range(len(lines) // 2), key=lambda _: rng.random()):
        line = lines[row]
        name = bound_name(line)
        end = starts[row] + len(line)
        if name and has_word(text, name, end) and not has_word(text[: starts[row]], name, 0):
            return starts[row] + len(line) - len(line.lstrip()), end
    return None


def bound_name(line: str) -> str | None:
    """The name that *line* binds, if it is an assignment, a header or an import of one name."""
    words = line.replace("(", " ").replace(":", " ").split()
    if len(words) < 2:
        return None
    if words[0] in ("def", "class", "for", "import") or words[1] == "=":
        name = words[0] if words[1] == "=" else words[1]
    elif words[0] == "from" and len(words) == 4:
        name = words[3]
    else:
        return None
    return name if name.isidentifier() else None


def has_word(text: str, word: str, start: int) -> bool:
    """True if *word* stands in *text* from *start* on, and not as a part of another word."""
    at = text.find(word, start)
    while at >= 0:
        around = text[max(0, at - 1) : at] + text[at + len(word) : at + len(word) + 1]
        if not any(character.isalnum() or character == "_" for character in around):
            return True
        at = text.find(word, at + 1)
    return False


def in_brackets(text: str, rng: Random) -> Span | None:
    """The content of brackets, or its end from a random place on; None if there is none of some length."""
    opened, found = list[tuple[str, int]](), list[Span]()
    for at, character in enumerate(text):
        if character in BRACKETS:
            opened.append((BRACKETS[character], at + 1))
        elif opened and character == opened[-1][0]:
            start = opened.pop()[1]
            found += [(start, at)] if start < at <= start + CONTENT_MAX else []
    if not found:
        return None
    start, end = rng.choice(found)
    return (start if rng.random() < 0.5 else rng.randint(start, end - 1)), end


@dataclass(frozen=True, slots=True)
class Markers:
    """Ids of the special tokens of a tokenizer made here; *file* is None in earlier ones."""

    left: int
    right: int
    end: int
    pad: int
    file: int | None

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> Markers:
        """The markers' ids in *tokenizer*."""
        ids = tokenizer.get_vocab(with_added_tokens=True)
        return cls(ids[LEFT], ids[RIGHT], ids[END_OF_TEXT], ids[PAD], ids.get(FILE))


@dataclass(frozen=True, slots=True)
class Parts:
    """The tokens before, in and after a middle, with the document of the cursor."""

    before: Sequence[int]
    middle: Sequence[int]
    after: Sequence[int]
    document: Document


@dataclass(frozen=True, slots=True)
class Example:
    """The ids of an example, and the place where its middle starts, 0 in plain text."""

    ids: list[int]
    middle: int


class Examples:
    """An endless stream of examples drawn from a split of a pack. Every draw is a function of *rng*."""

    def __init__(self, pack: Pack, rng: Random, split: Split = "train", kinds: Sequence[str] = ()) -> None:
        self.markers = Markers.of(pack.tokenizer)
        self.documents = [document for document in pack.documents if document.split == split]
        self.edits = [edit for edit in pack.edits if pack.documents[edit.new].split == split]
        chosen = {kind: weight for kind, weight in MIX.items() if kind in (kinds or MIX)}
        if not self.edits:
            chosen.pop("edit", None)
        self._kinds, self._weights = list(chosen), list(chosen.values())
        self.has_kinds = bool(chosen)
        self._pack, self._rng = pack, rng
        self._cumulated = _cumulated([(doc.package, doc.stop - doc.start) for doc in self.documents])
        self._folders = defaultdict[str, list[Document]](list)
        for document in self.documents:
            self._folders[_folder(document)].append(document)
        self._ends_line = np.zeros(pack.tokenizer.get_vocab_size(), bool)
        for text, token in pack.tokenizer.get_vocab().items():
            self._ends_line[token] = "Ċ" in text

    def row(self, length: int) -> list[int]:
        """One row of exactly *length* ids: one or more examples, padded at the end."""
        row = list[int]()
        while (room := length - len(row)) >= SMALLEST_EXAMPLE:
            share = self._rng.choice((length, length // 2, length // 4))
            row += self.example(max(SMALLEST_EXAMPLE, min(room, share))).ids
        return row + [self.markers.pad] * (length - len(row))

    def example(self, budget: int) -> Example:
        """One example of at most *budget* ids, its end token included."""
        (kind,) = self._rng.choices(self._kinds, self._weights)
        if kind == "text":
            window, _ = self._window(budget)
            return Example([*window[: budget - 1].tolist(), self.markers.end], 0)
        parts = self.edit(budget) if kind == "edit" else self.cut(budget, kind)
        return self.join(parts, budget, self._other_files(parts.document, budget))

    def join(self, parts: Parts, budget: int, front: Sequence[int] = ()) -> Example:
        """One example in suffix-prefix-middle order, with its outer ends cut off to fit into *budget* ids."""
        marks = self.markers
        inner = parts.middle[: budget // 2]
        room = budget - 3 - len(inner) - len(front)
        after = parts.after[: int(room / 2 * max(self._rng.random(), self._rng.random()))]
        before = parts.before[max(0, len(parts.before) - (room - len(after))) :]
        start = [marks.right, *after, marks.left, *front, *before]
        ending = [marks.end] if len(inner) < budget // 2 else []
        return Example([*start, *inner, *ending], len(start))

    def encode(self, text: str) -> list[int]:
        """Token ids of *text*."""
        return self._pack.tokenizer.encode(text, add_special_tokens=False).ids if text else []

    def _window(self, budget: int) -> tuple[Tokens, Document]:
        """The tokens of a random passage from the start of a line on, twice as long as *budget*."""
        document = self.documents[_drawn(self._cumulated, self._rng)]
        start = self._rng.randint(document.start, max(document.start, document.stop - 2 * budget))
        ends = np.flatnonzero(self._ends_line[self._pack.tokens[document.start : start]][-budget:])
        if len(ends):
            start = max(document.start, start - budget) + int(ends[-1]) + 1
        return self._pack.tokens[start : min(document.stop, start + 2 * budget)], document

    def cut(self, budget: int, kind: str) -> Parts:
        """A middle of *kind* cut out of a passage; a hole if it has none of that kind."""
        window, document = self._window(budget)
        ends = np.flatnonzero(self._ends_line[window])
        line = bisect(ends, self._rng.randrange(max(1, len(window))))
        start = int(ends[line - 1]) + 1 if line else 0
        last = line + (LINES if kind == "hole" else LINES_BELOW) - 1
        stop = int(ends[last]) if last < len(ends) else len(window)
        text = self._pack.tokenizer.decode(window[start:stop].tolist(), skip_special_tokens=False)
        span = SUFFIX_RULES[kind](text, self._rng) if kind in SUFFIX_RULES else None
        if span is None:
            (rule,) = self._rng.choices([rule for rule, _ in RULES], [weight for _, weight in RULES])
            span = rule(text, self._rng)
        return Parts(
            [*window[:start].tolist(), *self.encode(text[: span[0]])],
            self.encode(text[span[0] : span[1]]),
            [*self.encode(text[span[1] :]), *window[stop:].tolist()],
            document,
        )

    def edit(self, budget: int) -> Parts:
        """The rest of a hunk from one of its lines or words on."""
        edit: Edit = self._rng.choice(self.edits)
        start, stop, *places = self._rng.choice(edit.hunks)
        new, old = (self._pack.documents[number] for number in (edit.new, edit.old))
        tokens = self._pack.tokens
        hunk = tokens[new.start + start : new.start + stop]
        lines = [0, *(np.flatnonzero(self._ends_line[hunk][:-1]) + 1).tolist()]
        offset = self._rng.choice(lines)
        if self._rng.random() < 0.4:
            further = offset + self._rng.randrange(max(1, min(len(hunk) - offset, 12)))
            offset = offset if self._is_part_of_a_character(int(hunk[further])) else further
        cursor, below = new.start + start + offset, old.start + self._rng.choice(places)
        return Parts(
            tokens[max(new.start, cursor - budget) : cursor].tolist(),
            tokens[cursor : min(new.start + stop, cursor + budget)].tolist(),
            tokens[below : min(old.stop, below + budget)].tolist(),
            new,
        )

    def _is_part_of_a_character(self, token: int) -> bool:
        return self._pack.tokenizer.decode([token]).startswith("\N{REPLACEMENT CHARACTER}")

    def _other_files(self, document: Document, budget: int) -> list[int]:
        """The beginnings of other files of the folder, as prompts have them, then the path of *document*."""
        marker = self.markers.file
        if marker is None or budget < FILES_FROM or self._rng.random() >= FILES_RATE:
            return []
        others = [other for other in self._folders[_folder(document)] if other is not document]
        chosen = self._rng.sample(others, min(len(others), self._rng.randint(1, FILES_MAX)))
        if not chosen:
            return []
        front = list[int]()
        for other in chosen:
            room = budget // 4 // len(chosen)
            text = self._pack.tokens[other.start : min(other.stop, other.start + room)]
            front += [marker, *self.encode(other.path + "\n"), *text.tolist()]
        return [*front, marker, *self.encode(document.path + "\n")]


def _folder(document: Document) -> str:
    return document.path.rpartition("/")[0]


MIX = {"text": 0.15, "hole": 0.4, "bound": 0.1, "brackets": 0.1, "edit": 0.25}
"""The share of each kind of example."""

SUFFIX_RULES: dict[str, Callable[[str, Random], Span | None]] = {
    "bound": bound_below,
    "brackets": in_brackets,
}
