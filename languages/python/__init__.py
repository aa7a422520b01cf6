"""Python 3.8 to 3.13."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fimlsp.languages.python.language import Python, python

__all__ = ["Python", "python"]


def __getattr__(name: str) -> object:
    """Import the language when it is first asked for; its versions alone need no grammar."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from fimlsp.languages.python import language

    return getattr(language, name)
