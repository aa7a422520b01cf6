"""The types in annotations in quotes: the likeliest first, and none elsewhere."""

from __future__ import annotations

import pytest

from fimlsp.languages.python.missing_names.annotation_texts import AnnotationTexts

FILE = """from typing import TYPE_CHECKING
import os

if TYPE_CHECKING:
    from shop.orders import Order, Cart as Basket
    from collections.abc import (
        Sequence,
        Mapping,
    )


class Entry:
    pass


class Shelf:
    def add(self, entry: "Entry") -> None:
        pass

    def find(self, name: "Label"):
        pass
<|>


class Later:
    pass
"""

# the text before the cursor, the likeliest text after it, and others that may come
LIKELY = [
    ('    def copy(self) -> "', "Shelf", "Label Entry Order Basket Sequence Mapping Later"),
    ("    def copy(self) -> '", "Shelf", "Label Entry Later"),
    ('    def copy(self) -> "She', "lf", ""),
    ('    def copy(self) -> "L', "abel", "ater"),
    ('    def put(self, it: "', "Label", "Entry Order Later Shelf"),
    ('    async def put(\n        self,\n        it: "', "Label", "Entry Order"),
    ('    owner: "', "Label", "Entry Order Later"),
    ('    def copy(self):\n        self.it: "', "Label", "Entry"),
    ('\ndef make() -> "', "Label", "Entry Shelf Order"),
]

# places where any text may be written
NOWHERE = [
    '    sizes = {"',
    '    sizes = {"a": "',
    '    x = "-> ',
    '    print("a: ", "',
    '    """Notes: "',
    '    # it: "',
    '    x = y[1:"',
    '    else: "',
    '    x = lambda a: "',
]


def texts(line):
    left, right = FILE.split("<|>")
    return AnnotationTexts.at((left + line).encode(), ('"' + right).encode())


@pytest.mark.parametrize(("line", "likeliest", "others"), LIKELY)
def test_the_likeliest_types_of_an_annotation_in_quotes(line, likeliest, others):
    after = texts(line).after(b"")
    assert max(after, key=after.get) == likeliest.encode()
    assert set(others.encode().split()) <= set(after) - {likeliest.encode()}
    assert sum(after.values()) < 1


@pytest.mark.parametrize("line", NOWHERE)
def test_other_strings_name_no_type(line):
    assert texts(line) is None


def test_a_name_goes_on_and_ends():
    found = texts('    def copy(self) -> "')
    assert found.after(b"Shel") == {b"f": pytest.approx(1, abs=0.2)}
    assert found.after(b"Shelf") == {}
