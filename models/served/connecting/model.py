"""A model on a server, as it is passed to whoever loads models."""

from __future__ import annotations

from dataclasses import dataclass

from fimlsp.models.prompts.fim_format import FimFormat
from fimlsp.models.prompts.vocabulary import Vocabulary
from fimlsp.models.protocols import NextToken

CONTEXT_MAX = 8192
"""Tokens of context: longer prompts take a server that is shared too long to read."""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model on a server.

    Attributes:
        name: what the server calls it, for people.
        kind: what the server is, for instance `llama-server`.
        device: where it runs.
        network: predicts tokens, through the server.
        vocabulary: token ids and their bytes.
        fim: markers and order of the prompt.
        context: how many tokens prompt and middle may have together.
        is_exact: whether the server tells which bytes a token has.
        wants_buffer: whether the model is to be mixed with the buffer cache.
    """

    name: str
    kind: str
    device: str
    network: NextToken
    vocabulary: Vocabulary
    fim: FimFormat
    context: int
    is_exact: bool = True
    wants_buffer: bool = False
