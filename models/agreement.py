"""Compares a suggested text with the text that was then written.

Editors accept a suggestion word by word. A word is a run of letters and digits, or a run of other signs, with
the white space before it.
"""

from __future__ import annotations

import re

BEGINNING = 4
"""Characters that must agree for a text to begin right."""

_WORD = re.compile(r"(?<!\s)\s*(?:\w+|[^\w\s]+)")


def agreeing(text: str, truth: str) -> int:
    """The number of characters in the leading words of *text* with which *truth* starts as well.

    A word that is longer in *truth* does not agree.
    """
    end = 0
    for word in _WORD.finditer(text):
        if not truth.startswith(word[0], end) or is_in_word(truth, word.end()):
            break
        end = word.end()
    return end


def is_in_word(text: str, offset: int) -> bool:
    """True if a word of *text* goes on at *offset*."""
    return 0 < offset < len(text) and is_word(text[offset - 1]) and is_word(text[offset])


def is_word(sign: str) -> bool:
    """True if the character *sign* belongs to words."""
    return sign == "_" or sign.isalnum()


def is_wholly_right(text: str, truth: str) -> bool:
    """True if *truth* starts with all of *text*, apart from white space at its end."""
    text = text.rstrip()
    return bool(text) and agreeing(text, truth) == len(text)


def begins_right(text: str, truth: str) -> bool:
    """True if at least the first four characters of *text* agree with *truth*, to the end of a word.

    If *truth* is shorter, all of it must agree.
    """
    agreed = len(text[: agreeing(text, truth)].strip())
    return agreed >= min(BEGINNING, len(truth.strip()))
