"""A description of sLua and an interface, as a text for a model that writes scripts."""

from __future__ import annotations

from fimlsp.languages.slua.interface import Interface

LANGUAGE = """\
Write a script in sLua, which is Lua with types.

- Types: number, string, boolean, those declared below, functions such as (number, Actor) -> boolean, and your
  own: interface Name { field: number; optional other: string; };
- Statements: local name: type = value; assignments; calls; do, if, for i = a, b do, while, return, break.
  Each ends with a semicolon, also after `end`.
- Expressions are those of Lua, without //, # and bit operators. Texts stand in double quotes. A function has
  no types: function(a, b) ... end takes them from its place.
- A condition may be any value. An optional field is true if it is present.
- There are no comments, no nil, no indices, no methods with a colon, and no recursion.
- Use only the names that are declared below, and your own. Objects come from the program alone.
"""


def described(interface: Interface, text: str, root: str | None) -> str:
    """The language and *interface*, whose declarations are *text*, for scripts of the kind *root* if given.

    Raises:
        UnknownRootError: The interface does not declare that kind.
    """
    endings = interface.endings(root) if root is not None else {}
    calls = " or ".join(f"{name}({kind.type})" for name, kind in sorted(endings.items()))
    last = f"- The script ends with one call of {calls}, which is allowed nowhere else.\n" if calls else ""
    return f"{LANGUAGE}{last}\nThe declarations:\n\n{text.strip()}\n"
