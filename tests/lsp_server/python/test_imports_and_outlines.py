"""Imports of a file, and the outline of its definitions."""

from __future__ import annotations

import tracemalloc

import pytest

from fimlsp.lsp_server.worker.neighbour_texts import (
    LONGEST_OUTLINE,
    Import,
    defined_names,
    imports_of,
    outline,
)

IMPORTS = [
    ("import a.b as c, d", [Import("d"), Import("a.b")]),
    ("from .x import (y as z,  # why\n    w)\n", [Import(".x", ("y", "w"))]),
    ("if t:\n    from .. import q; x = 1", [Import("..", ("q",))]),
    ("from a import *", [Import("a", ("*",))]),
    ("from a import (b,", [Import("a", ())]),
    ("x = 'import y'\n# import z\nimportant = 1\n", []),
]


@pytest.mark.parametrize(("source", "found"), IMPORTS)
def test_imports(source, found):
    assert list(imports_of(source.encode())) == found


SOURCE = '''\
"""Stock."""
import os

LIMIT: int = 3
_hidden = 4

@dataclass
class Item(Base):
    """One thing.

    More.
    """
    name: str

    def price(self, *, tax: dict[str, int] = {"a": 1}) -> (
        int
    ):
        """In cents."""
        def inner(): pass
        return 1

async def load(path):
    return path

def broken(
'''


OUTLINES = [
    (
        None,
        [
            "LIMIT: int = 3",
            "class Item(Base):",
            '    """One thing."""',
            "def price",
            "async def load(path): ...",
        ],
    ),
    (frozenset({"load"}), ["async def load(path): ..."]),
    (frozenset({"_hidden"}), ["_hidden = 4"]),
    (frozenset({"nothing"}), []),
]


@pytest.mark.parametrize(("names", "lines"), OUTLINES)
def test_outlines(names, lines):
    told = outline(SOURCE.encode(), names).decode()
    assert all(line in told for line in lines)
    assert not any(word in told for word in ("return", "More.", "inner", "import os"))
    assert bool(told) is bool(lines)


@pytest.mark.parametrize("find", [imports_of, outline, defined_names], ids=lambda find: find.__name__)
def test_no_old_version_of_a_text_is_kept(find):
    line = b"import os\ndef f(x):\n    return x\n"
    find(line)
    tracemalloc.start()
    try:
        for version in range(20):
            find(b"x = %d\n" % version + line + b"#" * 500_000)
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 300_000


def test_an_outline_is_bounded():
    assert 0 < len(outline(b"def function(argument): pass\n" * 10_000)) <= LONGEST_OUTLINE
    assert outline(b"def f(" + b"a" * 100_000 + b"): pass\n") == b""
