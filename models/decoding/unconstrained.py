"""A constraint that allows every text, for measuring a model alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fimlsp.quotient.masks.plain_walk import Truths
    from fimlsp.quotient.masks.vocabulary import Vocabulary, Words


class Unconstrained:
    """A `fimlsp.quotient.states.protocol.State` in which every middle is complete."""

    complete = True
    shortest_completion = b""

    def feed(self, data: bytes) -> Unconstrained:  # noqa: ARG002 - every text is allowed
        """The same state."""
        return self

    def mask(self, vocabulary: Vocabulary) -> Words:
        """The mask of all tokens that have a text, and of stops."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=True)

    def allowed_texts(self, vocabulary: Vocabulary) -> Truths:
        """All."""
        allowed = np.ones(len(vocabulary.texts) + 1, np.bool_)
        allowed[-1] = False
        return allowed
