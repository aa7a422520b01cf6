"""The checks of a suggestion that need no symbol table, as one table, and the ends at which none stops.

Each check takes the text left of the cursor, the suggestion and the text right of the cursor. It returns the
offset in the suggestion up to which that may be shown, or None.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from fimlsp.languages.python.names.code_state import CodeState, state_at_end
from fimlsp.languages.python.suggestion_checks.brackets import (
    first_closed_twice,
    first_own_argument,
    first_repeated_element,
    first_repeated_key,
)
from fimlsp.languages.python.suggestion_checks.comparisons import (
    first_empty_loop,
    first_repeated_condition,
    first_self_comparison,
)
from fimlsp.languages.python.suggestion_checks.guesses import (
    first_class_for_variable,
    first_copied_body,
    first_longer_number,
    first_made_bool,
)
from fimlsp.languages.python.suggestion_checks.lines import (
    first_endless_call,
    first_imported_parameter,
    first_misplaced_keyword,
    first_needless_import,
    first_placeholder,
    first_unreachable,
    first_unwanted_line,
)

_CALLED = re.compile(
    rb"(?<![\w.\x80-\xff])"
    rb"(?:isinstance|issubclass|hasattr|getattr|setattr|super|range|enumerate|zip|print|open)\s*\Z"
)
"""Matches a function of which a statement uses only the result of its call."""

_NAMES_ARGUMENT = re.compile(rb"=(?!=)")
_HAS_ATTRIBUTE = re.compile(rb"[\w)\]}\"'\x80-\xff]\Z")
_ALIAS = re.compile(rb"(?<![=!<>])=[ \t]*[\w.\x80-\xff]+\Z")
_TAKES_VALUE = re.compile(rb"(?<![\w.\x80-\xff])(?:return|raise|yield)\Z")
_VALUE = re.compile(rb"[ \t]*[^\s#;)\]},:]")
_ARGUMENT = re.compile(rb"[(,=]\s*\Z")
_NAME_ALONE = re.compile(
    rb"\s*(?!(?:pass|return|break|continue|raise|yield)\b)"
    rb"[A-Za-z_\x80-\xff][\w.\x80-\xff]*(?:\[[^\[\]()=:]*\])*\s*\Z"
)
"""Matches a name, attribute or item. Of 39,000 statements without a target in 74 packages 32 were such."""


Check = Callable[[bytes, bytes, bytes], int | None]

CHECKS: tuple[Check, ...] = (
    first_unwanted_line,
    first_unreachable,
    first_repeated_key,
    first_repeated_element,
    first_needless_import,
    first_own_argument,
    first_closed_twice,
    first_self_comparison,
    first_imported_parameter,
    first_placeholder,
    first_copied_body,
    first_endless_call,
    first_empty_loop,
    first_repeated_condition,
    first_class_for_variable,
    first_made_bool,
    first_longer_number,
)
"""All checks but that of keywords. Their order does not matter, as the smallest offset counts."""


def first_unwanted(left: bytes, text: bytes, right: bytes, *, top_level_await: bool = False) -> int | None:
    """The offset in *text*, between *left* and *right*, up to which it may be shown; None if all may.

    With *top_level_await* statements outside functions may wait.
    """
    keywords: Check = partial(first_misplaced_keyword, top_level_await=top_level_await)
    checks: tuple[Check, ...] = (*CHECKS, keywords)
    offsets = (check(left, text, right) for check in checks)
    return min((offset for offset in offsets if offset is not None), default=None)


def first_idle_name(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset to which to cut *text* if it ends with a function not called or a name alone; else None.

    A function that is useless uncalled is still allowed as an argument.
    """
    rest = right.partition(b"\n")[0].strip()
    line_start = text.rfind(b"\n") + 1
    line = text[line_start:] if line_start else left[left.rfind(b"\n") + 1 :] + text
    before_text = len(line) - len(text[line_start:])
    called = None if rest.startswith(b"(") else _CALLED.search(line)
    if called is not None and not _ARGUMENT.search(line, 0, called.start()):
        return max(0, line_start + called.start() - before_text)
    if rest or not _NAME_ALONE.match(line):
        return None
    is_statement = state_at_end(left[: len(left) - before_text]).feed(text[:line_start]) == CodeState()
    return max(0, line_start - 1) if is_statement else None


def stops_idly(left: bytes, text: bytes, right: bytes, whole: bytes) -> bool:
    """True if *text*, a prefix of *whole*, stops where nobody would.

    Such ends are an idle name, and the name of an argument without its value. A comma is one if *whole* goes
    on in the line, or if it makes a tuple outside brackets. So is `return`, `raise` or `yield` before its
    value, an object before its attribute, and one that is assigned before its index. In a bracket that *text*
    opens, an object may stay alone: the cursor stays after it.
    """
    following, line = whole[len(text) :], left[left.rfind(b"\n") + 1 :] + text
    if _TAKES_VALUE.search(line) and _VALUE.match(following):
        return True
    if _parts_value(left, text, right, following, line):
        return True
    if text.endswith(b","):
        is_cut = following[:1] not in (b"", b"\n")
        return is_cut or not state_at_end(left).feed(text).brackets
    if _NAMES_ARGUMENT.match(following):
        return True
    return first_idle_name(left, text, right) is not None


def _parts_value(left: bytes, text: bytes, right: bytes, following: bytes, line: bytes) -> bool:
    """True if *text* parts an object of code from the attribute or index that follows, but not at *right*."""
    has_attribute = following[:1] == b"." and _HAS_ATTRIBUTE.search(line)
    has_index = following[:1] == b"[" and _ALIAS.search(line)
    if not (has_attribute or has_index) or right[:1] == following[:1]:
        return False
    before = state_at_end(left)
    after = before.feed(text)
    return not after.quote and len(after.brackets) <= len(before.brackets)
