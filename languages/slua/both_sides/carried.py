"""What is still known of a completion after more of the middle was written, without a search.

A text, a number or a new name may be longer and a blank stand between lexemes: whatever completed the script
before completes it then, since only types and scopes decide. A new name is renamed in the completion.
"""

from __future__ import annotations

import re

from fimlsp.languages.slua.both_sides.right_text import RightText
from fimlsp.languages.slua.incremental.parser import ScriptState
from fimlsp.languages.slua.incremental.tokens import DIGITS, LETTERS, WORD, is_name


def carried(known: bytes, before: ScriptState, after: ScriptState, right: RightText) -> bytes | None:
    """What completes *after*, which is *before* with something written; None if a search has to tell.

    *known* completes *before*, between which and *right* it stands.
    """
    data, begun = after.begun, before.begun
    if not begun or after.machine is not before.machine or not data.startswith(begun):
        return known if _is_blank_between(known, before, after) else None
    if not known or known[0] in WORD or known[:1] == b"." or right.word:
        return None
    if begun[0] == ord('"'):
        is_whole = known[:1] == b'"' and next(after.endings()) == b'"'
        return known if is_whole else None
    if begun[0] in DIGITS:
        return known if data[-1] in DIGITS else None
    return _renamed(known, before, data.decode("ascii"), right) if begun[0] in LETTERS else None


def _is_blank_between(known: bytes, before: ScriptState, after: ScriptState) -> bool:
    """Whether only blanks were written, and *known* does not go on with what had begun."""
    if after.begun:
        return False
    if not before.begun:
        return after.machine is before.machine
    return after.machine is before.whole and bool(known) and not before.goes_on(known[0])


def _renamed(known: bytes, before: ScriptState, name: str, right: RightText) -> bytes | None:
    """*known* with *name* instead of the one that had begun, if both are new, and *right* has neither."""
    old, expected = before.begun.decode("ascii"), before.machine.expected()
    is_new = expected.but is not None and not {old, name} & {*expected.but, *expected.words, *right.names}
    words = set(re.findall(rb"\w+", known))
    if not (is_new and is_name(old) and is_name(name)) or name.encode() in words:
        return None
    return re.sub(rb"\b%s\b" % before.begun, name.encode(), known)
