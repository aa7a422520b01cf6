"""Names that a suggestion uses and nothing defines, as pyflakes sees them."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator

from pyflakes.checker import Checker
from pyflakes.messages import UndefinedLocal, UndefinedName


def undefined_names(left: str, text: str, right: str) -> frozenset[str]:
    """The undefined names that stand in *text* between *left* and *right*; none if the file does not parse.

    A name that the file misses elsewhere, such as one that the cut-out code would define, is not counted.
    """
    begin, end = _position(left), _position(left + text)
    found = _messages(left + text + right)
    return frozenset(name for place, name in found if begin <= place < end)


def _position(text: str) -> tuple[int, int]:
    """Line, from 1, and column in bytes behind *text*."""
    return text.count("\n") + 1, len(text[text.rfind("\n") + 1 :].encode())


def _messages(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        messages = Checker(tree).messages
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for message in messages:
        if isinstance(message, UndefinedName | UndefinedLocal):
            yield (message.lineno, message.col), str(message.message_args[0])
