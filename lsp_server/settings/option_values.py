"""What values an option may have: a JSON schema, and the same in words for users."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Values:
    """The values that *schema* allows; *words* says so, to go on after "must be"."""

    words: str
    schema: Mapping[str, object]

    def allows(self, value: object) -> bool:
        """Whether *value*, as JSON has it, is allowed."""
        import jsonschema  # takes 0.1 s, which `fimlsp --help` need not wait for

        is_valid: bool = jsonschema.Draft202012Validator(self.schema).is_valid(value)
        return is_valid


def text(words: str) -> Values:
    """Any text; *words* says which texts make sense."""
    return Values(words, {"type": "string"})


def pattern(regex: str, words: str) -> Values:
    """Texts that *regex* matches as a whole."""
    return Values(words, {"type": "string", "pattern": f"^({regex})$"})


def one_of(*texts: str) -> Values:
    """One of *texts*, two or more."""
    *others, last = (f'"{text}"' for text in texts)
    return Values(f"{', '.join(others)} or {last}", {"type": "string", "enum": list(texts)})


def whole(low: int, high: int) -> Values:
    """A whole number, the bounds included."""
    return Values(f"{low} to {high}", {"type": "integer", "minimum": low, "maximum": high})


def share() -> Values:
    """A number from 0 to 1, the bounds included."""
    return Values("0.0 to 1.0", {"type": "number", "minimum": 0, "maximum": 1})


def switch() -> Values:
    """On or off."""
    return Values("true or false", {"type": "boolean"})


def named_files(of: str, most: int) -> Values:
    """An object that maps names to files; *of* says what names these are."""
    words = f"an object that maps {of} to files, at most {most:,}"
    schema = {"type": "object", "maxProperties": most, "additionalProperties": {"type": "string"}}
    return Values(words, schema)


def names(of: str, most: int) -> Values:
    """A list of at most so many texts; *of* says what they name."""
    words = f"a list of {of}, at most {most:,}"
    return Values(words, {"type": "array", "maxItems": most, "items": {"type": "string"}})
