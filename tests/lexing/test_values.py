"""Values can be hashed, and equal ones have equal hashes."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

import pytest

import fimlsp.languages
import fimlsp.lexing
import fimlsp.quotient

_MUTABLE = re.compile(r"\b(dict|defaultdict|list|set|bytearray|Mapping|Sequence)\b")


def values() -> Iterator[type]:
    """The classes of the engine that promise a hash."""
    for room in (fimlsp.lexing, fimlsp.quotient, fimlsp.languages):
        for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            module = importlib.import_module(found.name)
            for _, each in inspect.getmembers(module, inspect.isclass):
                if not dataclasses.is_dataclass(each):
                    continue
                parameters = each.__dataclass_params__
                if each.__module__ == found.name and parameters.eq and each.__hash__ is not None:
                    yield each


@pytest.mark.parametrize("each", list(values()), ids=lambda each: each.__qualname__)
def test_a_value_can_be_hashed(each):
    hashed = [field for field in dataclasses.fields(each) if field.compare and field.hash is not False]
    assert not [field.name for field in hashed if _MUTABLE.search(str(field.type))]
