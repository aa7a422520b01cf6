"""Ends at which a suggestion does not stop: a function not called, a name alone, a comma, a bare `return`."""

from __future__ import annotations

import re

from fimlsp.languages.python.names.code_state import CodeState, state_behind

_CALLED = re.compile(
    rb"(?<![\w.\x80-\xff])"
    rb"(?:isinstance|issubclass|hasattr|getattr|setattr|super|range|enumerate|zip|print|open)\s*\Z"
)
_NAMES_ARGUMENT = re.compile(rb"=(?!=)")
_SUPER = re.compile(rb"(?<![\w.\x80-\xff])super\(\)\Z")
_TAKES_VALUE = re.compile(rb"(?<![\w.\x80-\xff])(?:return|raise|yield)\Z")
_VALUE = re.compile(rb"[ \t]*[^\s#;)\]},:]")
_ARGUMENT = re.compile(rb"[(,=]\s*\Z")
_NAME_ALONE = re.compile(
    rb"\s*(?!(?:pass|return|break|continue|raise|yield)\b)[A-Za-z_\x80-\xff][\w.\x80-\xff]*\s*\Z"
)


def first_idle_name(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset behind which *text*, between *left* and *right*, ends with such a name; None if it does not.

    A function that is nothing if it is not called may stand as an argument.
    """
    rest = right.partition(b"\n")[0].strip()
    begin = text.rfind(b"\n") + 1
    line = text[begin:] if begin else left[left.rfind(b"\n") + 1 :] + text
    called = None if rest.startswith(b"(") else _CALLED.search(line)
    if called is not None and not _ARGUMENT.search(line, 0, called.start()):
        return max(0, begin + called.start() - (len(line) - len(text[begin:])))
    if rest or not _NAME_ALONE.match(line):
        return None
    is_statement = (
        state_behind(left[: len(left) + len(text[begin:]) - len(line)]).feed(text[:begin]) == CodeState()
    )
    return max(0, begin - 1) if is_statement else None


def stops_idly(left: bytes, text: bytes, right: bytes, whole: bytes) -> bool:
    """Whether *text*, a beginning of *whole*, stops at such a name, or at a comma or the name of an argument.

    A comma makes a tuple of what stands alone in its line, and the name of an argument is no value. Nor does
    it stop before what *whole* returns, raises or yields, or calls of `super()`.
    """
    behind, line = whole[len(text) :], left[left.rfind(b"\n") + 1 :] + text
    if (_TAKES_VALUE.search(line) and _VALUE.match(behind)) or (_SUPER.search(line) and behind[:1] == b"."):
        return True
    if text.endswith(b","):
        is_cut = behind[:1] not in (b"", b"\n")
        return is_cut or not state_behind(left).feed(text).brackets
    if _NAMES_ARGUMENT.match(behind):
        return True
    return first_idle_name(left, text, right) is not None
