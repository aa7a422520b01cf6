"""One call from a cursor to a completion, or to several."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from fimlsp.models.decoding.branching import decode_several
from fimlsp.models.decoding.loop import decode_middle
from fimlsp.models.decoding.middle import DecodeSettings, Middle
from fimlsp.models.loading import FimModel
from fimlsp.models.networks.numpy.buffer_cache import BufferCache
from fimlsp.models.prompts.neighbours import Neighbour
from fimlsp.models.prompts.prompt import Prompt, beginning, build_prompt, ending
from fimlsp.models.protocols import MiddleState, NextToken

BUFFER_BYTES = 16_000
NEIGHBOUR_BYTES = 32_000
_TEXT_IN_LINE = re.compile(rb"[^\S\n]*\S")


def complete(
    model: FimModel,
    left: bytes,
    right: bytes,
    start: MiddleState,
    settings: DecodeSettings,
    should_stop: Callable[[], bool],
    *,
    neighbours: Sequence[Neighbour] = (),
    path: str | None = None,
) -> Middle:
    """Decode what *model* writes between *left* and *right*, under the constraint *start*.

    *neighbours* are other files to be read before this one, the most important first, and *path* is that of
    this one. If one line is wanted and the cursor has text behind it in its line, the completion stays in
    that line.

    Raises:
        ModelError: `settings.tokens` do not fit into the model's context.
    """
    network, prompt = _prepare(model, left, right, settings, neighbours, path)
    return decode_middle(network, prompt, start, _for_line(settings, right), should_stop)


def complete_many(
    model: FimModel,
    left: bytes,
    right: bytes,
    start: MiddleState,
    settings: DecodeSettings,
    should_stop: Callable[[], bool],
    *,
    neighbours: Sequence[Neighbour] = (),
    path: str | None = None,
) -> tuple[Middle, ...]:
    """Up to `settings.candidates` different middles, best first, in the time limit of one.

    What `complete` gives is always among them; the others are complete and not empty. One prompt is read.

    Raises:
        ModelError: `settings.tokens` do not fit into the model's context.
    """
    network, prompt = _prepare(model, left, right, settings, neighbours, path)
    return decode_several(network, prompt, start, _for_line(settings, right), should_stop)


def _prepare(
    model: FimModel,
    left: bytes,
    right: bytes,
    settings: DecodeSettings,
    neighbours: Sequence[Neighbour],
    path: str | None,
) -> tuple[NextToken, Prompt]:
    prompt = build_prompt(
        model.vocabulary,
        model.fim,
        model.context,
        left,
        right,
        settings.tokens,
        neighbours,
        path,
        settings.heal,
        steady=settings.stop_rule == "first",
    )
    if not model.uses_buffer:
        return model.network, prompt
    left = left[: max(0, len(left) - len(prompt.owed))]
    buffer = ending(left, BUFFER_BYTES), beginning(right, BUFFER_BYTES)
    files = [neighbour.text[: NEIGHBOUR_BYTES // len(neighbours)] for neighbour in neighbours]
    return BufferCache(model.network, model.vocabulary, *buffer, files), prompt


def _for_line(settings: DecodeSettings, right: bytes) -> DecodeSettings:
    if settings.lines == 1 and _TEXT_IN_LINE.match(right):
        return replace(settings, lines=0)
    return settings
