"""The parsers of TypeScript and of acorn as judges, in a program of their own.

A disagreement is open where the two levels of a parser disagree, or where `await`, `let` or `yield` may be at
fault. The grammar does not know all functions around them, nor scripts, where they are names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, product

from fimlsp.datasets.languages.typescript import refusal

_GAP = rb"(?:\s|\xc2\xa0|/\*(?:[^*]|\*(?!/))*\*/|//[^\r\n]*)*"

_BY_FUNCTION = re.compile(rb"\bawait\b|\byield\b(?:%b\*(?!/))?" % _GAP)
"""Words whose meaning depends on the function around them."""

_LIKE = {b"await": (b"void", b"a"), b"yield": (b"void", b"a", b"a,", b"a=")}
"""Texts that stand for these words: an operator, a name, an operand with the next one, and an assignment."""

_ALONE = re.compile(rb"\byield(?=%b(?:[)\]},;:]|\Z))" % _GAP)
"""A `yield` that can only be a name, or an operator without an operand."""

_MOST_COMBINED = 4

Judge = Callable[[bytes], bool]


def accepts(parser: str) -> Judge:
    """True for the texts that *parser* accepts."""

    def judge(text: bytes) -> bool:
        return refusal(parser, text) is None

    return judge


def leaves_open(parser: str, stricter: Sequence[str], suspending: str) -> Judge:
    """True for a text of a disagreement that is open.

    One that *parser* accepts is if a parser of *stricter* refuses it. One that it refuses is if *suspending*
    accepts it, or *parser* with other words in place of `await` and `yield`.
    """

    def is_open(text: bytes) -> bool:
        if refusal(parser, text) is None:
            return any(refusal(other, text) is not None for other in stricter)
        is_about_words = _BY_FUNCTION.search(text) is not None
        if is_about_words and refusal(suspending, text) is None:
            return True
        return any(refusal(parser, other) is None for other in _without_words(text))

    return is_open


def _without_words(text: bytes) -> Iterator[bytes]:
    """*text* with others in place of `await` and `yield`; none if it has neither.

    Few of them get each combination, more of them the same in each place.
    """
    if not _BY_FUNCTION.search(text):
        return
    text = _ALONE.sub(b"a", text)
    between, words = _BY_FUNCTION.split(text), [found[:5] for found in _BY_FUNCTION.findall(text)]
    if len(words) <= _MOST_COMBINED:
        ways = product(*(_LIKE[word] for word in words))
    else:
        ways = (
            tuple(dict(zip(_LIKE, chosen, strict=True))[word] for word in words)
            for chosen in product(*_LIKE.values())
        )
    for way in ways:
        yield b"".join(chain.from_iterable(zip(between, (*way, b""), strict=True)))
