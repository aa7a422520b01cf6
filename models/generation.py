"""Generation from left to right: a program that goes on from its beginning, and is valid when it ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fimlsp.models.completion import network_at
from fimlsp.models.decoding.loop import Decoding
from fimlsp.models.decoding.middle import Middle
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.decoding.several.branching import decode_several
from fimlsp.models.healing import Healed, unread_part
from fimlsp.models.loading import FimModel
from fimlsp.models.prompts.prompt import build_continuation
from fimlsp.quotient.states.protocol import State

SETTINGS = DecodeSettings(tokens=500)


def generate(
    model: FimModel,
    written: bytes,
    start: State,
    settings: DecodeSettings = SETTINGS,
    should_stop: Callable[[], bool] = lambda: False,
    on_text: Callable[[bytes], None] = lambda _: None,
    *,
    heal: bool = True,
) -> Middle:
    """What *model* writes after *written*, up to where it ends its text or `settings.tokens` are used up.

    The model reads *written* alone, without fill-in-the-middle markers. *start* says what may come after it:
    with nothing on its right a text that is valid as a whole. *on_text* gets each piece as soon as it is
    written, and nothing is taken back; the pieces are together the text of the result. (With beams all of it
    comes at the end.) Law: with `settings.steer` the result is complete unless it was cancelled.

    Args:
        model: the model that writes.
        written: what is there already.
        start: the constraint behind it.
        settings: budgets, and how candidates are chosen; `lines`, `stop_rule` and `candidates` do not count.
        should_stop: whether the caller has lost interest; asked before every step of the network.
        on_text: gets the bytes of each token, which may end inside a character.
        heal: whether a word that has begun is begun again (see `healing.py`); the trace has all of it.

    Raises:
        ModelError: `settings.tokens` do not fit into the model's context.
    """
    settings = replace(settings, lines=None, stop_rule="last", candidates=1)
    again = unread_part(model.vocabulary, written) if heal else b""
    read = written[: len(written) - len(again)]
    if again:
        start = Healed(again, start)
        if (wanted := settings.stop_when) is not None:
            settings = replace(settings, stop_when=lambda text: wanted(text[len(again) :]))
    prompt = build_continuation(model.vocabulary, model.fim, model.context, read, settings.tokens)
    network, told = network_at(model, read, b""), b""

    def tell(text: bytes) -> None:
        nonlocal told
        before, told = max(len(told), len(again)), told + text
        if len(told) > before:
            on_text(told[before:])

    if settings.beams > 1:
        (result,) = decode_several(network, prompt, start, settings, should_stop)
    else:
        decoding = Decoding.begin(network, prompt, start, settings)
        with decoding.attended(should_stop):
            result = decoding.run(should_stop, tell)
    tell(result.text[len(told) :])
    return replace(result, text=result.text[len(again) :])


def generate_many(
    model: FimModel,
    written: bytes,
    start: State,
    settings: DecodeSettings,
    should_stop: Callable[[], bool] = lambda: False,
) -> tuple[Middle, ...]:
    """As `generate`, but up to `settings.candidates` different texts, best first, or independent draws.

    Raises:
        ModelError: `settings.tokens` do not fit into the model's context.
    """
    settings = replace(settings, lines=None, stop_rule="last")
    prompt = build_continuation(model.vocabulary, model.fim, model.context, written, settings.tokens)
    return decode_several(network_at(model, written, b""), prompt, start, settings, should_stop)
