"""What users are told when something cannot be done: one sentence, with the remedy."""

from __future__ import annotations


class NoSuggestion(Exception):  # noqa: N818 - not an error, an answer
    """There is nothing to suggest; the message says why, for the status bar and the log."""


def summary(error: BaseException) -> str:
    """One line about *error* for users: our own errors are written for them, others also get their type."""
    text = str(error).strip().partition("\n")[0]
    if type(error).__module__.startswith("fimlsp.") and text:
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
