"""Python's own JSON decoder as a reference parser, as strict as RFC 8259."""

from __future__ import annotations

import json


def is_json(text: bytes) -> bool:
    """True if *text* is a JSON text in UTF-8, nested no deeper than the decoder can read."""
    try:
        json.loads(text.decode(), parse_constant=_refuse, parse_int=len)
    except ValueError:
        return False
    return True


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
