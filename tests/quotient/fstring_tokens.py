"""The parts of f-strings and template strings among the tokens of newer Pythons, in the names of our grammar.

Imports nothing of ours, as `python_symbols`.
"""

from __future__ import annotations

import token as kinds
from collections.abc import Iterator
from tokenize import TokenInfo

STARTS, MIDDLES, ENDS = (
    {getattr(kinds, name): name for name in (f"FSTRING_{part}", f"TSTRING_{part}") if hasattr(kinds, name)}
    for part in ("START", "MIDDLE", "END")
)
TEXT, SPEC = -1, -2  # parts of an f-string; a field is the number of brackets open in it
MARKS = {":": "FIELD_COLON", "=": "FIELD_EQUAL", "!": "FIELD_CONVERSION"}


def with_parts(tokens: Iterator[TokenInfo]) -> Iterator[tuple[str | None, TokenInfo]]:
    """The *tokens*, each with its name if it belongs to an f-string or is an operator inside one."""
    parts: list[int] = []
    for token in tokens:
        if token.type in STARTS:
            parts.append(TEXT)
            yield STARTS[token.type], token
        elif token.type in MIDDLES:
            yield "FSTRING_TEXT", token
        elif token.type in ENDS:
            parts.pop()
            yield "FSTRING_END", token
        elif token.type == kinds.OP and parts:
            yield _operator(parts, token, tokens), token
        else:
            yield None, token


def _operator(parts: list[int], token: TokenInfo, tokens: Iterator[TokenInfo]) -> str:
    """The name of an operator in the last of the open *parts*, which it may open or close."""
    text = token.string
    if text == "{" and parts[-1] < 0:
        parts.append(0)
        return "FIELD_OPEN"
    if text == "}" and parts[-1] == SPEC:
        parts.pop()
    if text == "}" and parts[-1] == 0:
        parts.pop()
        return "FIELD_CLOSE"
    if text in MARKS and parts[-1] == 0:
        if text == ":":
            parts.append(SPEC)
        if text == "!":
            conversion = next(tokens)
            if conversion.string not in ("r", "s", "a") or conversion.start != token.end:
                raise ValueError(conversion.string)
        return MARKS[text]
    parts[-1] += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
    return text
