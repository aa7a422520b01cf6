"""Kinds of faults in scripts, as the paper on sLua counts them, by the checker's messages."""

from __future__ import annotations

from fimlsp.languages.slua.checker import Checked
from fimlsp.languages.slua.parsing import Fault

SYNTAX, OTHER = "syntax", "other"
KINDS_OF_MESSAGES = {
    "outside of": SYNTAX,
    "must be the last": SYNTAX,
    "at most": "limit",
    "at once": "limit",
    "unknown variable": "invented variable",
    "unknown type": "invented type",
    "has no field": "invented field",
    "needs": "missing field",
    "already": "declared twice",
    "is given twice": "declared twice",
    "arguments": "number of arguments",
    "1 argument": "number of arguments",
    "parameters": "number of arguments",
    "has to return": "missing result",
    "returns no value": "missing result",
    "cannot assign": "assignment",
    "are not assignable": "assignment",
    "has to end with": "end of the script",
    "last statement": "end of the script",
    "expected": "wrong type",
    "cannot be compared": "wrong type",
    "is only allowed": "wrong type",
    "may be absent": "wrong type",
    "cannot make": "wrong type",
    "function": "rules of functions",
}
"""Words of a message, and the kind of fault; the first that occur decide."""

KINDS = tuple(dict.fromkeys((SYNTAX, *KINDS_OF_MESSAGES.values(), OTHER)))


def kind_of(fault: Fault, checked: Checked) -> str:
    """The kind of a *fault* in the script that was *checked*: `syntax` if it has no tree."""
    if checked.script is None:
        return SYNTAX
    words = "".join(fault.message.split("`")[::2])  # without names
    return next((kind for part, kind in KINDS_OF_MESSAGES.items() if part in words), OTHER)
