"""The kinds of values that options have: what is allowed, in words for users and as a JSON schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol


class Values(Protocol):
    """A kind of value."""

    @property
    def words(self) -> str:
        """What is allowed, to go on after "must be"."""

    @property
    def schema(self) -> Mapping[str, object]:
        """The same as a JSON schema."""

    def allows(self, value: object) -> bool:
        """Whether *value*, as JSON has it, is allowed."""


@dataclass(frozen=True, slots=True)
class Text:
    """Any text; *words* says which make sense."""

    words: str

    @property
    def schema(self) -> Mapping[str, object]:
        """See `Values`."""
        return {"type": "string"}

    def allows(self, value: object) -> bool:
        """See `Values`."""
        return isinstance(value, str)


@dataclass(frozen=True, slots=True)
class Pattern:
    """Texts that match all of *pattern*."""

    pattern: str
    words: str

    @property
    def schema(self) -> Mapping[str, object]:
        """See `Values`."""
        return {"type": "string", "pattern": f"^({self.pattern})$"}

    def allows(self, value: object) -> bool:
        """See `Values`."""
        return isinstance(value, str) and re.fullmatch(self.pattern, value) is not None


@dataclass(frozen=True, slots=True)
class OneOf:
    """A few texts."""

    texts: tuple[str, ...]

    @property
    def words(self) -> str:
        """See `Values`."""
        *others, last = (f'"{text}"' for text in self.texts)
        return f"{', '.join(others)} or {last}"

    @property
    def schema(self) -> Mapping[str, object]:
        """See `Values`."""
        return {"type": "string", "enum": list(self.texts)}

    def allows(self, value: object) -> bool:
        """See `Values`."""
        return isinstance(value, str) and value in self.texts


def one_of(*texts: str) -> OneOf:
    """One of *texts*, two or more."""
    return OneOf(texts)


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number, the bounds included."""

    low: int
    high: int

    @property
    def words(self) -> str:
        """See `Values`."""
        return f"{self.low} to {self.high}"

    @property
    def schema(self) -> Mapping[str, object]:
        """See `Values`."""
        return {"type": "integer", "minimum": self.low, "maximum": self.high}

    def allows(self, value: object) -> bool:
        """See `Values`."""
        return isinstance(value, int) and not isinstance(value, bool) and self.low <= value <= self.high


@dataclass(frozen=True, slots=True)
class Switch:
    """On or off."""

    words: str = "true or false"

    @property
    def schema(self) -> Mapping[str, object]:
        """See `Values`."""
        return {"type": "boolean"}

    def allows(self, value: object) -> bool:
        """See `Values`."""
        return isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Names:
    """A list of texts; *of* says of what."""

    of: str

    @property
    def words(self) -> str:
        """See `Values`."""
        return f"a list of {self.of}"

    @property
    def schema(self) -> Mapping[str, object]:
        """See `Values`."""
        return {"type": "array", "items": {"type": "string"}}

    def allows(self, value: object) -> bool:
        """See `Values`."""
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
