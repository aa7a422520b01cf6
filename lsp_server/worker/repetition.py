"""Cuts off the end of a suggestion that repeats what follows the cursor.

Small models like to write the next line of the file once more. Lines at the end of a text that already follow
the cursor are cut off if what is left still connects; a text of such lines alone becomes empty.
"""

from __future__ import annotations

from fimlsp.quotient.states.protocol import State

MOST_BYTES = 8_000
_BRACKETS = b")]},: \t"


def without_repetition(left: bytes, text: bytes, right: bytes, start: State) -> bytes:
    """*text* without the lines at its end that *right* goes on with, if it connects so; or as it is.

    Empty if all of it, together with what *left* has of its first line, stands in *right* already. Lines of
    closing brackets alone do not count.
    """
    following = _significant(right[:MOST_BYTES].partition(b"\n")[2])
    before = left[left.rfind(b"\n") + 1 :].lstrip()
    lines = _significant(text)
    if lines and lines[0][0] == 0:
        lines[0] = 0, before + lines[0][1]
    for count in range(min(len(lines), len(following)), 0, -1):
        same = [line for _, line in lines[-count:]] == [line for _, line in following[:count]]
        if not same or not any(line.strip(_BRACKETS) for _, line in lines[-count:]):
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
