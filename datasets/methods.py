"""A case, and the methods that are compared: each turns the decoding of a prompt into an answer.

*Unconstrained* is the model's whole output. *Checked unconstrained* is a beginning of the same output after
which the file parses: the longest, or the one with the best length-normalised log-probability. *Constrained*
rejects tokens while it writes and ends at the stop with the best score. *Steered* also makes sure that it can
end in time.

A text may end after any of its characters, or only between tokens, which is measured separately. Melcer et
al. 2024 (section III-A) call the parser after every character. The model has scores for stops after whole
tokens only. In their released code a stop inside a token has the score of the stop after that token. The last
token of a text that was cut off has no such score, and counts only if nothing else does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter

from rapidfuzz.distance import Levenshtein

from fimlsp.datasets.case_result import Attempt
from fimlsp.datasets.cuts import Cut
from fimlsp.datasets.languages.replay_language import ReplayLanguage
from fimlsp.models.decoding.loop import decode_middle
from fimlsp.models.decoding.middle import Middle
from fimlsp.models.decoding.settings import DecodeSettings, Unconstrained
from fimlsp.models.prompts.prompt import Prompt
from fimlsp.models.protocols import NextToken
from fimlsp.quotient.engine import Document, Engine
from fimlsp.quotient.states.protocol import State

WRONG = "accepted, but does not parse"
CAUSES = {"budget": "ran out of tokens", "end": "ended early", "dead_end": "50 candidates refused"}
EXCERPT = 400
NO_COST = Attempt(ok=False, text=None)


@dataclass(frozen=True, slots=True)
class Case:
    """A hole in a file.

    Attributes:
        language: the language of the file.
        left, truth, right: the text before the hole, the text cut out, and the text after the hole.
        start: the constraint before the first byte; None if the engine finds no connecting text.
    """

    language: ReplayLanguage
    left: str
    truth: str
    right: str
    start: State | None

    @classmethod
    def at(cls, cut: Cut, text: str, document: Document, language: ReplayLanguage) -> Case:
        """The case of a *cut* in *text*, the text of *document*."""
        left, truth, right = cut.left(text), cut.middle(text), cut.right(text)
        offset = len(left.encode())
        start = document.middle(offset, offset + len(truth.encode()), relax=False).start
        return cls(language, left, truth, right, start)

    @classmethod
    def overlapping(cls, cut: Cut, text: str, engine: Engine, language: ReplayLanguage) -> Case:
        """The case of one of the paper's cuts that end before they start: both sides share a text."""
        left, right = cut.left(text), cut.right(text)
        offset = len(left.encode())
        start = engine.document((left + right).encode()).middle(offset, offset, relax=False).start
        return cls(language, left, "", right, start)

    def attempt(self, answer: bytes | None, cause: str, cost: Attempt = NO_COST) -> Attempt:
        """The attempt with this *answer* and *cost*, checked; *cause* is the cause if it fails."""
        if answer is None:
            return replace(cost, cause=cause)
        ok = self.language.accepts(self.left, answer, self.right)
        text = answer.decode(errors="surrogateescape")
        return replace(
            cost,
            ok=ok,
            text=text,
            cause=None if ok else cause,
            compile_error=self.language.compile_error(self.left + text + self.right) if ok else None,
            exact=text == self.truth,
            similarity=round(edit_similarity(text, self.truth), 4),
            first_line=round(edit_similarity(first_line(text), first_line(self.truth)), 4),
        )

    def check_ms(self, text: bytes) -> float:
        """Mean milliseconds of the reference parser with none, half and all of *text* in the hole."""
        parts = [text[: len(text) * half // 2].decode(errors="ignore") for half in range(3)]
        started = perf_counter()
        for part in parts:
            self.language.syntax_error(self.left + part + self.right)
        return 1000 * (perf_counter() - started) / len(parts)

    def excerpt(self) -> dict[str, str]:
        """The text around the hole and in it, shortened for the report."""
        truth = self.truth
        if len(truth) > 2 * EXCERPT:
            truth = f"{truth[:EXCERPT]} … {truth[-EXCERPT:]}"
        return {"left": self.left[-EXCERPT:], "truth": truth, "right": self.right[:EXCERPT]}


def edit_similarity(text: str, truth: str) -> float:
    """One minus Levenshtein's distance divided by the length of the longer text.

    `edit_similarity("cat", "cart")` is 0.75; two empty texts are equal. O(len(text) * len(truth) / 64).
    """
    return float(Levenshtein.normalized_similarity(text, truth))


def first_line(text: str) -> str:
    """The text before its first line end; empty if *text* starts with a line end."""
    return text.partition("\n")[0]


def is_one_line(text: str) -> bool:
    """True if *text* has no line end."""
    return "\n" not in text


def attempts(network: NextToken, prompt: Prompt, case: Case, tokens: int) -> dict[str, Attempt]:
    """Each method's attempt at *case*, with at most so many *tokens*."""
    answers = unconstrained(case, decode(network, prompt, None, tokens=tokens))
    if case.start is None:
        failed = case.attempt(None, "engine finds no connection")
        return answers | dict.fromkeys(("constrained", "constrained_at_tokens", "steered"), failed)
    plain = decode(network, prompt, case.start, tokens=tokens)
    steered = decode(network, prompt, case.start, tokens=tokens, steer=True)
    return answers | {
        "constrained": constrained(case, case.start, plain),
        "constrained_at_tokens": constrained(case, case.start, plain, between_tokens=True),
        "steered": constrained(case, case.start, steered),
    }


def decode(
    network: NextToken,
    prompt: Prompt,
    start: State | None,
    *,
    tokens: int,
    steer: bool = False,
) -> Middle:
    """The text of *network* with the settings of the protocol; without a constraint if *start* is None."""
    settings = DecodeSettings(tokens=tokens, lines=None, steer=steer, seconds=None, stop_rule="best")
    return decode_middle(network, prompt, start or Unconstrained(), settings, lambda: False)


def unconstrained(case: Case, free: Middle) -> dict[str, Attempt]:
    """The attempts of the methods that only read the model's output without a constraint."""
    text = whole_text(free)
    stops = checked_stops(case, free)
    at_tokens = [stop for stop in stops if stop.is_between_tokens]
    return {
        "unconstrained": case.attempt(text, "does not parse", cost_of(free)),
        "longest": _checked(case, text, max(stops, key=lambda stop: stop.length, default=None)),
        "best": _checked(case, text, max(stops, default=None)),
        "longest_at_tokens": _checked(case, text, max(at_tokens, key=lambda stop: stop.length, default=None)),
    }


def checked_stops(case: Case, free: Middle) -> list[Stop]:
    """The stops of *free* after which the file parses.

    The constraint decides, since a parse after each of 2,000 characters would take seconds a case. Without a
    constraint the reference parser decides: a fault of the engine must not count against the model.
    """
    text, stops = whole_text(free), stops_of(free, of_last=True)
    if case.start is None:
        return valid_stops(text, stops, lambda part: case.language.accepts(case.left, part, case.right))
    return list(complete_stops(text, stops, case.start))


def _checked(case: Case, text: bytes, stop: Stop | None) -> Attempt:
    if stop is None:
        return case.attempt(None, "no beginning parses")
    return case.attempt(text[: stop.length], WRONG)


def constrained(case: Case, start: State, middle: Middle, *, between_tokens: bool = False) -> Attempt:
    """The attempt of a constrained decoding from *start*, ended at its best stop.

    If there is no stop, a complete middle is the answer. Steering has completed it, or it is complete at its
    end, where the model was cut off. Any other text is kept without being an answer.
    """
    started = perf_counter()
    text = whole_text(middle)
    stops = [stop for stop in stops_of(middle) if stop.is_between_tokens or not between_tokens]
    best = max(complete_stops(text, stops, start), default=None)
    cost = cost_of(middle)
    cost = replace(cost, engine_ms=round(cost.engine_ms + 1000 * (perf_counter() - started), 3))
    if best is not None:
        return case.attempt(text[: best.length], WRONG, cost)
    if middle.complete:
        return case.attempt(middle.text, WRONG, cost)
    written = text.decode(errors="surrogateescape")
    cause = CAUSES.get(middle.stop_reason, middle.stop_reason)
    return case.attempt(None, cause, replace(cost, written=written))


def cost_of(middle: Middle) -> Attempt:
    """The cost of decoding *middle*, as an attempt without an answer."""
    rejections = Counter(token.rejected for token in middle.trace)
    return Attempt(
        ok=False,
        text=None,
        tokens=middle.tokens,
        tried=middle.tried,
        rejected=middle.rejected,
        rejections={str(refused): tokens for refused, tokens in sorted(rejections.items())},
        steered=middle.steered,
        stop=middle.stop_reason,
        model_ms=round(middle.model_ms + middle.prefill_ms, 3),
        engine_ms=round(middle.engine_ms, 3),
    )


@dataclass(frozen=True, slots=True, order=True)
class Stop:
    """A possible end of a text, *length* bytes after its start, and the *score* of ending there.

    The score is the mean log-probability of the tokens, the last one whole, and of the end after them. Stops
    are ordered by their scores, and the longer of two equal ones is the greater, as in the released code.
    """

    score: float
    length: int
    is_between_tokens: bool


def stops_of(middle: Middle, *, of_last: bool = False) -> list[Stop]:
    """Every stop of *middle*, from the empty text on.

    Offsets within a character are no stops. The last token of a text that was cut off has stops only if
    *of_last*.
    """
    tokens = middle.trace if of_last or middle.stop_reason != "budget" else middle.trace[:-1]
    stops = [] if middle.stop_at_start is None else [Stop(middle.stop_at_start, 0, True)]
    total, length = 0.0, 0
    for number, token in enumerate(tokens, 1):
        total += token.log_probability
        if token.stop is not None:
            score, last = (total + token.stop) / (number + 1), len(token.text)
            stops += [Stop(score, length + at, at == last) for at in range(1, last + 1)]
        length += len(token.text)
    inner = set(_within_characters(whole_text(middle)))
    return [stop for stop in stops if stop.length not in inner]


def whole_text(middle: Middle) -> bytes:
    """Everything that was written, up to the model's own end or the end of the budget."""
    return b"".join(token.text for token in middle.trace)


def valid_stops(text: bytes, stops: Iterable[Stop], is_valid: Callable[[bytes], bool]) -> list[Stop]:
    """Those of *stops* after which *is_valid* accepts the beginning of *text*."""
    return [stop for stop in stops if is_valid(text[: stop.length])]


def complete_stops(text: bytes, stops: Iterable[Stop], start: State) -> Iterator[Stop]:
    """Those of *stops*, in their order, after which *text* is complete for the constraint at *start*."""
    state, fed = start, 0
    for stop in stops:
        following = state.feed(text[fed : stop.length]) if stop.length > fed else state
        if following is None:
            return
        state, fed = following, stop.length
        if state.complete:
            yield stop


def _within_characters(text: bytes) -> Iterator[int]:
    """The offsets in *text* within a character; bytes that are not UTF-8 are characters of their own."""
    return (at for at, byte in enumerate(text) if byte & 0xC0 == 0x80)
