"""Files written from empty, in the order in which people write: imports and headers first, bodies after.

At first each function has the body `pass`, which its real body then replaces. Keys come one by one. The
editor closes brackets and quotes as VS Code does. A closing bracket in a line of its own goes there at once.

| kind | pause |
|---|---|
| `type-word` | at the end of a name or keyword, or after the blank that follows |
| `type-open` | after an opened bracket |
| `type-end` | at the end of a line |
| `type-start` | at the start of a line, after its indentation |
"""

from __future__ import annotations

import ast
import re
import tokenize
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random

from fimlsp.datasets.languages.python import kinds_and_tokens
from fimlsp.datasets.languages.replay_language import NoTokensError, Span
from fimlsp.datasets.shown.cursors import EditedFile, read_files
from fimlsp.datasets.shown.writing.places import (
    Place,
    Project,
    Step,
    Writing,
    draw_places,
    first_line,
    indentation,
    newline_of,
)

PLACEHOLDER = "pass"
KINDS = ("type-word", "type-open", "type-end", "type-start")
_PARTNERS = {"(": ")", "[": "]", "{": "}"}
_QUOTE = re.compile(r"[A-Za-z]*(\"\"\"|'''|\"|')")
_ENTER = re.compile(r"\n+[ \t]*")


@dataclass(frozen=True, slots=True)
class Pair:
    """A bracket or quote that the editor closes: the end of the opening text, and the closing text."""

    opened: int
    close: Span


@dataclass(frozen=True, slots=True)
class Order:
    """The order in which *text* is written: *bodies* of functions come last. *pairs* close by themselves."""

    text: str
    bodies: Sequence[Span]
    pairs: Sequence[Pair]
    pauses: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, text: str) -> Order | None:
        """The order of *text*, which parses; None if `tokenize` does not read it."""
        try:
            tokens = kinds_and_tokens(text)
        except NoTokensError:
            return None
        return cls(text, _bodies(text), _pairs(text, tokens), _pauses(text, tokens))

    def presses(self) -> Iterator[tuple[int | None, str, str]]:
        """After each key: the offset in the finished text, and the texts left and right of the cursor.

        The offset is None where a body is left out.
        """
        edges = {edge for body in self.bodies for edge in body}
        for start, end in self._headers():
            for offset in self._offsets(start, end):
                reached = None if offset in edges else offset
                yield reached, self._outline(0, offset), self._closing(offset)
        for start, end in self.bodies:
            below = self._outline(end, len(self.text))
            for offset in self._offsets(start, end):
                yield offset, self.text[:offset], self._closing(offset) + below

    def _headers(self) -> Iterator[Span]:
        start = 0
        for body_start, body_end in self.bodies:
            yield start, body_start
            start = body_end
        yield start, len(self.text)

    def _offsets(self, start: int, end: int) -> Iterator[int]:
        """The offsets after each key; Enter also indents."""
        offset = start
        yield offset
        while offset < end:
            enter = _ENTER.match(self.text, offset, end)
            offset = offset + 1 if enter is None else enter.end()
            yield offset

    def _outline(self, start: int, end: int) -> str:
        """The text from *start* to *end* with the placeholder for each body that starts there."""
        parts, at = list[str](), start
        for body_start, body_end in self.bodies:
            if start <= body_start < end:
                parts += [self.text[at:body_start], PLACEHOLDER]
                at = body_end
        return "".join([*parts, self.text[at:end]])

    def _closing(self, offset: int) -> str:
        """The text that the editor has inserted after the cursor at *offset*."""
        return "".join(
            self._line_before(pair, offset) + self.text[slice(*pair.close)]
            for pair in reversed(self.pairs)
            if pair.opened <= offset <= pair.close[0]
        )

    def _line_before(self, pair: Pair, offset: int) -> str:
        """The line end and indentation before a closing text that has a line of its own."""
        line_start = self.text.rfind("\n", 0, pair.close[0])
        blank = self.text[line_start : pair.close[0]]
        has_line = pair.opened < offset <= line_start and not blank.strip()
        return blank if has_line and self.text[pair.opened] == "\n" else ""

    def truth(self, offset: int) -> str:
        """The text that is written from *offset* on, to the end of the body if it is in one.

        Outside of bodies, these have the placeholder.
        """
        ends = [end for start, end in self.bodies if start <= offset <= end]
        return self.text[offset : ends[0]] if ends else self._outline(offset, len(self.text))

    def stop(self, offset: int) -> int:
        """The number of characters to write at *offset* up to the end of the line or the closing text."""
        closings = [pair.close[0] - offset for pair in self.pairs if pair.opened <= offset <= pair.close[0]]
        return min([first_line(self.truth(offset)), *closings])


def _bodies(text: str) -> list[Span]:
    """The bodies of the outermost functions that start below the header, from their first character."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(text)
    lines = text.split("\n")
    bodies, waiting = list[Span](), list[ast.AST]([tree])
    while waiting:
        node = waiting.pop(0)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            waiting += ast.iter_child_nodes(node)
            continue
        first = node.body[0]
        decorators = getattr(first, "decorator_list", [])
        row = min([first.lineno, *(decorator.lineno for decorator in decorators)]) - 1
        before = "\n".join(lines[:row])
        last = (node.body[-1].end_lineno or row + 1) - 1
        if not before.rstrip().endswith(":") or not lines[row][: first.col_offset].isspace():
            continue
        start = len(before) + 1 + indentation(lines[row])
        bodies.append((start, len("\n".join(lines[: last + 1]))))
    return sorted(bodies)


def _pairs(text: str, tokens: Sequence[tuple[int, Span]]) -> list[Pair]:
    pairs, opened = list[Pair](), list[int]()
    for kind, (start, end) in tokens:
        if kind == tokenize.STRING:
            quote = _QUOTE.match(text, start)
            if quote is not None:
                pairs.append(Pair(quote.end(), (end - len(quote[1]), end)))
        elif kind == tokenize.OP and text[start:end] in _PARTNERS:
            opened.append(end)
        elif kind == tokenize.OP and text[start:end] in _PARTNERS.values() and opened:
            pairs.append(Pair(opened.pop(), (start, end)))
    return sorted(pairs, key=lambda pair: pair.opened)


def _pauses(text: str, tokens: Sequence[tuple[int, Span]]) -> dict[str, list[int]]:
    """The offsets of pauses by kind. In comments and strings there are none."""
    spans = [span for kind, span in tokens if kind in (tokenize.NAME, tokenize.NUMBER, tokenize.OP)]
    names = [end for kind, (_, end) in tokens if kind == tokenize.NAME]
    starts = [start for start, _ in spans if not text[text.rfind("\n", 0, start) + 1 : start].strip()]
    return {
        "type-word": sorted({*names, *(end + 1 for end in names if text[end : end + 1] == " ")}),
        "type-open": [end for start, end in spans if text[start:end] in _PARTNERS],
        "type-end": [end for _, end in spans if text[end : end + 1] == "\n"],
        "type-start": starts,
    }


def draw_typing(folder: Path, root: Path, n: int, seed: int) -> Project:
    """About *n* pauses in the files of *folder*, which are written into the empty folder *root*.

    Raises:
        SourceError: *folder* does not exist.
    """
    files = [(edited, order) for edited in read_files([folder]) if (order := Order.of(edited.file.content))]
    weights = [edited.file.text.count("\n") for edited, _ in files]

    def draw(_: int, kind: str, random: Random) -> tuple[EditedFile, Place] | None:
        edited, order = random.choices(files, weights)[0]
        offsets = order.pauses[kind]
        if not offsets:
            return None
        file = edited.file
        return edited, place_in(kind, file.name, file.hash, order, random.choice(offsets))

    drawn = draw_places(n if files else 0, seed, KINDS, draw)
    writings = list[Writing]()
    for edited, order in files:
        path = root / edited.path.relative_to(folder.resolve())
        places = tuple(place for owner, place in drawn if owner is edited)
        steps = partial(steps_of, order, places)
        writings.append(Writing(path, places, steps, newline_of(edited.file.hash, seed)))
    return Project(root, writings, keeps_open=True)


def place_in(kind: str, name: str, source: str, order: Order, offset: int) -> Place:
    """The place of *kind* at *offset* of a text with the name *name* and the hash *source*."""
    text = order.text
    line = text[text.rfind("\n", 0, offset) + 1 :].partition("\n")[0]
    row = text.count("\n", 0, offset) + 1
    truth, stop = order.truth(offset), order.stop(offset)
    return Place(kind, f"{name}:{row}", source, offset, truth, stop, indentation(line))


def steps_of(order: Order, places: Sequence[Place]) -> Iterator[Step]:
    """The steps from the empty document on, with requests at *places*."""
    by_offset = dict[int, list[Place]]()
    for place in places:
        by_offset.setdefault(place.at, []).append(place)
    yield Step("", "")
    for offset, left, right in order.presses():
        yield Step(left, right)
        for place in [] if offset is None else by_offset.get(offset, []):
            yield Step(left, right, place, waits=True)
