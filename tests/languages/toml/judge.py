"""Python's own TOML parser as a reference parser."""

from __future__ import annotations

import tomllib

BEYOND_SYNTAX = ("Cannot overwrite", "Cannot declare", "Cannot mutate", "Cannot redefine", "Duplicate inline")
"""The beginnings of the messages of `tomllib` about keys and tables that are defined twice."""


def is_toml(text: bytes) -> bool | None:
    """True if *text* is a TOML file in UTF-8; None if more than its syntax decides, or it nests deeply."""
    try:
        tomllib.loads(text.decode())
    except RecursionError:
        return None
    except ValueError as error:
        return None if str(error).startswith(BEYOND_SYNTAX) else False
    return True
