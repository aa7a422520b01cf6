"""Remembers completions for when the same text comes again: after an undo, a backspace, a detour.

The key is a hash of all text on each side, together with the settings that matter, so what is found is right
as long as the model is the same.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import NamedTuple

from fimlsp.lsp_server.messages import Completion, Limits
from fimlsp.quotient.language.contract import Language


class Key(NamedTuple):
    """A question: the hashes of the text on each side of the cursor, the grammar, and the limits."""

    left: int
    right: int
    grammar: Language
    limits: Limits

    def answers(self, other: Key) -> bool:
        """Whether what is shown for this question may stay where *other* is asked: under the same settings.

        This one may have been asked for more texts, and for less sure or shorter ones, as by hand.
        """
        limits, wanted = self.limits, other.limits
        if self.grammar != other.grammar:
            return False
        same = replace(
            limits,
            candidates=wanted.candidates,
            confidence=wanted.confidence,
            min_length=wanted.min_length,
        )
        return (
            same == wanted
            and limits.candidates >= wanted.candidates
            and limits.confidence <= wanted.confidence
            and limits.min_length <= wanted.min_length
        )


class CompletionCache:
    """At most *size* completions; the one that was not asked for longest is dropped first."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[Key, Completion] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def resize(self, size: int) -> None:
        """Keep at most *size* from now on."""
        self._size = size
        self._shrink()

    def find(self, key: Key) -> Completion | None:
        """What was made for *key*, if it is still here."""
        completion = self._kept.get(key)
        if completion is not None:
            self._kept.move_to_end(key)
        return completion

    def keep(self, key: Key, completion: Completion) -> None:
        """Remember *completion*, if the same question would get the same answer."""
        if completion.final:
            self._kept[key] = completion
            self._kept.move_to_end(key)
            self._shrink()

    def clear(self) -> None:
        """Forget all, as after a change of the model."""
        self._kept.clear()

    def _shrink(self) -> None:
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)
