"""What an editor has to know of Lua."""

from __future__ import annotations

import re

from fimlsp.languages.suggested_lines import LinesPolicy
from fimlsp.quotient.language.editor_policy import Comment

_WORDS = (
    b"and break do else elseif end false for function goto if in local nil not or repeat return then true "
    b"until while"
)
_GLOBALS = (
    b"_ENV _G _VERSION assert collectgarbage coroutine debug dofile error getmetatable io ipairs load "
    b"loadfile math next os package pairs pcall print rawequal rawget rawlen rawset require select self "
    b"setmetatable string table tonumber tostring type utf8 warn xpcall"
)

LUA_POLICY = LinesPolicy(
    file_ending=".lua",
    comment=Comment("--"),
    known_names=frozenset((_WORDS + b" " + _GLOBALS).split()),
    block_opener=re.compile(
        rb".*(?:[(\[{]|\b(?:then|do|else|repeat)|\bfunction\b[^()]*\([^()]*\))\s*\Z", re.DOTALL
    ),
    block_closer=re.compile(rb"(?:end\b|[)\]},;\s])*\Z"),
    not_code=re.compile(
        rb"--\[(=*)\[.*?(?:\]\1\]|\Z)|--[^\n]*|\[(=*)\[.*?(?:\]\2\]|\Z)"
        rb"|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?",
        re.DOTALL,
    ),
    prose=re.compile(rb"\s*--"),
    repeatable=re.compile(rb"(?:else|do|repeat|then|break|return\b.*)\Z"),
)
"""Lua's: blocks stand between words, too."""
