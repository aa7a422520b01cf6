"""Plain Python values as JSON, for calls between two processes that do not trust each other.

Only plain data passes: None, booleans, numbers, texts, bytes, lists, tuples, sets and dicts of them. Other
classes stay on their side, so no value brings code of its own to a comparison.
"""

from __future__ import annotations

import json
from collections.abc import Callable

MOST_BYTES = 1 << 24
"""The longest message."""


class NotPlainError(Exception):
    """A value is not plain data, or a message is no value."""


def dump(value: object) -> bytes:
    """*value* as a line.

    Raises:
        NotPlainError: it is not plain data, or too large.
    """
    try:
        line = json.dumps(_tagged(value)).encode() + b"\n"
    except (RecursionError, ValueError) as error:
        raise NotPlainError(f"a value is nested too deeply or refers to itself ({error})") from None
    if len(line) > MOST_BYTES:
        raise NotPlainError(f"a value of {len(line):,} bytes is too large")
    return line


def load(line: bytes) -> object:
    """The value in *line*.

    Raises:
        NotPlainError: there is none.
    """
    try:
        return _value(json.loads(line))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise NotPlainError(f"a message is no value ({error})") from None


_SEQUENCES: dict[str, Callable[[list[object]], object]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}
_KINDS = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset"}


def _tagged(value: object) -> object:
    if value is None or isinstance(value, bool):
        return value
    for plain in (int, float, str):
        if isinstance(value, plain):
            return plain(value)
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, bytes | bytearray):
        return {"bytes": bytes(value).hex()}
    if isinstance(value, dict):
        return {"dict": [[_tagged(key), _tagged(held)] for key, held in value.items()]}
    for kind, name in _KINDS.items():
        if isinstance(value, kind):
            return {name: [_tagged(item) for item in value]}
    raise NotPlainError(f"a value of type {type(value).__name__} is not plain data")


def _value(tagged: object) -> object:
    if not isinstance(tagged, dict):
        return _scalar(tagged)
    ((kind, content),) = tagged.items()
    if kind == "bytes":
        return bytes.fromhex(content)
    if kind == "complex":
        real, imaginary = content
        return complex(real, imaginary)
    if kind == "dict":
        return {_value(key): _value(held) for key, held in content}
    return _SEQUENCES[kind]([_value(item) for item in content])


def _scalar(value: object) -> object:
    if isinstance(value, list):
        raise NotPlainError("a message has a list without its kind")
    return value
