"""A network to which all tokens are equally likely, with the vocabulary of a tiny checkpoint."""

from __future__ import annotations

import math

from fimlsp.models.prompts.vocabulary import read_vocabulary
from fimlsp.models.protocols import Candidates

from ..tiny_checkpoints import FIMLSP, byte_tokenizer

VOCABULARY = read_vocabulary(byte_tokenizer(FIMLSP), ())
UNSURE = Candidates(list(range(300)), [math.log(1 / 300)] * 300, math.log(1 / 300))


class Unsure:
    """A network to which all tokens are equally likely."""

    token_bytes = VOCABULARY.token_bytes
    stops = frozenset({0})

    def begin(self, _tokens, _written=()):
        return UNSURE

    def advance(self, _token):
        return UNSURE
