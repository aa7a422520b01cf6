"""One engine for all tests of middles, and CPython as the oracle."""

from __future__ import annotations

from functools import cache

from fimlsp.languages.python import python
from fimlsp.quotient.engine import Constraint, Document, Engine
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.quotient.states.shortest_completion import NoCompletionError
from fimlsp.testing.checking import COMPLETE, Fault, verdict

from .corpus import complaint

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@cache
def engine() -> Engine:
    """The engine of all tests, so that tables and lines are made once."""
    return Engine(python())


@cache
def is_python(data: bytes) -> bool:
    """True if CPython parses *data*, the bytes of a UTF-8 file."""
    try:
        return complaint(data.removeprefix(BYTE_ORDER_MARK).decode()) is None
    except UnicodeDecodeError:
        return False


def start_between(left: bytes, right: bytes) -> GrammarState | None:
    """The state before any byte between *left* and *right*, without leaving out any of them."""
    return cursor_in(engine().document(left + right), len(left))


def cursor_in(document: Document, start: int, end: int | None = None) -> GrammarState | None:
    """The state at a cursor, or for a replacement of `data[start:end]`, without relaxation."""
    return document.middle_at_bytes(start, start if end is None else end, relax=False).start


def fault(left: bytes, middle: bytes, right: bytes, state: GrammarState | None) -> Fault | None:
    """The first law that *state*, the state after *middle*, breaks; None if it breaks none.

    It must be complete exactly if CPython parses the whole text, and its completion must parse.
    """
    if verdict(state) == COMPLETE:
        return None if is_python(left + middle + right) else Fault("accepts", left, middle, right)
    if is_python(left + middle + right):
        return Fault("rejects", left, middle, right, verdict(state))
    return None if state is None else completion_fault(left, middle, right, state)


def completion_fault(left: bytes, middle: bytes, right: bytes, state: GrammarState) -> Fault | None:
    """The fault of the shortest completion of *state*; None if there is none."""
    try:
        rest = state.shortest_completion
    except NoCompletionError as error:
        return Fault("finds no completion", left, middle, right, str(error))
    if not is_python(left + middle + rest + right):
        return Fault("completes wrongly", left, middle, right, repr(rest))
    if verdict(state.feed(rest)) != COMPLETE:
        return Fault("does not accept its completion", left, middle, right, repr(rest))
    return None


def sides(constraint: Constraint, cursor: int) -> str | None:
    """On which side of *cursor* something had to be assumed: "left", "right", "both" or None."""
    found = {"left" if mend.end <= cursor else "right" for mend in constraint.relaxed}
    return "both" if len(found) > 1 else next(iter(found), None)
