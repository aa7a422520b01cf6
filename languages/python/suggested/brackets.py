"""Which brackets a piece of code leaves open, and whether it closes some that it did not open."""

from __future__ import annotations

import re

_NO_CODE = re.compile(
    rb"#[^\n]*|\"\"\"(?:\\.|.)*?(?:\"\"\"|\Z)|'''(?:\\.|.)*?(?:'''|\Z)"
    rb"|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?",
    re.DOTALL,
)
_STEPS = {**dict.fromkeys(b"([{", 1), **dict.fromkeys(b")]}", -1)}


def swaps_brackets(text: bytes) -> bool:
    """Whether *text* closes a bracket that it did not open, and then leaves another one open.

    Between `f(` and `)` that is `a) + g(b`. Strings and comments do not count.
    """
    depth = lowest = 0
    for byte in _NO_CODE.sub(b"", text):
        depth += _STEPS.get(byte, 0)
        lowest = min(lowest, depth)
    return lowest < 0 and depth > lowest
