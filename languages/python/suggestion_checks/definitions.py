"""Checks of definitions in a suggestion: no imported name is defined again, and no body is a placeholder.

Counted in 2,818 files of 74 packages: a parameter had the name of an import or class of its file in 60 of
62,810 cases, and of 9,533 functions and classes at the top level none had that of an import. `pass` alone was
the body of 115 of 399 classes of exceptions, and of 214 of 2,214 handlers. It was that of 0.1 % of conditions
and loops, 0.7 % of functions, and 1.5 % of other classes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fimlsp.languages.python.names.code_state import CodeState, state_at_end
from fimlsp.languages.python.suggestion_checks.imports import imported_names
from fimlsp.languages.suggested_lines import suggested_lines

_HAS_PARAMETERS = re.compile(rb"\bdef\b")
_PARAMETER = re.compile(rb"[\w\x80-\xff]+")
_BEFORE_PARAMETER = (b"(", b",", b"*", b"**")
_BEGUN_WORD = re.compile(rb"(?<![\w\x80-\xff])[\w\x80-\xff]*\Z")
_DEFINED_CLASS = re.compile(rb"^class[ \t]+(\w+)", re.M)
_PLACEHOLDER = b"pass"
_HEADER = re.compile(rb"(?:async[ \t]+)?(?:class|def|elif|else|for|if|try|while|with)\b.*:\s*(?:#.*)?\Z")
_IS_EXCEPTION = re.compile(rb"class\b.*(?:Error|Exception|Warning|Exit|Interrupt)\b")

LONGEST_WORD = 200
"""Bytes of a word that are read."""


def first_imported_parameter(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset of the first parameter in *text* that has the name of an import or a class of the file.

    None if there is none. O(len(left) + len(right)) where *text* has parameters.
    """
    parameters = [*_parameters(left, text)]
    if not parameters:
        return None
    taken = {*imported_names(left), *_DEFINED_CLASS.findall(left), *imported_names(right)}
    return next((offset for offset, name in parameters if name in taken), None)


def _parameters(left: bytes, text: bytes) -> Iterator[tuple[int, bytes]]:
    """The parameters in *text* after *left*, with their offsets; one that is begun in *left* has 0."""
    state = state_at_end(left)
    if not (state.brackets and state.brackets[-1].binds) and not _HAS_PARAMETERS.search(text):
        return
    begun = _BEGUN_WORD.search(left[-LONGEST_WORD:])
    assert begun is not None
    before = len(begun[0])
    state, read, code = state_at_end(left[: len(left) - before]), 0, begun[0] + text
    for word in _PARAMETER.finditer(code):
        state, read = state.feed(code[read : word.start()]), word.start()
        is_in_header = bool(state.brackets) and state.brackets[-1].binds and not state.quote
        if word.end() > before and is_in_header and state.last in _BEFORE_PARAMETER and not state.chain:
            yield max(0, word.start() - before), word[0]


def first_placeholder(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset of the first `pass` in *text* that is all of a body; None if there is none.

    It may be that of an exception or of a handler. O(len(text)).
    """
    context = suggested_lines(left, text, right)
    above = context.above[-1] if context.above else b""
    if context.head.strip() and not text.partition(b"\n")[0].strip():
        above = context.head.strip()
    for line in context.lines:
        if line.code == _PLACEHOLDER and _wants_body(above) and _is_code(left, text, line.offset):
            return line.offset
        above = line.code
    return None


def _wants_body(line: bytes) -> bool:
    """True if *line* is the header of a block that nobody leaves empty."""
    return _HEADER.match(line) is not None and _IS_EXCEPTION.match(line) is None


def _is_code(left: bytes, text: bytes, offset: int) -> bool:
    """True if the line that *text* starts, or goes on with, at *offset* is a statement."""
    is_new = text[offset : offset + 1] == b"\n"
    above = left + text[:offset] + b"\n" if is_new else left[: left.rfind(b"\n") + 1]
    return state_at_end(above) == CodeState()
