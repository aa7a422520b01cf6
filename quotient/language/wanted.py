"""What the code around the cursor wants to stand there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Wanted(Protocol):
    """What is wanted behind a place left of the cursor, `back` bytes before it, or at the cursor itself."""

    @property
    def back(self) -> int:
        """How many bytes before the cursor the place is."""

    def after(self, text: bytes) -> Mapping[bytes, float]:
        """What is wanted behind *text*, which stands behind the place: texts with their probabilities.

        What else may follow has the rest of it.
        """
