"""The texts of markers: tokens that never stand for text of a file, although a tokenizer may read them in it.

Tokenizers mark some markers as text like any other: Qwen3's `<|fim_prefix|>` and `<think>`, or DeepSeek-V3's
markers. So a marker is known by its form. Gemma has HTML tags as tokens, which are text.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

VISIBLE_SPACE = "▁"
"""A space in SentencePiece vocabularies."""

CHAT = (
    *("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"),
    *("<|im_start|>", "<|im_end|>", "<|endoftext|>"),
)
"""Markers of conversations that tokenizers mark as text, for servers that do not list their tokens."""

_HTML = re.compile(
    r"</?(?:table|caption|thead|tbody|tfoot|tr|th|td|h[1-6]|blockquote|strong|em|b|i|u|s|sub|sup|code|a|html"
    r"|body|img|span|bbox|ul|ol|li|div|p|br|iframe|footer)>"
)
_MARKER = re.compile(r"<[^<>\s]{1,80}>|\[[^\[\]\s]{1,80}\]")


def is_marker(text: str) -> bool:
    """True if an added token with this *text* is a marker."""
    return bool(_MARKER.fullmatch(text)) and not _HTML.fullmatch(text)


def split_markers(text: str, markers: Collection[str]) -> Iterator[str]:
    """*text* in parts, none of which has a whole one of *markers*: each is cut after its first character."""
    start = 0
    for found in _MARKER.finditer(text):
        if found[0] in markers:
            yield text[start : found.start() + 1]
            start = found.start() + 1
    yield text[start:]
