"""Writes text with a model: middles at a cursor, or a continuation; and scores a given middle.

Builds the prompt, adds the buffer cache if the model uses it, and decodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import monotonic

from fimlsp.models.decoding.healing import Healed, HealedPreference, unread_part
from fimlsp.models.decoding.loop import Decoding, decode_middle
from fimlsp.models.decoding.middle import Middle
from fimlsp.models.decoding.multi_candidate import decode_many
from fimlsp.models.decoding.settings import TEXT_IN_LINE, DecodeSettings
from fimlsp.models.errors import ModelError
from fimlsp.models.loading import FimModel
from fimlsp.models.networks.copy_cache import CopyCache, ExpectedTextTokens
from fimlsp.models.networks.matches import MatchSource
from fimlsp.models.prompts.prompt import (
    HASH,
    Neighbour,
    Prompt,
    build_continuation,
    build_prompt,
    first_bytes,
    last_bytes,
    without_closers,
)
from fimlsp.models.protocols import NextToken, ReadsAhead, Scoring
from fimlsp.quotient.language.editor_policy import Comment, ExpectedTexts
from fimlsp.quotient.states.protocol import State

BUFFER_BYTES = 16_000
FOLLOWING_BYTES = 64
"""Bytes of the line after the cursor that refused candidates are compared with; no token is longer."""

CONTINUATION = DecodeSettings(tokens=500)


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
    elsewhere: MatchSource | None = None,
    expected: Sequence[ExpectedTexts] = (),
) -> tuple[Middle, ...]:
    """Up to `settings.candidates` different middles, best first; always at least one.

    The greedy middle (with a temperature: the first draw) is always among the results, even if it is empty or
    incomplete. The others are complete and not empty. If one line is wanted and text follows the cursor in
    its line, the middles stay in that line. If `model.heals`, a word or space at the cursor is written anew,
    which does not show in the results. If the model lists no token with which it starts, it is not. The
    prompt is read once for all candidates.

    Args:
        model: the model that writes.
        left: the file before the cursor.
        right: the file after the cursor.
        start: the constraint at the cursor between *left* and *right*.
        settings: budgets, and how candidates are chosen; the time limit is for all candidates together.
        should_stop: returns True if the caller has lost interest; called before every step of the network.
        neighbours: other files to read before this one, the most important first.
        path: the path of this file, given to the model along with neighbours.
        comment: the comments of its language, in which file names are written; None: it has none.
        elsewhere: predictions from other texts, mixed into a model that uses the buffer cache.
        expected: texts that are likely here for reasons of their own; mixed into such a model as well.

    Raises:
        ModelError: `settings.tokens` do not fit into the model's context.
    """
    unread = unread_part(model.vocabulary, left) if model.heals else b""
    around = _Around(left, right, neighbours, path, comment, elsewhere, expected)
    started = monotonic()
    middles = around.written(model, start, settings, should_stop, unread)
    if middles[0].stop_reason == "dead_end" and len(middles[0].decoded) < len(unread):
        unread = b""
        seconds = settings.seconds and max(0.0, settings.seconds - (monotonic() - started))
        middles = around.written(model, start, replace(settings, seconds=seconds), should_stop, unread)
    best, *others = (middle.without_prefix(unread) for middle in middles)
    return best, *(middle for middle in others if not unread or middle.text.strip())


@dataclass(frozen=True, slots=True)
class _Around:
    """All that a model reads at a cursor; see `complete_many`."""

    left: bytes
    right: bytes
    neighbours: Sequence[Neighbour]
    path: str | None
    comment: Comment | None
    elsewhere: MatchSource | None
    expected: Sequence[ExpectedTexts]

    def written(
        self,
        model: FimModel,
        start: State,
        settings: DecodeSettings,
        should_stop: Callable[[], bool],
        unread: bytes,
    ) -> tuple[Middle, ...]:
        """The middles that *model* writes, with *unread*, the end of the left side, before each of them."""
        settings = _settings_before(self.right, settings)
        read, prompt = self._before(unread), self.prompt(model, settings, unread)
        expected = [ExpectedTextTokens(model.vocabulary, self.left, unread, texts) for texts in self.expected]
        network = network_at(model, read, self.right, self.elsewhere, expected)
        state, settings = _healed(unread, start, settings)
        if settings.candidates == settings.beams == 1 and settings.aligned == "no":
            return (decode_middle(network, prompt, state, settings, should_stop),)
        return decode_many(network, prompt, state, settings, should_stop)

    def prompt(self, model: FimModel, settings: DecodeSettings, unread: bytes) -> Prompt:
        """The prompt that *model* reads, without *unread*, the end of the left side.

        A model elsewhere, whose reading takes time, does not read the brackets that an editor has closed.
        """
        is_steady = settings.stop_rule == "first"
        is_slow = isinstance(model.network, ReadsAhead) and model.network.keeps_read_part
        left_out, right = without_closers(self.right) if is_steady and is_slow else (b"", self.right)
        prompt = build_prompt(
            model.vocabulary,
            model.fim,
            model.context,
            self._before(unread),
            right,
            settings.tokens,
            self.neighbours,
            self.path,
            self.comment,
            steady=is_steady,
            most_tokens=model.prompt_tokens,
        )
        return replace(prompt, left_out=left_out)

    def _before(self, unread: bytes) -> bytes:
        return self.left[: len(self.left) - len(unread)]


def prompt_ahead(
    model: FimModel,
    left: bytes,
    right: bytes,
    settings: DecodeSettings,
    *,
    neighbours: Sequence[Neighbour] = (),
    path: str | None = None,
    comment: Comment | None = HASH,
) -> Prompt:
    """The prompt that `complete_many` reads first, with the same arguments, to be read ahead.

    Raises:
        ModelError: as `complete_many`.
    """
    around = _Around(left, right, neighbours, path, comment, None, ())
    return around.prompt(model, settings, unread_part(model.vocabulary, left) if model.heals else b"")


def network_at(
    model: FimModel,
    left: bytes,
    right: bytes,
    elsewhere: MatchSource | None = None,
    expected: Sequence[ExpectedTextTokens] = (),
) -> NextToken:
    """The network for a cursor between *left* and *right*, mixed with the buffer cache if the model uses it.

    The buffer cache sees 16,000 bytes on each side, the texts *elsewhere*, and the tokens *expected* here.
    """
    if not model.uses_buffer:
        return model.network
    buffer = last_bytes(left, BUFFER_BYTES), first_bytes(right, BUFFER_BYTES)
    return CopyCache(model.network, model.vocabulary, *buffer, elsewhere, expected)


def _healed(unread: bytes, start: State, settings: DecodeSettings) -> tuple[State, DecodeSettings]:
    """Constraint and settings for middles that start with the *unread* part of the left context."""
    if not unread:
        return start, settings
    if (preference := settings.preference) is not None:
        settings = replace(settings, preference=HealedPreference(unread, preference))
    if (stop_when := settings.stop_when) is not None:
        settings = replace(settings, stop_when=lambda text: stop_when(text[len(unread) :]))
    return Healed(unread, start), settings


def _settings_before(right: bytes, settings: DecodeSettings) -> DecodeSettings:
    """*settings* for middles before *right*: no line end if one line is wanted and text follows in it."""
    lines = 0 if settings.lines == 1 and TEXT_IN_LINE.match(right) else settings.lines
    return replace(settings, lines=lines, follows=right[:FOLLOWING_BYTES].partition(b"\n")[0])


def generate(
    model: FimModel,
    written: bytes,
    start: State,
    settings: DecodeSettings = CONTINUATION,
    should_stop: Callable[[], bool] = lambda: False,
    on_text: Callable[[bytes], None] = lambda _: None,
    *,
    heal: bool = True,
    context: bytes = b"",
    instructions: str = "",
) -> Middle:
    """Continue *written* until *model* ends its text or `settings.tokens` are used up.

    The model reads *written* without fill-in-the-middle markers, after *context* and *instructions*, which
    are no part of the text. With nothing on the right of *start*, the text is valid as a whole. *on_text*
    gets each piece as soon as it is written. Nothing is taken back, and the pieces together are the text of
    the result. With beams or aligned draws, all of it arrives at the end. Law: with `settings.steer` the
    result is complete unless it was cancelled.

    Args:
        model: the model that writes.
        written: the text to continue.
        start: the constraint after it.
        settings: budgets, and how candidates are chosen; `lines`, `stop_rule` and `candidates` do not count.
        should_stop: returns True if the caller has lost interest; called before every step of the network.
        on_text: gets the bytes of each token, which may end inside a character.
        heal: True to write a word at the end of *written* anew (see `healing.py`); the trace has all of it.
        context: text to read first, such as an interface, examples or other files.
        instructions: a message for a model that was made for conversations. The context is a part of it, and
            *written* the start of the answer.

    Raises:
        ModelError: `settings.tokens` do not fit into the model's context, or the model has no conversations.
    """
    settings = replace(settings, lines=None, stop_rule="last", candidates=1)
    unread = unread_part(model.vocabulary, written) if heal else b""
    read = written[: len(written) - len(unread)]
    state, settings = _healed(unread, start, settings)
    before = _introduction(model, context, instructions)
    prompt = build_continuation(model.vocabulary, model.fim, model.context, read, settings.tokens, before)
    network, reported = network_at(model, read, b""), b""

    def report(text: bytes) -> None:
        nonlocal reported
        before, reported = max(len(reported), len(unread)), reported + text
        if len(reported) > before:
            on_text(reported[before:])

    if settings.beams > 1 or settings.aligned != "no":
        (result,) = decode_many(network, prompt, state, settings, should_stop)
    else:
        decoding = Decoding.begin(network, prompt, state, settings)
        with decoding.cancellable(should_stop):
            result = decoding.run(should_stop, report)
    report(result.text[len(reported) :])
    return replace(result, text=result.text[len(unread) :])


def _introduction(model: FimModel, context: bytes, instructions: str) -> list[int]:
    """The tokens before a text: *context* alone, or a conversation with *instructions* and the context."""
    text = context.decode(errors="replace")
    if not instructions:
        return model.fim.continued(model.vocabulary.encode_first(text)) if text else []
    if model.chat is None:
        raise ModelError(
            f"Cannot give instructions to {model.name}: it has no chat template. Give the text as context."
        )
    return model.chat.tokens(f"{instructions}\n\n{text}".rstrip(), model.vocabulary)


def generate_many(
    model: FimModel,
    written: bytes,
    start: State,
    settings: DecodeSettings,
    should_stop: Callable[[], bool] = lambda: False,
    *,
    context: bytes = b"",
    instructions: str = "",
) -> tuple[Middle, ...]:
    """As `generate`, but up to `settings.candidates` different texts, best first, or independent draws.

    Raises:
        ModelError: `settings.tokens` do not fit into the model's context, or the model has no conversations.
    """
    settings = replace(settings, lines=None, stop_rule="last")
    before = _introduction(model, context, instructions)
    prompt = build_continuation(model.vocabulary, model.fim, model.context, written, settings.tokens, before)
    return decode_many(network_at(model, written, b""), prompt, start, settings, should_stop)


@dataclass(frozen=True, slots=True)
class MiddleScore:
    """The likelihood of a given middle.

    Attributes:
        tokens: ids of its tokens, as the model's tokenizer splits it.
        log_probabilities: log-probability (nats) of each of them after those before it.
        stop: log-probability that the middle ends after them.
    """

    tokens: tuple[int, ...]
    log_probabilities: tuple[float, ...]
    stop: float

    @property
    def total(self) -> float:
        """The log-probability of the whole middle with its end."""
        return sum(self.log_probabilities) + self.stop

    @property
    def mean(self) -> float:
        """The mean log-probability of its tokens and the end."""
        return self.total / (len(self.tokens) + 1)


def score_middle(model: FimModel, left: bytes, right: bytes, middle: bytes) -> MiddleScore:
    """The likelihood that *model* itself writes *middle* between *left* and *right*, without a constraint.

    Uses the network alone, without the buffer cache. Costs a step of the network for each token.

    Raises:
        ModelError: the network scores its likeliest tokens only, as on a server, or its context is too small.
        UnicodeDecodeError: *middle* is not UTF-8.
    """
    network = model.network
    if not isinstance(network, Scoring):
        raise ModelError(
            f"Cannot score with {model.name}: it lists its likeliest tokens only. Use a model that runs here."
        )
    tokens = tuple(model.vocabulary.encode(middle.decode()))
    prompt = model.prompt(left, right, len(tokens) + 1).tokens
    log_probabilities = list[float]()
    for number, token in enumerate(tokens):
        scores = network.log_probabilities([*prompt, *tokens[:number]])
        log_probabilities.append(float(scores[token]))
    last = network.log_probabilities([*prompt, *tokens])
    stop = max(float(last[token]) for token in network.stops if token < len(last))
    return MiddleScore(tokens, tuple(log_probabilities), stop)
