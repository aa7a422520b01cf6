"""From a cursor to middles: builds the prompt, adds the buffer cache if the model wants it, and decodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from fimlsp.models.decoding.loop import decode_middle
from fimlsp.models.decoding.middle import Middle
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.decoding.several.branching import decode_several
from fimlsp.models.decoding.stopping import TEXT_IN_LINE
from fimlsp.models.healing import Healed, HealedPreference, unread_part
from fimlsp.models.loading import FimModel
from fimlsp.models.networks.buffer_cache import BufferCache
from fimlsp.models.networks.precedents import Precedents
from fimlsp.models.networks.wanted_tokens import WantedTokens
from fimlsp.models.prompts.neighbours import Neighbour
from fimlsp.models.prompts.prompt import HASH, Prompt, beginning, build_prompt, ending
from fimlsp.models.protocols import NextToken
from fimlsp.quotient.language.editor_policy import Comment
from fimlsp.quotient.language.wanted import Wanted
from fimlsp.quotient.states.protocol import State

BUFFER_BYTES = 16_000
FOLLOWING_BYTES = 64
"""Of the line behind the cursor, at least as much as one token says."""


def complete_many(
    model: FimModel,
    left: bytes,
    right: bytes,
    start: State,
    settings: DecodeSettings,
    should_stop: Callable[[], bool],
    *,
    neighbours: Sequence[Neighbour] = (),
    path: str | None = None,
    comment: Comment | None = HASH,
    elsewhere: Precedents | None = None,
    wanted: Wanted | None = None,
) -> tuple[Middle, ...]:
    """Up to `settings.candidates` different middles, best first; always at least one.

    *start* is the constraint at the cursor between *left* and *right*. The greedy middle (with a temperature:
    the first that is drawn) is always among the results, even if it is empty or incomplete; the others are
    complete and not empty. If one line is wanted and text follows the cursor in its line, the middles stay in
    that line. If `model.heals`, a word that has begun at the cursor is begun again, which does not show in
    the results. The prompt is read once, and the time limit is for all candidates together. *should_stop* is
    asked before every step of the network.

    Args:
        model: the model that writes.
        left: the file before the cursor.
        right: the file after the cursor.
        start: what may stand between them.
        settings: budgets, and how candidates are chosen.
        should_stop: whether the caller has lost interest.
        neighbours: other files to read before this one, the most important first.
        path: the path of this file, told to the model along with neighbours.
        comment: how its language writes remarks, in which names of files are told; None: it has none.
        elsewhere: what other texts suggest to a model that is mixed with what the buffer suggests.
        wanted: what the code behind the cursor wants to stand there; mixed into such a model as well.

    Raises:
        ModelError: `settings.tokens` do not fit into the model's context.
    """
    settings = _before(right, settings)
    again = unread_part(model.vocabulary, left) if model.heals else b""
    read = left[: len(left) - len(again)]
    prompt = build_prompt(
        model.vocabulary,
        model.fim,
        model.context,
        read,
        right,
        settings.tokens,
        neighbours,
        path,
        comment,
        steady=settings.stop_rule == "first",
        most_tokens=model.prompt_tokens,
    )
    here = None if wanted is None else WantedTokens(model.vocabulary, left, again, wanted)
    network = network_at(model, read, right, elsewhere, here)
    return _decoded(network, prompt, start, settings, should_stop, again)


def network_at(
    model: FimModel,
    left: bytes,
    right: bytes,
    elsewhere: Precedents | None = None,
    wanted: WantedTokens | None = None,
) -> NextToken:
    """What predicts tokens between *left* and *right*: the network, mixed with the buffer if the model asks.

    The buffer cache sees 16,000 bytes on each side, what stands *elsewhere*, and what is *wanted* here.
    """
    if not model.uses_buffer:
        return model.network
    buffer = ending(left, BUFFER_BYTES), beginning(right, BUFFER_BYTES)
    return BufferCache(model.network, model.vocabulary, *buffer, elsewhere, wanted)


def _decoded(
    network: NextToken,
    prompt: Prompt,
    start: State,
    settings: DecodeSettings,
    should_stop: Callable[[], bool],
    again: bytes,
) -> tuple[Middle, ...]:
    """The middles of `complete_many`, which the model begins with what is there *again*."""
    state: State = start
    if again:
        state, settings = Healed(again, start), _healed(settings, again)
    if settings.candidates == settings.beams == 1:
        return (decode_middle(network, prompt, state, settings, should_stop).behind(again),)
    found = decode_several(network, prompt, state, settings, should_stop)
    best, *others = (middle.behind(again) for middle in found)
    return best, *(middle for middle in others if not again or middle.text.strip())


def _healed(settings: DecodeSettings, again: bytes) -> DecodeSettings:
    """*settings* for middles that begin with what is there *again*."""
    if (preference := settings.preference) is not None:
        settings = replace(settings, preference=HealedPreference(again, preference))
    if (wanted := settings.stop_when) is not None:
        settings = replace(settings, stop_when=lambda text: wanted(text[len(again) :]))
    return settings


def _before(right: bytes, settings: DecodeSettings) -> DecodeSettings:
    """*settings* for middles with *right* behind them.

    If one line is wanted and text follows the cursor in its line, no line end is.
    """
    lines = 0 if settings.lines == 1 and TEXT_IN_LINE.match(right) else settings.lines
    return replace(settings, lines=lines, follows=right[:FOLLOWING_BYTES].partition(b"\n")[0])
