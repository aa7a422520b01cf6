"""Errors of models that a user can do something about."""

from __future__ import annotations

from fimlsp.errors import UserError
from fimlsp.extras import install_command, missing_modules

OUT_OF_MEMORY_TEXTS = ("out of memory", "can't allocate memory")


class ModelError(UserError):
    """A model cannot be used; the message is one sentence with the remedy."""


class MissingExtraError(ModelError):
    """A model needs packages that are not installed: those of *extra* (see `fimlsp.extras`)."""

    def __init__(self, extra: str, need: str) -> None:
        super().__init__(f"{need}; install what is missing with: {install_command(extra)}")
        self.extra = extra


def require(extra: str, need: str) -> None:
    """Raise `MissingExtraError` unless *extra* is installed; *need* begins its message."""
    if missing_modules(extra):
        raise MissingExtraError(extra, need)


class OutOfMemoryError(ModelError):
    """A model that was loaded needs more memory for a request than its device has."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether *error* says that memory ran out.

    Torch has a class for this on CUDA only, which is looked up by name, as torch may not be imported here.
    Elsewhere it raises a plain RuntimeError and says so in its text.
    """
    if isinstance(error, MemoryError) or any(
        each.__name__ == "OutOfMemoryError" for each in type(error).__mro__
    ):
        return True
    return isinstance(error, RuntimeError) and any(text in str(error) for text in OUT_OF_MEMORY_TEXTS)


def is_panic(error: BaseException) -> bool:
    """Whether *error* is a panic inside a library written in Rust.

    Its class is no Exception and cannot be imported, so it is known by its name. Such a library can still be
    used afterwards.
    """
    return type(error).__name__ == "PanicException"
