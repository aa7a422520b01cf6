"""What an editor has to know of Go."""

from __future__ import annotations

import re

from fimlsp.languages.suggested_lines import LinesPolicy
from fimlsp.quotient.language.editor_policy import Comment

_WORDS = (
    b"break case chan const continue default defer else fallthrough for func go goto if import interface "
    b"map package range return select struct switch type var"
)
_PREDECLARED = (
    b"any append bool byte cap clear close comparable complex complex128 complex64 copy delete error false "
    b"float32 float64 imag int int16 int32 int64 int8 iota len make max min new nil panic print println real "
    b"recover rune string true uint uint16 uint32 uint64 uint8 uintptr"
)

GO_POLICY = LinesPolicy(
    file_ending=".go",
    comment=Comment("//"),
    known_names=frozenset((_WORDS + b" " + _PREDECLARED).split()),
    block_opener=re.compile(rb".*[(\[{]\s*\Z|\s*(?:case\b.*|default\s*):\s*\Z", re.DOTALL),
    not_code=re.compile(
        rb"//[^\n]*|/\*.*?(?:\*/|\Z)|`[^`]*`?|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?", re.DOTALL
    ),
    prose=re.compile(rb"\s*/[/*]"),
    repeatable=re.compile(
        rb"(?:if err\b.*|\} else \{|for \{|default:|break|continue|fallthrough|return\b.*)\Z"
    ),
)
"""Go's."""
