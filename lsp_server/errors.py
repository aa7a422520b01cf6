"""What users are told when something cannot be done: one sentence, with the remedy."""

from __future__ import annotations


class NoSuggestion(Exception):  # noqa: N818 - not an error, an answer
    """There is nothing to suggest; the message says why, for the status bar and the log."""


def is_for_users(error: BaseException) -> bool:
    """Whether *error* is one of this project's own, written to be read by users."""
    return type(error).__module__.startswith("fimlsp.")


def summary(error: BaseException) -> str:
    """One line about *error*; one that was not written for users also gets its type."""
    text = str(error).strip().partition("\n")[0]
    if is_for_users(error):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
