"""Cuts a middle back to what the model was sure of: what is shown while typing, where nobody asked for it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fimlsp.languages.python.suggested.brackets import swaps_brackets
from fimlsp.languages.python.suggested.builtin_names import BUILTIN_NAMES
from fimlsp.languages.python.suggested.faults import first_fault
from fimlsp.languages.python.suggested.idle_names import stops_idly
from fimlsp.languages.python.suggested.visible_names import first_unknown_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fimlsp.languages.python.names.preference import NamePreference
    from fimlsp.lsp_server.messages import Limits
    from fimlsp.models.decoding.acceptance import Acceptance
    from fimlsp.models.decoding.middle import Middle
    from fimlsp.quotient.states.protocol import State

NOT_SURE = "the model is not sure enough of anything here (option confidence)"


def what_is_sure(
    middle: Middle,
    left: bytes,
    right: bytes,
    start: State,
    acceptance: Acceptance,
    limits: Limits,
    *,
    is_python: bool,
    preference: NamePreference | None = None,
) -> Middle | None:
    """The beginning of *middle* that is most worth showing between *left* and *right*; None if none is.

    Of ten that are shown, 10 * `limits.confidence` are right by *acceptance*. What steering chose
    is never shown, nor, in Python, what is seen to be wrong, or has names that *preference* does not know
    unless the model is sure of them. *start* constrained the middle.
    """
    from fimlsp.models.decoding.beginnings import Surroundings, beginnings

    faults = [first_fault(left, middle.text, right)] if is_python else []
    if preference is not None:
        tokens = ((token.text, token.log_probability) for token in middle.trace)
        faults.append(preference.first_misfit(tokens))
    limit = min((each for each in faults if each is not None), default=None)
    found = [
        each
        for each in beginnings(middle, start, Surroundings(left, right, BUILTIN_NAMES))
        if (limit is None or len(each.text) <= limit)
        and len(each.text.strip()) >= limits.min_length
        and not (is_python and stops_idly(left, each.text, right, middle.text))
        and not (preference is not None and preference.is_left_uncalled(each.text))
    ]
    cost = acceptance.cost(limits.confidence)
    best = acceptance.best_sound(
        found, cost, lambda text: first_unknown_name(left, text, right) if is_python else None
    )
    return None if best is None else replace(middle, text=best.text, complete=True)


def as_limited(written: Sequence[Middle], limits: Limits, start: State) -> list[Middle]:
    """What of the middles *written* under *start* is in one line and stays in its bracket, if so wanted.

    Where only a text that leaves its bracket connects, the constraint allows that; here it is dropped.
    """
    kept = [first_line(middle, start) for middle in written] if limits.one_line == "always" else written
    return [middle for middle in kept if limits.context_escape or not swaps_brackets(middle.text)]


def first_line(middle: Middle, start: State) -> Middle:
    """*middle* up to the end of its first line that is not blank; it may be incomplete there."""
    end = middle.text.find(b"\n", len(middle.text) - len(middle.text.lstrip()))
    if end < 0:
        return middle
    state = start.feed(middle.text[:end])
    return replace(middle, text=middle.text[:end], complete=state is not None and state.complete)
