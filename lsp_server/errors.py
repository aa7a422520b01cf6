"""Why there is nothing to suggest."""

from __future__ import annotations

from fimlsp.errors import UserError


class NoSuggestion(UserError):  # noqa: N818 - not an error, an answer
    """There is nothing to suggest; the message says why, for the status bar and the log."""
