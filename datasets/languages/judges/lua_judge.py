"""Lua's own `load` as the judge of Lua files."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from fimlsp.datasets.languages.judges.missing_judge import JudgeMissingError


def syntax_error(text: str) -> str | None:
    """Why `load` of Lua 5.4 refuses *text*, in one line; None if it accepts it.

    Raises:
        JudgeMissingError: lupa, which has that Lua, is not installed.
    """
    message = _load()(text.encode())
    if message is None:
        return None
    told = message.decode(errors="replace").removeprefix("text:")
    line, _, rest = told.partition(": ")
    return f"{' '.join(rest.split())} (line {line})"


@cache
def _load() -> Callable[[bytes], bytes | None]:
    try:
        from lupa.lua54 import LuaRuntime
    except ImportError as error:
        raise JudgeMissingError("Lua is judged by lupa; install it: pip install lupa") from error
    load: Callable[[bytes], bytes | None] = LuaRuntime(encoding=None).eval(
        'function(text) local _, message = load(text, "=text", "t"); return message end'
    )
    return load
