"""Random walks: what a model writes that knows pieces of Python and no grammar."""

from __future__ import annotations

import random
from collections.abc import Iterator

from fimlsp.quotient.states.grammar_state import GrammarState

from .laws import fed
from .vocabulary import GROUPS

_STEPS = 8
_TRIES = 6
_SHARE_OF_REFUSED = 0.3
_GROUPS = tuple(GROUPS.values())


def walk(start: GrammarState | None, middle: bytes, rng: random.Random) -> Iterator[bytes]:
    """Middles: a beginning of *middle*, then piece after piece, and some refused ones."""
    text = middle[: rng.randrange(len(middle) + 1)]
    state = fed(start, text)
    for _ in range(_STEPS if state is not None else 0):
        for _ in range(_TRIES):
            piece = _piece(rng)
            following = fed(state, piece)
            if following is not None or rng.random() < _SHARE_OF_REFUSED:
                yield text + piece
            if following is not None:
                text, state = text + piece, following
                break


def _piece(rng: random.Random) -> bytes:
    if rng.random() < 0.05:
        return bytes((rng.randrange(1, 256),))
    return rng.choice(rng.choice(_GROUPS))
