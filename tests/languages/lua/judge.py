"""Lua's own `load` as the judge, in this process (lupa)."""

from __future__ import annotations

import re

from lupa.lua54 import LuaRuntime

_LOAD = LuaRuntime(encoding=None).eval(
    'function(text) local chunk, message = load(text, "=text", "t"); return message or "" end'
)
_BEYOND = re.compile(
    rb"attempt to assign to const|no visible label|already defined|jumps into the scope|too many |overflow|"
    rb"registers|control structure too long"
)
"""What `load` says where it minds no syntax, but jumps, constants, and the limits of a function."""


def is_lua(text: bytes) -> bool | None:
    """True if `load` accepts *text*; None if it objects to something untested, or it is not UTF-8."""
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    message = bytes(_LOAD(text))
    if not message:
        return True
    return None if _BEYOND.search(message) else False
