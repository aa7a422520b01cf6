"""Differences from the parsers of TypeScript and JavaScript that are known and explained.

A disagreement is explained by its shortest form: the text without all that it does not need. So the patterns
of `known.json` are narrow.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fimlsp.datasets.languages.typescript import refusal
from fimlsp.testing.checking import Fault, Judged

_FILE = Path(__file__).with_name("known.json")
_PIECE = re.compile(
    rb"//[^\n\r]*|/\*(?:[^*]|\*(?!/))*\*/|\xc2\xa0|\xe2\x80.|[\w$\x80-\xff]+?(?=[^\w$\x80-\xff]|\xc2\xa0|\Z)|.",
    re.DOTALL,
)
_ELEMENT = re.compile(rb"[^,;]*[,;]|[^,;]+")
_WORD = re.compile(rb"[\w$]+")
_SPACES = {
    **dict.fromkeys((b"\t", b"\f", b"\v", b"\xc2\xa0", b"\n"), (b" ",)),
    **dict.fromkeys((b"\r", b"\xe2\x80\xa8", b"\xe2\x80\xa9"), (b" ", b"\n")),
}
_NAMES_OF_TAGS = re.compile(r"corresponding (?:JSX )?closing tag|closing JSX tag|closing tag for")
_MOST_LEFT_OUT = 12
_CLOSING = {b"(": b")", b"[": b"]", b"{": b"}", b"<": b">"}


@dataclass(frozen=True, slots=True)
class Known:
    """A difference in some of the `languages`: texts that only the engine `accepts`, or only the parser.

    It explains a disagreement if the whole of its shortest form matches `source`, and the parser's error
    `message`. Both are regular expressions. Without a `source` it is a difference that the judges leave open.
    """

    name: str
    languages: tuple[str, ...]
    accepts: bool
    example: str
    source: str = ""
    message: str = ""

    def still_differs(self, of: Judged) -> bool:
        """True if the parser of one of the languages and the engine disagree on the example as described."""
        text = self.example.encode()
        told = refusal(of.language.name.lower(), text)
        if (told is not None) != self.accepts or _is_complete(of, text) != self.accepts:
            return False
        return not self.source or self.explains(of, text)

    def explains(self, of: Judged, text: bytes) -> bool:
        """True if *text* disagrees, and only as described."""
        accepts, shortest = _shortest(of, text)
        if accepts is not self.accepts or of.language.name not in self.languages or not self.source:
            return False
        told = refusal(of.language.name.lower(), shortest)
        is_matching = re.search(self.message, told.error if told else "") is not None
        return is_matching and re.fullmatch(self.source.encode("latin-1"), shortest, re.DOTALL) is not None


@cache
def known_differences() -> tuple[Known, ...]:
    """All of them, in the order of docs/typescript.md."""
    entries = json.loads(_FILE.read_text("utf-8"))
    return tuple(Known(**{**entry, "languages": tuple(entry["languages"])}) for entry in entries)


def explained(of: Judged, faults: Sequence[Fault]) -> tuple[Counter[str], list[Fault]]:
    """How many of *faults* each known difference explains, by its name; the faults that none explains.

    A place in a text that the judges leave open is no fault. A completion is found with one wrong name of a
    tag, but hardly with two, so these are counted by themselves.
    """
    names, unexplained = Counter[str](), list[Fault]()
    for fault in faults:
        text = fault.left + fault.middle + fault.rest + fault.right
        found = next((known.name for known in known_differences() if known.explains(of, text)), None)
        if found is None and _is_open(of, text):
            names["a text that the judges leave open"] += 1
        elif found is None and _is_about_tags(of, fault, text):
            names["a dead end: more than one name of a tag would have to change"] += 1
        elif found is None:
            unexplained.append(fault)
        else:
            names[found] += 1
    return names, unexplained


def _is_complete(of: Judged, text: bytes) -> bool:
    start = of.start_between(b"", b"")
    state = start and start.feed(text)
    return state is not None and state.complete


def _is_about_tags(of: Judged, fault: Fault, text: bytes) -> bool:
    """True if no completion was found because of names of tags, which engine and parser refuse alike."""
    told = refusal(of.language.name.lower(), text) if fault.complaint == "dead end" else None
    return told is not None and _NAMES_OF_TAGS.search(told.error) is not None


def _is_open(of: Judged, text: bytes) -> bool:
    """True if the engine and the parser disagree on *text* in a way that the judges leave open."""
    is_left_open = of.leaves_open is not None and of.leaves_open(text)
    return is_left_open and of.accepts(text) is not _is_complete(of, text)


@cache
def _disagreement(of: Judged, text: bytes) -> bool | None:
    """The engine's verdict on *text* if the reference parser has another one."""
    accepted = of.accepts(text)
    is_complete = _is_complete(of, text)
    if accepted is None or accepted is is_complete:
        return None
    is_open = of.leaves_open is not None and of.leaves_open(text)
    return None if is_open else is_complete


@cache
def _shortest(of: Judged, text: bytes) -> tuple[bool | None, bytes]:
    """The engine's verdict if it is wrong, and the shortest text found that disagrees in the same way."""
    wrong = _disagreement(of, text)
    if wrong is None:
        return None, text
    text = b"".join(_without_needless(of, _ELEMENT.findall(text), wrong=wrong))
    pieces, before = _PIECE.findall(text), -1
    while len(pieces) != before:
        before = len(pieces)
        while (smaller := _without_group(of, pieces, wrong=wrong)) is not None:
            pieces = smaller
        pieces = _without_needless(of, pieces, wrong=wrong)
    while (simpler := _simpler(of, pieces, wrong=wrong)) is not None:
        pieces = simpler
    return wrong, b"".join(pieces)


def _without_group(of: Judged, pieces: list[bytes], *, wrong: bool) -> list[bytes] | None:
    """The contents of a pair of brackets alone, or all but them, if the disagreement needs no more."""
    opened, pairs = list[int](), list[tuple[int, int]]()
    for place, piece in enumerate(pieces):
        if piece in _CLOSING:
            opened.append(place)
        elif opened and piece == _CLOSING[pieces[opened[-1]]]:
            pairs.append((opened.pop(), place))
    for start, end in sorted(pairs, key=lambda pair: pair[0] - pair[1]):
        for rest in (
            pieces[start + 1 : end],
            [*pieces[:start], *pieces[end + 1 :]],
            [*pieces[: start + 1], *pieces[end:]],
        ):
            if len(rest) < len(pieces) and _disagreement(of, b"".join(rest)) is wrong:
                return rest
    return None


def _without_needless(of: Judged, pieces: list[bytes], *, wrong: bool) -> list[bytes]:
    """*pieces* without stretches that the disagreement does not need, the longest first."""
    size = len(pieces) // 2
    while size:
        for start in range(len(pieces) - size, -1, -size):
            rest = [*pieces[:start], *pieces[start + size :]]
            if _disagreement(of, b"".join(rest)) is wrong:
                pieces = rest
        size //= 2
    return pieces


def _simpler(of: Judged, pieces: Sequence[bytes], *, wrong: bool) -> list[bytes] | None:
    return next((other for other in _changed(pieces) if _disagreement(of, b"".join(other)) is wrong), None)


def _changed(pieces: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Texts that are simpler than that of *pieces* in one place."""
    for size in range(1, _MOST_LEFT_OUT):
        for place in range(len(pieces) - size + 1):
            yield [*pieces[:place], *pieces[place + size :]]
    for place, piece in enumerate(pieces):
        before, after = list(pieces[:place]), list(pieces[place + 1 :])
        if piece in _CLOSING:
            for end, other in enumerate(after):
                if other == _CLOSING[piece]:
                    yield before + after[:end] + after[end + 1 :]
                    yield before + after[end + 1 :]
        if _WORD.fullmatch(piece) and piece != b"a":
            yield [*before, b"a", *after]
        for space in _SPACES.get(piece, ()):
            yield [*before, space, *after]
        if piece.startswith((b"//", b"/*")):
            yield [*before, b" ", *after]
            yield [*before, b"\n", *after]
