"""The base class of all errors that are written for users, and a sentence for all other errors."""

from __future__ import annotations

import logging


class UserError(Exception):
    """An operation failed. The message is written for the user, and names the remedy."""


def explain(error: BaseException, attempt: str, log: logging.Logger) -> str:
    """One sentence for the user about *error*, which ended an *attempt* such as "loading".

    A `UserError` has its own. Any other error is a fault of the program: it is logged with its traceback, and
    its text is shown in the log only.
    """
    if isinstance(error, UserError):
        return str(error).strip().partition("\n")[0]
    log.error("%s failed: %s", attempt, error, exc_info=error)
    return f"{attempt} failed unexpectedly ({type(error).__name__}); the log has the details"
