"""Says in words what the engine assumed of a file that is broken away from the cursor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fimlsp.quotient.recovery.mended_text import Mend

_LONGEST = 30


def in_words(data: bytes, mends: Iterable[Mend]) -> tuple[str, ...]:
    """Each of the *mends* of *data* in a few words, with the number of its line, from 1."""
    return tuple(_in_words(data, mends))


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
