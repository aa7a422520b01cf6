"""Python's own TOML parser as a reference parser."""

from __future__ import annotations

import tomllib


def is_toml(text: bytes) -> bool | None:
    """True if *text* is a TOML file in UTF-8; None if it nests deeply."""
    try:
        tomllib.loads(text.decode())
    except RecursionError:
        return None
    except ValueError:
        return False
    return True
