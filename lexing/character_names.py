r"""The names that `\N{...}` may have.

Aliases cannot be listed with the standard library: they are names, but no beginning is known to lead to one.
"""

from __future__ import annotations

import sys
import unicodedata
from bisect import bisect_left
from functools import lru_cache


def is_name(name: bytes) -> bool:
    """Whether a character has *name*, in any case."""
    try:
        unicodedata.lookup(name.decode("ascii"))
    except (KeyError, UnicodeDecodeError):
        return False
    return True


def rest_of_name(beginning: bytes) -> bytes | None:
    """What completes *beginning* to a name, None if no name begins so. The first question takes 0.1 s."""
    wanted = beginning.decode("ascii").upper()
    names = _names()
    index = bisect_left(names, wanted)
    if index < len(names) and names[index].startswith(wanted):
        return names[index][len(wanted) :].encode()
    return None


@lru_cache(maxsize=1)
def _names() -> list[str]:
    named = (unicodedata.name(chr(code), "") for code in range(sys.maxunicode + 1))
    return sorted(name for name in named if name)
