"""The mask in the loop: where refusals pile up, it tells which candidates are worth asking about."""

from __future__ import annotations

from collections.abc import Iterator

from fimlsp.models.protocols import Maskable, NextToken
from fimlsp.quotient.states.checked_state import CheckedState
from fimlsp.quotient.states.protocol import State

LINE_END = b"\n"


def filter_by_mask(
    candidates: Iterator[tuple[int, float]], model: NextToken, state: State, may_cut_lines: bool
) -> Iterator[tuple[int, float]]:
    """Those of *candidates* that may come after *state*, and the stop tokens; all of them without masks.

    If the loop *may_cut_lines*, those with a line end stay, as a part of them may do. Where a check of whole
    texts comes on top, the mask is that of the grammar alone: to ask the check about every token would cost
    more than it spares.
    """
    if not isinstance(model, Maskable):
        yield from candidates
        return
    vocabulary = model.mask_vocabulary
    grammar = state.state if isinstance(state, CheckedState) else state
    may_come = vocabulary.tokens(grammar.allowed_texts(vocabulary), complete=True)
    texts, n = model.token_bytes, len(vocabulary)
    for token, log_probability in candidates:
        if (token < n and may_come[token]) or (may_cut_lines and LINE_END in (texts[token] or b"")):
            yield token, log_probability
