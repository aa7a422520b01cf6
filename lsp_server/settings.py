"""The server's options: what a client may send, what it means, and what is used when it sends nothing.

A client gives an object with any of the names in `OPTIONS`, as `initializationOptions` and as section
`fimlsp` of `workspace/configuration`; the latter wins. Whatever cannot be used is reported and
leaves the option as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

SECTION = "fimlsp"


@dataclass(frozen=True, slots=True)
class Settings:
    """Resolved options; the defaults stand here and nowhere else."""

    model: str | None = None
    max_tokens: int = 64
    deadline_ms: int = 2000
    one_line: str = "auto"
    automatic: bool = True


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its *name* on the wire, the *field* of `Settings`, the *values* allowed, its *meaning*."""

    name: str
    field: str
    values: str
    meaning: str
    allows: Callable[[object], bool]


def _is_whole(low: int, high: int) -> Callable[[object], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


OPTIONS = (
    Option(
        "model",
        "model",
        "a folder or a hub name",
        "The fill-in-the-middle model that writes the completions; without it, the bundled one.",
        lambda value: isinstance(value, str),
    ),
    Option(
        "maxTokens",
        "max_tokens",
        "1 to 1024",
        "The most tokens one completion may have; it always ends where it connects to the text that follows.",
        _is_whole(1, 1024),
    ),
    Option(
        "deadlineMs",
        "deadline_ms",
        "50 to 60000",
        "Milliseconds of decoding after which the best connecting text so far is given.",
        _is_whole(50, 60_000),
    ),
    Option(
        "oneLine",
        "one_line",
        '"auto", "always" or "never"',
        "Whether a completion ends with its line; auto: unless the cursor's line is blank.",
        lambda value: value in ("auto", "always", "never"),
    ),
    Option(
        "automatic",
        "automatic",
        "true or false",
        "Whether to complete while typing; when false only a suggestion asked for by hand is made.",
        lambda value: isinstance(value, bool),
    ),
)


def resolve(raw: object, base: Settings) -> tuple[Settings, list[str]]:
    """*base* with the options of *raw*, and one sentence for each value that cannot be used.

    *raw* is what the client sent, of any shape. null and the empty string mean "not set", as editors
    send them for settings the user left alone; other names are the editor's own business.
    """
    if raw is None:
        return base, []
    if not isinstance(raw, Mapping):
        return base, [f"The settings must be an object, not {raw!r}; they are ignored."]
    given = [(option, raw[option.name]) for option in OPTIONS if raw.get(option.name) not in (None, "")]
    chosen = {option.field: value for option, value in given if option.allows(value)}
    problems = [
        f"{option.name} must be {option.values}, not {value!r}; it is ignored."
        for option, value in given
        if not option.allows(value)
    ]
    return replace(base, **chosen), problems


def unknown_names(raw: object) -> list[str]:
    """One sentence for each name in *raw* that is no option, for settings meant for this server alone."""
    if not isinstance(raw, Mapping):
        return []
    known = [option.name for option in OPTIONS]
    return [
        f"There is no option {name!r}; there are {', '.join(known)}." for name in raw if name not in known
    ]
