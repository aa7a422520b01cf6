"""One call from a cursor to a completion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fimlsp.models.buffer_cache import BufferCache
from fimlsp.models.decoding import decode_middle
from fimlsp.models.loading import FimModel
from fimlsp.models.middle import DecodeSettings, Middle
from fimlsp.models.prompt import beginning, build_prompt, ending
from fimlsp.models.protocols import MiddleState

BUFFER_BYTES = 16_000


def complete(
    model: FimModel,
    left: bytes,
    right: bytes,
    start: MiddleState,
    settings: DecodeSettings,
    should_stop: Callable[[], bool],
) -> Middle:
    """Decode what *model* writes between *left* and *right*, under the constraint *start*.

    If one line is wanted and the cursor has text behind it in its line, the completion stays in that line.

    Raises:
        ModelError: `settings.tokens` do not fit into the model's context.
    """
    prompt = build_prompt(model.vocabulary, model.fim, model.context, left, right, settings.tokens)
    network = model.network
    if model.uses_buffer:
        network = BufferCache(
            network, model.vocabulary, ending(left, BUFFER_BYTES), beginning(right, BUFFER_BYTES)
        )
    if settings.lines == 1 and right.partition(b"\n")[0].strip():
        settings = replace(settings, lines=0)
    return decode_middle(network, prompt, start, settings, should_stop)
