"""Decides what the editor is told of the middles that were written, and puts it in words.

While typing, where nobody asked for it, a middle is cut back to what the model was sure of. And small models
like to write the next line of the file once more: lines at the end of a text that already follow the cursor
are cut off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fimlsp.lsp_server.messages import Completion, Limits
from fimlsp.quotient.language.editor_policy import EditorPolicy
from fimlsp.quotient.language.whole_text import Fault
from fimlsp.quotient.recovery.mended_text import Mend
from fimlsp.quotient.states.protocol import State

if TYPE_CHECKING:
    from fimlsp.languages.python.names.preference import NamePreference
    from fimlsp.models.acceptance.beginnings import Beginning
    from fimlsp.models.acceptance.estimate import Acceptance
    from fimlsp.models.decoding.middle import Middle
    from fimlsp.models.networks.precedents import Precedents

NOT_SURE = "the model is not sure enough of anything here (option confidence)"

MOST_FOLLOWING = 8_000
"""Bytes behind the cursor in which repeated lines are looked for."""

_LONGEST = 30
"""Characters of the text that is named in an assumption."""


def to_completion(
    written: Sequence[Middle],
    relaxed: tuple[str, ...],
    left: bytes,
    right: bytes,
    start: State,
    policy: EditorPolicy,
) -> Completion:
    """What the editor is told about the middles *written* under the constraint *start*; at least one.

    *policy* is that of the language.
    """
    whole = [middle for middle in written if middle.complete and middle.stop_reason != "cancelled"]
    nonblank = [middle.text for middle in whole if middle.text.strip()]
    texts = [without_repetition(left, text, right, start, policy) for text in nonblank]
    kept = _sound_first(left, filter(None, texts), right, policy)
    reason = None
    if not whole:
        reason = f"nothing that connects was found ({written[0].stop_reason})"
    elif not nonblank:
        reason = "the model has nothing to add here"
    elif not kept:
        reason = "the suggestion would repeat what follows"
    return Completion(
        texts=kept,
        complete=bool(whole),
        relaxed=relaxed,
        tokens=sum(middle.tokens for middle in written),
        rejected=sum(middle.rejected for middle in written),
        reason=reason,
        model_ms=sum(middle.prefill_ms + middle.model_ms for middle in written),
        final=all(middle.stop_reason not in ("cancelled", "deadline") for middle in written),
    )


def _sound_first(left: bytes, texts: Iterable[bytes], right: bytes, policy: EditorPolicy) -> tuple[str, ...]:
    """The different *texts* in their order, but those with a fault that *policy* sees behind all others."""
    different = list(dict.fromkeys(texts))
    if len(different) > 1:
        different.sort(key=lambda text: policy.first_fault(left, text, right) is not None)
    return tuple(text.decode() for text in different)


def what_is_sure(
    middle: Middle,
    left: bytes,
    right: bytes,
    start: State,
    acceptance: Acceptance,
    limits: Limits,
    policy: EditorPolicy,
    *,
    preference: NamePreference | None = None,
    elsewhere: Precedents | None = None,
) -> Beginning | None:
    """The beginning of *middle* that is most worth showing between *left* and *right*; None if none is.

    Of ten that are shown, 10 * `limits.confidence` are right by *acceptance*. What steering chose
    is never shown, nor what is wrong by the *policy* of the language, or has names that *preference* does not
    know unless the model is sure of them. *start* constrained the middle; *elsewhere* has other files.
    """
    from fimlsp.models.acceptance.beginnings import beginnings
    from fimlsp.models.acceptance.surroundings import Surroundings

    surroundings = Surroundings(left, right, policy, elsewhere)
    found = [
        each
        for each in beginnings(middle, start, surroundings, preference, cursor_inside=limits.cursor_inside)
        if len(each.text.strip()) >= limits.min_length
    ]
    return acceptance.best_sound(
        found,
        acceptance.cost(limits.confidence),
        lambda text: policy.first_fault(left, text, right) is not None,
        lambda text: policy.first_unknown_name(left, text, right),
    )


def as_limited(written: Sequence[Middle], limits: Limits, start: State, policy: EditorPolicy) -> list[Middle]:
    """What of the middles *written* under *start* is in one line and stays in its bracket, if so wanted.

    Where only a text that leaves its bracket connects, the constraint allows that; here it is dropped.
    """
    kept = [first_line(middle, start) for middle in written] if limits.one_line == "always" else written
    return [middle for middle in kept if limits.context_escape or not policy.swaps_brackets(middle.text)]


def first_line(middle: Middle, start: State) -> Middle:
    """*middle* up to the end of its first line that is not blank; it may be incomplete there."""
    end = middle.text.find(b"\n", len(middle.text) - len(middle.text.lstrip()))
    if end < 0:
        return middle
    state = start.feed(middle.text[:end])
    return replace(middle, text=middle.text[:end], complete=state is not None and state.complete)


def without_repetition(left: bytes, text: bytes, right: bytes, start: State, policy: EditorPolicy) -> bytes:
    """*text* without the lines at its end that *right* goes on with, if it connects so; or as it is.

    Empty if all of it, together with what *left* has of its first line, stands in *right* already. Lines that
    only close something by the language's *policy* do not count.
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
    """The lines of *text* that are not blank, stripped, each with the offset at which its line begins."""
    found = []
    offset = 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            found.append((offset, line.strip()))
        offset += len(line)
    return found


def in_words(data: bytes, mends: Iterable[Mend]) -> tuple[str, ...]:
    """Each of the *mends* of *data* in a few words, with the number of its line, from 1."""
    return tuple(_in_words(data, mends))


def faults_in_words(data: bytes, faults: Iterable[Fault]) -> tuple[str, ...]:
    """Each of the *faults* of *data* that do not count, with the number of its line, from 1."""
    lines = [(data.count(b"\n", 0, fault.spans[0][0]) + 1, fault.message) for fault in faults]
    return tuple(f"line {line}: as if there were no “{message}”" for line, message in lines)


def _in_words(data: bytes, mends: Iterable[Mend]) -> Iterator[str]:
    for mend in mends:
        lost, put = _short(data[mend.start : mend.end]), _short(mend.replacement)
        line = data.count(b"\n", 0, mend.start + _blank(data[mend.start : mend.end])) + 1
        if lost and put:
            yield f"line {line}: “{put}” for “{lost}”"
        elif lost or put:
            yield f"line {line}: without “{lost}”" if lost else f"line {line}: with “{put}”"
        else:
            yield f"line {line}: other white space"


def _blank(text: bytes) -> int:
    """The length of the white space that *text* begins with, none if it is all of it."""
    return len(text) - len(text.lstrip()) if text.strip() else 0


def _short(text: bytes) -> str:
    words = " ".join(text.decode("utf-8", "replace").split())
    return words if len(words) <= _LONGEST else words[: _LONGEST - 1] + "…"
