"""The engine of each language that replay can run."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fimlsp.quotient.engine import Engine

ENGINES: Mapping[str, Callable[[], Engine]] = {"python": Engine}


class NoEngineError(Exception):
    """The engine does not know a language; the message is a sentence for the user."""


def check_engine(language: str) -> None:
    """Raise NoEngineError if the engine has no grammar of the *language*."""
    if language not in ENGINES:
        raise NoEngineError(f"The engine has no grammar of {language}, so its files can only be cut.")
