"""The names that every Python file knows: keywords and builtins."""

from __future__ import annotations

import builtins
import keyword

BUILTIN_NAMES = frozenset(
    name.encode() for name in (*dir(builtins), *keyword.kwlist, *keyword.softkwlist, "self", "cls")
)
