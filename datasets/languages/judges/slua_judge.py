"""The checker of whole scripts as the judge of sLua; it was written apart from the parser that is judged."""

from __future__ import annotations

from fimlsp.languages.slua.checking.checker import check_script
from fimlsp.languages.slua.language import interface_of


def fault(interface: str, text: str) -> str | None:
    """What is wrong first with a script that is given *interface*, in one line; None if nothing is."""
    faults = check_script(text, interface_of(interface)).faults
    return f"{faults[0].message} (line {faults[0].at[0]})" if faults else None
