"""How much of CPython a text has to pass: its parser alone, or its compiler as well."""

from __future__ import annotations

from typing import Literal

from fimlsp.quotient.grammar.places import Change, Places

Check = Literal["parse", "compile"]

_FUNCTION = frozenset({"return", "yield"})
_COROUTINE = _FUNCTION | {"await"}
_LOOP = frozenset({"break"})

PLACES = Places(
    frozenset(),
    {"MAY_RETURN": "return", "MAY_YIELD": "yield", "MAY_AWAIT": "await", "MAY_BREAK": "break"},
    {
        "IN_LOOP": Change(_LOOP),
        "IN_FUNCTION": Change(_FUNCTION, keeps=frozenset()),
        "IN_COROUTINE": Change(_COROUTINE, keeps=frozenset()),
        "IN_CLASS": Change(keeps=frozenset()),
        "IN_STAR_HANDLER": Change(keeps=frozenset({"yield", "await"})),
    },
)
"""What is permitted in the blocks of a file (see the head of `grammar.lark`).

The body of `except*` may not be left by `break`, `continue` or `return`, except for loops and functions that
begin in it.
"""
