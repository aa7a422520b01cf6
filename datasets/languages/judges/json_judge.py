"""Python's `json` module as the judge of JSON files, without what it accepts beyond RFC 8259."""

from __future__ import annotations

import json
from typing import NoReturn


def syntax_error(text: str) -> str | None:
    """Why *text* is not JSON, in one line; None if it is.

    `NaN`, `Infinity` and a byte order mark are refused; an object may repeat a name. Text that is nested
    deeper than Python's recursion limit (about 1,000) is refused as well.
    """
    try:
        json.loads(text, parse_constant=_refuse, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        return f"{error.msg} (line {error.lineno})"
    except RecursionError:
        return "nested too deeply for the judge"
    except ValueError as error:
        return str(error)
    return None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON value")
