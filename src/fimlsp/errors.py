"""The base class of every error that is written for users, and the one way to tell users about any other."""

from __future__ import annotations

import logging


class UserError(Exception):
    """Something cannot be done; the message is one sentence for the user, with the remedy."""


def explain(error: BaseException, attempt: str, log: logging.Logger) -> str:
    """One sentence for the user about *error*, which ended an *attempt* such as "loading".

    A `UserError` explains itself. Anything else is a fault of the program: it is logged whole, with its
    traceback, and its text, which was not written for users, stays in the log.
    """
    if isinstance(error, UserError):
        return str(error).strip().partition("\n")[0]
    log.error("%s failed: %s", attempt, error, exc_info=error)
    return f"{attempt} failed unexpectedly ({type(error).__name__}); the log has the details"
