"""The required parameters of functions and methods, read from their definitions without parsing a file."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import NamedTuple

from fimlsp.languages.python.names.symbol_tables import code_alone

Required = tuple[bytes, ...]
"""The names of the positional parameters that have no default, without the object of a method."""

LONGEST_HEADER = 2_000
"""Bytes of the header of a definition, and of the decorators above it, that are read."""

_DEFINED = rb"^([ \t]*)(?:async[ \t]+)?def[ \t]+(%b)[ \t]*\("
_ANY = re.compile(_DEFINED % rb"\w+", re.M)
_CLASS = rb"^([ \t]*)class[ \t]+(%b)\b[^\n]*\n"
_ANY_CLASS = re.compile(_CLASS % rb"\w+", re.M)
_STATIC = re.compile(rb"@staticmethod[ \t]*\r?\n[ \t]*\Z")
_PARAMETER = re.compile(rb"\s*([\w\x80-\xff]+)")
_STEPS = {**dict.fromkeys(b"([{", 1), **dict.fromkeys(b")]}", -1)}
INITIALIZER = b"__init__"


class Parameter(NamedTuple):
    """A parameter that takes an argument by its position."""

    name: bytes
    is_required: bool


def signatures_in(code: bytes) -> Mapping[bytes, Sequence[Required]]:
    """The required parameters of all functions and methods that *code* defines, by names.

    The name of a method starts with a dot. A class has those of its `__init__`. O(len(code)).
    """
    signatures = defaultdict[bytes, list[Required]](list)
    classes = [*_ANY_CLASS.finditer(code)]
    number = 0
    definitions = [*_ANY.finditer(code)]
    starts = [0, *(definition.start() for definition in definitions), len(code)]
    for place, definition in enumerate(definitions):
        is_method = bool(definition[1])
        around = range(starts[place], starts[place + 2])
        required = _required(code, definition, around, is_method=is_method)
        if is_method and definition[2] == INITIALIZER:
            while number + 1 < len(classes) and classes[number + 1].start() < definition.start():
                number += 1
            if classes and classes[number].start() < definition.start():
                signatures[classes[number][2]].append(required)
        else:
            signatures[b"." * is_method + definition[2]].append(required)
    return signatures


def required_parameters(code: bytes, callee: bytes) -> Required | None:
    """The required parameters of *callee*, if *code* defines exactly one such function, method or class.

    *callee* is a name; that of a method starts with a dot. None without a definition; empty if there are
    several. O(len(code)).
    """
    name = callee.removeprefix(b".")
    is_method = name != callee
    found = [*re.finditer(_DEFINED % re.escape(name), code, re.M)]
    if not found and not is_method:
        classes = [*re.finditer(_CLASS % re.escape(name), code, re.M)]
        if len(classes) != 1:
            return () if classes else None
        body, is_method = _block(code, classes[0]), True
        found = [*re.compile(_DEFINED % INITIALIZER, re.M).finditer(code, body.start, body.stop)][:1]
    if not found:
        return None
    is_one = len(found) == 1 and bool(found[0][1]) == is_method
    return _required(code, found[0], range(len(code)), is_method=is_method) if is_one else ()


def positional_parameters(definition: bytes) -> list[Parameter]:
    """The positional parameters of the function that *definition* starts with."""
    start = definition.index(b"(") + 1
    inside = code_alone(definition[start : end_of_bracket(definition, start)])
    depth, parts, at = 0, list[bytes](), 0
    for offset, byte in enumerate(inside):
        depth += _STEPS.get(byte, 0)
        if byte == ord(",") and not depth:
            parts.append(inside[at:offset])
            at = offset + 1
    positional = takewhile(lambda part: not part.lstrip().startswith(b"*"), [*parts, inside[at:]])
    named = ((_PARAMETER.match(part), part) for part in positional)
    return [Parameter(name[1], b"=" not in part) for name, part in named if name is not None]


def end_of_bracket(text: bytes, start: int) -> int:
    """The offset of the bracket that closes the one before *start*; the end of *text* without it."""
    depth = 1
    for offset in range(start, len(text)):
        depth += _STEPS.get(text[offset], 0)
        if depth == 0:
            return offset
    return len(text)


def _required(code: bytes, definition: re.Match[bytes], around: range, *, is_method: bool) -> Required:
    """The required parameters of a *definition*; *around* is from the one before it to the one after."""
    start = definition.start()
    above = code[max(around.start, start - LONGEST_HEADER) : start]
    is_bound = is_method and not _STATIC.search(above)
    parameters = positional_parameters(code[start : min(start + LONGEST_HEADER, around.stop)])
    return tuple(parameter.name for parameter in parameters[is_bound:] if parameter.is_required)


def _block(code: bytes, header: re.Match[bytes]) -> range:
    """The block below *header*, up to the next line that is not deeper."""
    end = re.compile(rb"^[ \t]{0,%d}\S" % len(header[1]), re.M).search(code, header.end())
    return range(header.end(), len(code) if end is None else end.start())
