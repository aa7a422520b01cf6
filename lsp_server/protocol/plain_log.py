"""Logs to standard error: a line for a mistake of the client, a traceback for a fault of this program."""

from __future__ import annotations

import logging
from traceback import walk_tb
from types import TracebackType
from typing import TypeAlias

from cattrs import ClassValidationError, transform_error
from pygls.exceptions import JsonRpcException

ExceptionInfo: TypeAlias = (
    tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
)

_SECOND_REPORT = "Unable to deserialize message"


class PlainHandler(logging.StreamHandler):  # type: ignore[type-arg]  # generic for the type checker only
    """Writes records to standard error; of pygls' two reports on a bad message, one."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(PlainFormatter("%(asctime)s %(name)s: %(message)s"))
        self.addFilter(lambda record: not str(record.msg).startswith(_SECOND_REPORT))


class PlainFormatter(logging.Formatter):
    """The standard formatter, except for exceptions that say what is wrong with a message of the client."""

    def formatException(self, ei: ExceptionInfo) -> str:  # noqa: N802 - logging's name
        """What is wrong with a message, each problem on a line; a traceback where the fault may be ours."""
        error = ei[1]
        if isinstance(error, JsonRpcException):
            cause = error.__cause__
            found = transform_error(cause) if isinstance(cause, ClassValidationError) else [str(error)]
            return "\n".join(f"  {problem}" for problem in found)
        return super().formatException(ei) if error is None or _is_ours(error) else f"  {error}"


def _is_ours(error: BaseException) -> bool:
    """Whether code of this package had a part in *error*."""
    modules = (frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__))
    return any(module.startswith("fimlsp.") for module in modules)
