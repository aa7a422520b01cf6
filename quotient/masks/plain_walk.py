"""The mask of any state, by feeding it every token: what all quicker ways have to agree with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fimlsp.lexing.interruption import EVERY, checkpoint
from fimlsp.quotient.masks.vocabulary import Vocabulary

S = TypeVar("S")
Truths = NDArray[np.bool_]


def allowed_by_feeding(vocabulary: Vocabulary, start: S, feed: Callable[[S, bytes], S | None]) -> Truths:
    """For each text of *vocabulary*, and one that no token has, whether *feed* gives a state after it.

    Texts are sorted, so what a text shares with the one before it is fed once. O(bytes of the vocabulary).
    """
    texts = vocabulary.texts
    allowed = np.zeros(len(texts) + 1, np.bool_)
    path: list[tuple[int, S | None]] = [(0, start)]  # states after beginnings of the text before
    previous = b""
    for number, text in enumerate(texts):
        if not number % EVERY:
            checkpoint()
        shared = _shared(previous, text)
        while path[-1][0] > shared:
            path.pop()
        length, state = path[-1]
        if state is not None and length < shared < len(text):
            state = feed(state, text[length:shared])
            path.append((shared, state))
            length = shared
        if state is not None:
            state = feed(state, text[length:])
            if state is None:
                length = _least_refused(path[-1], text, feed)
                path.append((length, None))
            else:
                path.append((len(text), state))
                allowed[number] = True
        previous = text
    return allowed


def asked_again(
    vocabulary: Vocabulary, allowed: Truths | None, numbers: Iterable[int], feeds: Callable[[bytes], bool]
) -> Truths:
    """*allowed*, or nothing if that is None, with the texts of these *numbers* judged by *feeds*."""
    texts = vocabulary.texts
    found = np.zeros(len(texts) + 1, np.bool_) if allowed is None else allowed.copy()
    for count, number in enumerate(numbers):
        if not count % EVERY:
            checkpoint()
        found[number] = feeds(texts[number])
    return found


def _least_refused(before: tuple[int, S | None], text: bytes, feed: Callable[[S, bytes], S | None]) -> int:
    """The length of the shortest beginning of *text* that is refused; the one *before* is not."""
    length, state = before
    while state is not None:
        state = feed(state, text[length : length + 1])
        length += 1
    return length


def _shared(one: bytes, other: bytes) -> int:
    """How many bytes two texts begin with in common."""
    most = min(len(one), len(other))
    return next((at for at in range(most) if one[at] != other[at]), most)
