"""The parser tomli as a reference.

Its version 2.2.1 reads TOML 1.0, as `tomllib` of Python 3.11 to 3.14 does.
"""

from __future__ import annotations

import tomli


def is_toml(text: bytes) -> bool | None:
    """True if *text* is a TOML file in UTF-8; None if it nests deeply."""
    try:
        tomli.loads(text.decode())
    except RecursionError:
        return None
    except ValueError:
        return False
    return True
