"""How similar an answer is to the text that was cut out."""

from __future__ import annotations

from rapidfuzz.distance import Levenshtein


def edit_similarity(text: str, truth: str) -> float:
    """One minus Levenshtein's distance divided by the length of the longer text.

    `edit_similarity("cat", "cart")` is 0.75; two empty texts are equal. O(len(text) * len(truth) / 64).
    """
    return float(Levenshtein.normalized_similarity(text, truth))


def first_line(text: str) -> str:
    """The text before its first line end; empty if *text* begins with a line end."""
    return text.partition("\n")[0]


def is_one_line(text: str) -> bool:
    """Whether *text* has no line end."""
    return "\n" not in text
