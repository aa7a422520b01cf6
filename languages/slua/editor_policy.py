"""What an editor has to know of sLua."""

from __future__ import annotations

import re

from fimlsp.languages.slua.incremental.tokens import KEYWORDS
from fimlsp.languages.suggested_lines import LinesPolicy

SLUA_POLICY = LinesPolicy(
    file_ending=".slua",
    known_names=frozenset(word.encode("ascii") for word in KEYWORDS),
    block_opener=re.compile(rb".*(?:[({]|\b(?:then|do|else)|\bfunction\b[^()]*\([^()]*\))\s*\Z", re.DOTALL),
    block_closer=re.compile(rb"(?:end\b|[)},;\s])*\Z"),
    repeatable=re.compile(rb"(?:else|do|then|break;|return\b.*)\Z"),
)
"""sLua's: as Lua's, without remarks."""
