"""Errors of models that users can act on."""

from __future__ import annotations

from fimlsp.errors import UserError
from fimlsp.extras import install_command, missing_modules

OUT_OF_MEMORY_TEXTS = ("out of memory", "can't allocate memory")


class ModelError(UserError):
    """A model cannot be used; the message gives the reason and the remedy."""


class MissingExtraError(ModelError):
    """A model needs packages that are not installed: those of *extra* (see `fimlsp.extras`)."""

    def __init__(self, extra: str, need: str) -> None:
        super().__init__(f"{need}. Install what is missing with: {install_command(extra)}")
        self.extra = extra


def require(extra: str, need: str) -> None:
    """Raise `MissingExtraError` unless *extra* is installed; its message starts with *need*."""
    if missing_modules(extra):
        raise MissingExtraError(extra, need)


class OutOfMemoryError(ModelError):
    """A loaded model needs more memory for a request than its device has."""


def is_out_of_memory(error: BaseException) -> bool:
    """True if *error* means that memory ran out.

    Torch has a class for this on CUDA only. It is recognised by name, as torch is not imported here. On other
    devices torch raises a plain RuntimeError, which is recognised by its text.
    """
    if isinstance(error, MemoryError) or any(
        base.__name__ == "OutOfMemoryError" for base in type(error).__mro__
    ):
        return True
    return isinstance(error, RuntimeError) and any(text in str(error) for text in OUT_OF_MEMORY_TEXTS)


def is_panic(error: BaseException) -> bool:
    """True if *error* is a panic inside a library written in Rust, which stays usable after it.

    The class of panics does not derive from Exception and cannot be imported, so it is recognised by name.
    """
    return type(error).__name__ == "PanicException"
