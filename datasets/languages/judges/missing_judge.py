"""The error that is raised where a language's judge is not installed."""

from __future__ import annotations

from fimlsp.errors import UserError


class JudgeMissingError(UserError, RuntimeError):
    """The judge is not installed; the message says how to install it."""
