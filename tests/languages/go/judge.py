"""`go/parser` as the judge, in a program of its own."""

from __future__ import annotations

from fimlsp.datasets.languages.go import refusal


def is_go(text: bytes) -> bool | None:
    """True if `go/parser` accepts *text*; None if its only objection is the number in a line directive."""
    told = refusal(text)
    if told is None:
        return True
    return None if told.startswith(("invalid line number", "invalid column number")) else False
