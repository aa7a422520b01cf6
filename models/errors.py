"""What can go wrong with a model, for the user to read."""

from __future__ import annotations

from fimlsp.errors import UserError


class ModelError(UserError):
    """A model cannot be used; the message is one sentence with the remedy."""


class OutOfMemoryError(ModelError):
    """A model that was loaded needs more memory for a request than its device has."""
