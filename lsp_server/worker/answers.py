"""Converts decoded middles to the completion that the editor receives.

An automatic completion is cut back to its confident part. Lines at its end that already follow the cursor are
cut off: small models tend to repeat the next line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from fimlsp.lsp_server.last_edits import brings_back
from fimlsp.lsp_server.messages import Choice, Completion, Estimated, Limits
from fimlsp.lsp_server.worker.document_form import in_document_form
from fimlsp.quotient.language.contract import Fault
from fimlsp.quotient.language.editor_policy import EditorPolicy
from fimlsp.quotient.recovery.repaired_text import TextRepair
from fimlsp.quotient.states.protocol import State

if TYPE_CHECKING:
    from fimlsp.languages.python.names.preference import NamePreference
    from fimlsp.lsp_server.worker.type_checks import TypesAtCursor
    from fimlsp.models.beginnings import Beginning
    from fimlsp.models.confidence import ConfidenceEstimate
    from fimlsp.models.decoding.middle import Middle
    from fimlsp.models.networks.matches import MatchSource

NOT_CONFIDENT = "the model is not confident enough here (option confidence)"

DOES_NOT_FIT = "the best guess does not fit: {}"
DELETED = "the suggestion would bring back a text that was just deleted"

REPEATS = "the suggestion would repeat the text after the cursor"

LEAST_GUESS = 0.05
"""The least probability of a best guess that is named where nothing is shown."""

MOST_FOLLOWING = 8_000
"""Bytes after the cursor in which repeated lines are searched."""

_BRACKETS = ((b"(", b")"), (b"[", b"]"), (b"{", b"}"))
_LINE_END = re.compile(rb"\r?\n")
_LONGEST_QUOTE = 30
"""Characters of a text that is quoted in an assumption."""


def to_completion(
    written: Sequence[Middle],
    relaxed: tuple[str, ...],
    left: bytes,
    right: bytes,
    start: State,
    policy: EditorPolicy,
    *,
    deleted: Sequence[bytes] = (),
    preference: NamePreference | None = None,
    types: TypesAtCursor | None = None,
    body: bytes = b"",
) -> Completion:
    """The completion with the middles *written* under the constraint *start*; there is at least one.

    *policy* is that of the language, *preference* has the names that were looked up. A text that cannot join
    the line after the cursor is left out. Texts with other faults, also by *types*, and those that bring
    *deleted* ones back, come last. With a *body*, the one text is a header that connects with it.
    """
    whole = [middle for middle in written if middle.complete and middle.stop_reason != "cancelled"]
    nonblank = [middle.text for middle in whole if middle.text.strip()]
    joined = [flawless_part(left, text, right, start, policy) for text in nonblank]
    texts = [without_repetition(left, text, right, start, policy) for text in joined]
    joining = [text for text in texts if text and policy.first_joining_fault(left, text, right) != 0]
    formed = [in_document_form(left, text, right, start, body) for text in joining]
    kept = _flawless_first(left, formed, right, policy, deleted, _looked_up(preference), types)
    reason = None
    if not whole:
        reason = f"no connecting text was found ({written[0].stop_reason})"
    elif not nonblank:
        reason = "the model adds nothing here"
    elif not kept:
        reason = REPEATS
    return Completion(
        texts=kept,
        complete=bool(whole) and not body,
        relaxed=relaxed,
        tokens=sum(middle.tokens for middle in written),
        rejected=sum(middle.rejected for middle in written),
        reason=reason,
        model_ms=sum(middle.prefill_ms + middle.model_ms for middle in written),
        final=all(middle.stop_reason not in ("cancelled", "deadline") for middle in written),
    )


def _flawless_first(
    left: bytes,
    texts: Iterable[bytes],
    right: bytes,
    policy: EditorPolicy,
    deleted: Sequence[bytes],
    is_visible: Callable[[bytes], bool],
    types: TypesAtCursor | None,
) -> tuple[str, ...]:
    """The distinct *texts* in their order; those with a fault by *policy* or *types*, or *deleted*, last."""
    different = list(dict.fromkeys(texts))
    if len(different) > 1:
        ends = [None] * len(different) if types is None else types.fault_ends(different)
        faulty = {text for text, end in zip(different, ends, strict=True) if end is not None}
        faulty.update(text for text in different if brings_back(text, deleted))
        different.sort(key=lambda text: (text in faulty) + _is_flawed(left, text, right, policy, is_visible))
    return tuple(text.decode() for text in different)


def _looked_up(preference: NamePreference | None) -> Callable[[bytes], bool]:
    """A function that returns True for the names that *preference* surely knows."""
    return (lambda _: False) if preference is None else preference.is_surely_visible


def _is_flawed(
    left: bytes, text: bytes, right: bytes, policy: EditorPolicy, is_visible: Callable[[bytes], bool]
) -> bool:
    """True if *text* has a fault by *policy* or an unbound name, or connects in an odd way.

    Such ways are white space at the end, and a comment alone after code. Another is a line end outside of
    brackets before code that follows the cursor.
    """
    head, tail = policy.code_alone(left[left.rfind(b"\n") + 1 :]).strip(), right.partition(b"\n")[0].strip()
    is_open = any(head.count(opening) > head.count(closing) for opening, closing in _BRACKETS)
    is_odd = text != text.rstrip() or (bool(head) and policy.is_comment(text))
    breaks_line = bool(head and tail) and not is_open and b"\n" in text
    if is_odd or breaks_line or policy.first_issue(left, text, right) is not None:
        return True
    return policy.first_unknown_name(left, text, right, is_visible) is not None


class Confident(NamedTuple):
    """The part of a middle to show, or None; the likeliest part, and the probability that it is right.

    *choices* are all parts, if `Limits.explain` is set.
    """

    part: Beginning | None
    likeliest: Beginning | None
    share: float
    choices: tuple[Choice, ...] = ()

    @property
    def guess(self) -> str:
        """The likeliest part in words; empty if there is none, or none is worth a request by hand."""
        text = "" if self.likeliest is None else _short(self.likeliest.text)
        is_worth_it = bool(text) and self.share >= LEAST_GUESS
        return f"“{text}”, {self.share:.0%}".replace("%", " %") if is_worth_it else ""


def estimated(likeliest: Beginning | None, acceptance: ConfidenceEstimate, key: str) -> Estimated | None:
    """The *likeliest* text by the estimate *acceptance* with this *key*, as nobody has corrected it yet."""
    if likeliest is None:
        return None
    opening = None if likeliest.opening is None else acceptance.opening.log_odds(likeliest.opening)
    return Estimated(key, likeliest.text, acceptance.whole.log_odds(likeliest.features), opening)


def confident_part(
    middles: Sequence[Middle],
    left: bytes,
    right: bytes,
    start: State,
    acceptance: ConfidenceEstimate,
    limits: Limits,
    policy: EditorPolicy,
    *,
    deleted: Sequence[bytes] = (),
    preference: NamePreference | None = None,
    elsewhere: MatchSource | None = None,
    types: TypesAtCursor | None = None,
) -> Confident:
    """The prefix of *middles* with the best expected value between *left* and *right*, if any has one.

    By the estimate *acceptance*, a share `limits.confidence` of the shown prefixes is right. Prefixes with
    tokens chosen by steering, faults by the *policy* of the language, or *deleted* text are excluded. So are
    names that *preference* does not know, unless the model is confident of them, and faults that *types*
    finds. *start* constrained the middles; *elsewhere* has other files.
    """
    from fimlsp.models.beginnings import Surroundings, beginnings

    surroundings = Surroundings(left, right, policy, elsewhere)
    by_text = {
        beginning.inserted: beginning
        for middle in reversed(middles)
        for beginning in beginnings(
            middle, start, surroundings, preference, cursor_inside=limits.cursor_inside
        )
        if len(beginning.text.strip()) >= limits.min_length
    }
    candidates = [*by_text.values()]

    def has_fault(beginning: Beginning) -> bool:
        issue = policy.first_issue(left, beginning.connecting, right)
        return issue is not None or brings_back(beginning.inserted, deleted)

    def first_unknown(beginning: Beginning) -> int | None:
        return policy.first_unknown_name(left, beginning.connecting, right, _looked_up(preference))

    def last_sound(beginning: Beginning) -> int | None:
        unknown = first_unknown(beginning)
        return unknown if unknown is not None or types is None else types.last_sound(beginning.connecting)

    cost = acceptance.cost(limits.confidence)
    part = acceptance.best_sound(candidates, cost, has_fault, last_sound)
    likeliest = part or acceptance.best_sound(candidates, 0.0, has_fault, first_unknown)
    share = 0.0 if likeliest is None else acceptance.whole.probability(likeliest.features)
    choices = _choices(candidates, has_fault, last_sound, types) if limits.explain else ()
    return Confident(part, likeliest, share, choices)


def _choices(
    candidates: Sequence[Beginning],
    has_fault: Callable[[Beginning], bool],
    last_sound: Callable[[Beginning], int | None],
    types: TypesAtCursor | None,
) -> tuple[Choice, ...]:
    """All *candidates*, also those with a fault. The type checker gets them in one question."""
    if types is not None:
        types.fault_ends([candidate.connecting for candidate in candidates])
    return tuple(
        Choice(
            candidate.text.decode(),
            candidate.closing.decode(),
            candidate.ends_line,
            candidate.features,
            candidate.opening,
            has_fault(candidate) or last_sound(candidate) is not None,
            bool(candidate.body),
        )
        for candidate in candidates
    )


def within_limits(
    written: Sequence[Middle], limits: Limits, start: State, policy: EditorPolicy
) -> list[Middle]:
    """The middles *written* under *start* within the limits on lines and brackets.

    If only a text that leaves its bracket connects, the constraint allows it; it is dropped here.
    """
    kept = [first_line(middle, start) for middle in written] if limits.one_line == "always" else written
    return [middle for middle in kept if limits.context_escape or not policy.swaps_brackets(middle.text)]


def first_line(middle: Middle, start: State) -> Middle:
    """*middle* up to the end of its first non-blank line, where it may be incomplete."""
    end = middle.text.find(b"\n", len(middle.text) - len(middle.text.lstrip()))
    if end < 0:
        return middle
    state = start.feed(middle.text[:end])
    return replace(middle, text=middle.text[:end], complete=state is not None and state.complete)


def flawless_part(left: bytes, text: bytes, right: bytes, start: State, policy: EditorPolicy) -> bytes:
    """*text* up to its first fault by *policy*, or to the next end of a line where it connects.

    All of it if it has no fault, or connects nowhere before its end.
    """
    cut = policy.first_issue(left, text, right)
    ends = [] if cut is None else [cut, *(end.start() for end in _LINE_END.finditer(text, cut + 1))]
    for end in ends:
        shorter = text[:end].rstrip()
        state = start.feed(shorter) if shorter else None
        if state is not None and state.complete:
            return shorter
    return text


def without_repetition(left: bytes, text: bytes, right: bytes, start: State, policy: EditorPolicy) -> bytes:
    """*text* without the lines at its end that *right* starts with, if the shorter text connects.

    Empty if *right* repeats all of it, together with the start of its first line in *left*. Lines that only
    close something, by the language's *policy*, do not count.
    """
    following = _significant(right[:MOST_FOLLOWING].partition(b"\n")[2])
    before = left[left.rfind(b"\n") + 1 :].lstrip()
    lines = _significant(text)
    if lines and lines[0][0] == 0:
        lines[0] = 0, before + lines[0][1]
    for count in range(min(len(lines), len(following)), 0, -1):
        same = [line for _, line in lines[-count:]] == [line for _, line in following[:count]]
        if not same or all(policy.only_closes(line) for _, line in lines[-count:]):
            continue
        if count == len(lines):
            return b""
        shorter = text[: lines[-count][0]].rstrip()
        state = start.feed(shorter)
        if state is not None and state.complete:
            return shorter
    return text


def _significant(text: bytes) -> list[tuple[int, bytes]]:
    """The non-blank lines of *text*, stripped, each with the offset of its line."""
    lines = []
    offset = 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            lines.append((offset, line.strip()))
        offset += len(line)
    return lines


def describe_repairs(data: bytes, mends: Iterable[TextRepair]) -> tuple[str, ...]:
    """Each of the *mends* of *data* in a few words, with its line number from 1."""
    return tuple(_repairs_in_words(data, mends))


def describe_faults(data: bytes, faults: Iterable[Fault]) -> tuple[str, ...]:
    """Each of the ignored *faults* of *data*, with its line number from 1."""
    lines = [(data.count(b"\n", 0, fault.spans[0][0]) + 1, fault.message) for fault in faults]
    return tuple(f"line {line}: as if there were no “{message}”" for line, message in lines)


def _repairs_in_words(data: bytes, mends: Iterable[TextRepair]) -> Iterator[str]:
    for mend in mends:
        removed, added = _short(data[mend.start : mend.end]), _short(mend.replacement)
        line = data.count(b"\n", 0, mend.start + _n_leading_blanks(data[mend.start : mend.end])) + 1
        if removed and added:
            yield f"line {line}: “{added}” for “{removed}”"
        elif removed or added:
            yield f"line {line}: without “{removed}”" if removed else f"line {line}: with “{added}”"
        else:
            yield f"line {line}: other white space"


def _n_leading_blanks(text: bytes) -> int:
    """Length of the white space at the start of *text*; 0 if there is nothing else."""
    return len(text) - len(text.lstrip()) if text.strip() else 0


def _short(text: bytes) -> str:
    words = " ".join(text.decode("utf-8", "replace").split())
    return words if len(words) <= _LONGEST_QUOTE else words[: _LONGEST_QUOTE - 1] + "…"


def cannot_connect(limits: Limits) -> str:
    """The reason for no connecting text."""
    if limits.relaxed_contexts:
        return "no text can connect the two sides of the cursor"
    return "the file is broken elsewhere (option relaxedContexts)"
